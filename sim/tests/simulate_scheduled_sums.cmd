# Sums that end in another layout, on runtimes that take schedules: contributions are added up on
# their way, along all links at once. A reduce-scatter of 1 GiB on a ring of 8 chips sends what a
# chip does not keep over two links of 50 GB/s: 7/8 GiB / 100 GB/s are 9.40 ms, as long as best takes.
shardsim simulate --array 'bf16[32768,16384]' --mesh x=8 --from "P(unreduced={'x'})" --to "P('x')" \
	--platform 'torus:8' --planner best --clock model,fluid,simgrid,flow --algorithm scheduled
# A sum along x while y and z change places is a reduce-scatter and an exchange, or one exchange.
for scheduled in 0 1; do
	shardsim simulate --array 'f32[8192,8192]' --mesh x=4,y=4,z=4 --from "P('y','z',unreduced={'x'})" \
		--to "P('z',('y','x'))" --platform "tpu-v4:4x4x4{scheduled=$scheduled}" --planner best \
		--clock model,fluid,simgrid,flow
	shardsim simulate --array 'f32[8192,8192]' --mesh x=8,y=8 --from "P('y',None,unreduced={'x'})" \
		--to "P(None,('x','y'))" --platform "dgx-h100:8{scheduled=$scheduled}" --planner best \
		--clock model,fluid,simgrid,flow
done
# What replicates the source is sliced before, what replicates the target gathered behind.
shardsim plan --array 'f32[8192,8192]' --mesh x=4,y=4,z=4 --from "P('y',None,unreduced={'x'})" \
	--to "P('x','z')" --platform 'tpu-v4:4x4x4{scheduled=1}' --planner direct
# An all-reduce over nodes is two schedules: to sums, and from them to all.
for scheduled in 0 1; do
	shardsim simulate --array 'f32[8192,8192]' --mesh x=64 --from "P(unreduced={'x'})" --to "P()" \
		--platform "dgx-h100:8{scheduled=$scheduled}" --planner best --clock model,flow | grep -E 'ex|all|total'
done
# Elsewhere, and where contributions cannot be told apart, there is no such exchange.
shardsim plan --array 'f32[64,64]' --mesh x=4 --from "P(unreduced={'x'})" --to "P('x')" --planner direct
for ends in "P(unreduced={'x','y'})_P(unreduced={'x'})" "P('y',unreduced={'x'})_P()"; do
	shardsim plan --array 'f32[6,5]' --mesh x=4,y=2 --from "${ends%_*}" --to "${ends#*_}" \
		--planner direct --platform 'torus:8{scheduled=1}' 2>&1
done
# It is said by MPI, with relays, and by no kind that cannot add up boxes.
shardsim plan --array 'f32[8192,512]' --mesh x=8 --from "P(unreduced={'x'})" --to "P('x')" \
	--platform 'tpu-v5e:2x4{scheduled=1}' --planner direct --emit mpi |
	sed -n '/^#define ELEMENT/p; s/.*op = \([A-Z]*\), \(.adds = 1\), .nboxes = \([0-9]*\).*/\1 \2 \3/p'
shardsim plan --array 'f32[8192,512]' --mesh x=8 --from "P(unreduced={'x'})" --to "P('x')" \
	--platform 'tpu-v5e:2x4{scheduled=1}' --planner direct --emit jax-p2p 2>&1
echo "exit $?"
