# As the first case of simulate_tpu_v4, with links twice as fast, no hop latency and no
# launch: 30 us.
shardsim simulate --array 'u8[7200000]' --mesh x=4 --from "P('x')" --to 'P(None)' \
	--platform tpu-v4:4x4x4 --clock model,fluid --set ici.bandwidth=90GB/s \
	--set ici.latency=0us --set launch_s=0us
