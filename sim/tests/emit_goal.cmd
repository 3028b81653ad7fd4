# Two chips swap halves of their tiles of 32 bytes: one send and one receive each, behind
# the launch; the other two of the machine have nothing to do.
shardsim plan --array 'f32[4,4]' --mesh x=2 --from "P('x')" --to "P(None, 'x')" \
	--platform tpu-v4:2x2x1 --emit goal
# Without a machine there is no launch. The two rounds of a sum follow each other.
shardsim plan --array 'f32[4]' --mesh x=2 --from "P(unreduced={'x'})" --to 'P()' \
	--planner dtensor --emit goal
# The cheapest plan is taken, and what is printed beside it stays the same.
shardsim plan --array 'f32[64,64]' --mesh x=2,y=2 --from "P('x', 'y')" --to "P('y', 'x')" \
	--planner gather,synth --emit goal -o "$TMPDIR/plan.goal"
sed -n '2p;/send/p' "$TMPDIR/plan.goal"
# 4 GiB to the other device, of which a message holds 2^31 - 1 bytes.
shardsim plan --array 'u8[8589934592]' --mesh x=2 --from "P('x')" --to 'P()' --emit goal |
	grep -E 'send|recv'
