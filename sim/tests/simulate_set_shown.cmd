# Figures that were changed stand beside the machine's name, in the order in which they were given.
shardsim simulate --array 'u8[7200000]' --mesh x=4 --from "P('x')" --to 'P(None)' \
	--platform tpu-v4:4x4x4 --set ici.bandwidth=90GB/s --set launch_s=0us --planner gather | head -n 2
shardsim simulate --array 'u8[7200000]' --mesh x=4 --from "P('x')" --to 'P(None)' \
	--platform tpu-v4:4x4x4 --set ici.bandwidth=90GB/s --set launch_s=0us --planner gather \
	--format json
