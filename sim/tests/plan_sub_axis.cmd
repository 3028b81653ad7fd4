# Halves of 64 MiB by the first digit of x, wanted halves by its last digit: slice to
# 32 MiB, then fetch the other 32 MiB. Live: 64 + 32 + 64.
shardsim plan --array 'bf16[8192,8192]' --mesh x=8 --from '[{"x":(1)2}, {}]' \
	--to '[{}, {"x":(4)2}]' --planner gather,synth
