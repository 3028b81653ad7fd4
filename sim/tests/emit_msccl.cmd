# Three GPUs gather tiles of 8 bytes: one step for each connection, one copy of their own.
shardsim plan --array 'f32[6]' --mesh x=3 --from "P('x')" --to 'P()' --emit msccl
# Two add up 4 elements each: halves are received and added, and then sent on. What is sent
# waits for the thread block that added, which says that it is waited for.
shardsim plan --array 'f32[4]' --mesh x=2 --from "P(unreduced={'x'})" --to 'P()' \
	--planner dtensor --emit msccl | sed -n '/gpu id="0"/,/<\/gpu>/p'
# Columns are a run for each row, and thread blocks have 64 steps.
shardsim plan --array 'f32[256,256]' --mesh x=2 --from "P('x')" --to "P(None, 'x')" \
	--emit msccl
shardsim plan --array 'f32[5]' --mesh x=2 --from "P('x')" --to 'P()' --planner direct \
	--emit msccl
