# The whole array is 128 MiB = 134217728 B, the target tile 64 MiB = 67108864 B: a limit of
# 100 MiB forbids the first, one of 60 MiB both.
plan() {
	shardsim plan --array 'bf16[8192,8192]' --mesh x=4,y=2 --from "P('x', None)" \
		--to "P(None, 'y')" --planner gather,synth --memory-limit "$1"
}
plan 100MiB
plan 60MiB
