# Ring over 8 GPUs of one node, tiles of 3.68 MB at 368 GB/s: 10 us and 1.25 us of latency
# in each of 7 rounds, a launch of 5 us: 7 x 11.25 + 5 = 83.75 us.
shardsim simulate --array 'u8[29440000]' --mesh x=8 --from "P('x')" --to 'P(None)' \
	--platform dgx-h100:8 --set profile=plain --set launch_s=5us --clock model,fluid
