# A ring of 4 chips, both ways at once at 45 GB/s, tiles of 1.8 MB: a whole tile each way in
# the first round, halves of the last in the second. 40 + 20 us, 2 hops of 1 us, a launch
# of 3.55 us: 65.55 us.
shardsim simulate --array 'u8[7200000]' --mesh x=4 --from "P('x')" --to 'P(None)' \
	--platform tpu-v4:4x4x4 --clock model,fluid
# A ring of 8 and tiles of 0.9 MB: 3 rounds of 20 us, a half one of 10 us, 4 hops:
# 70 + 4 + 3.55 = 77.55 us.
shardsim simulate --array 'u8[7200000]' --mesh x=8 --from "P('x')" --to 'P(None)' \
	--platform tpu-v4:8x8x8 --devices 0-7 --clock model,fluid
