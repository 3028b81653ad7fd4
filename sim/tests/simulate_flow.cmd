# A line of four chips at 45 GB/s and 1 us, 1 us of launch: the first step's permute by one
# place takes as long by all clocks; the gather, in which nothing waits for others, too.
# One message of 1 MB at 50 GB/s: 20 us, 1 us of latency.
shardsim perf permute --platform tpu-v4:4x4x4 --set ici.bandwidth=50GB/s --set launch_s=0us \
	--devices 0,1 -b 1000000 -e 1000000 --clock flow
# Two steps, of which the second begins where the first is done.
shardsim simulate --array 'f32[960,960]' --mesh x=4,y=4 --from "P('x', 'y')" \
	--to "P('y', None)" --platform tpu-v5e:4x4 --clock model,fluid,flow
# 256 devices in groups of 16 are too many, in whatever order the clocks are asked.
for clock in flow,model fluid,flow; do
	shardsim simulate --array 'f32[512,512]' --mesh x=16,y=16 --from "P('x', 'y')" \
		--to "P('y', 'x')" --platform tpu-v5e:16x16 --planner direct --clock $clock \
		--format json | grep -E '"(status|message|model|fluid|flow)": ' -o -e '"time_s": {[^}]*}' \
		-e '"status": [^,]*' -e '"message": "[^"]*"'
done
