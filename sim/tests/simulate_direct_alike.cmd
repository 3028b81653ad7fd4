# Senders whose messages turn with the mesh: all pairs of tiles of 16x16, in a plane for each z. By hand
# the busiest link has 2.25 of 32 MiB at 45 GB/s, since halves of a ring of 16 go one way, then 16 hops of
# 1 us, packing and unpacking of 31.88 MiB at 1.2 TB/s, and a launch: 1.81 ms.
shardsim simulate --platform tpu-v4:16x16x16 --mesh x=16,y=16,z=16 --array 'bf16[65536,65536]' \
	--from "P(('x','y'),None)" --to "P(None,('x','y'))" --planner direct --clock model,fluid
for to in "P(None,('x','y'))" "P('z','y')" "P(None,'z')"; do
	shardsim simulate --platform tpu-v4:4x4x4 --mesh x=4,y=4,z=4 --array 'bf16[4096,4096]' \
		--from "P(('x','y'),None)" --to "$to" --planner direct --clock fluid,simgrid | grep -e total -e fluid
done
