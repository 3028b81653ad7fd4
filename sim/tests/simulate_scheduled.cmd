# A transposition over 16x16 chips. Along one order of the axes 15 chips of a row send to one of
# their row, half of them by one link: 8 tiles of 16 MiB, 2.98 ms at 45 GB/s. Along both orders at
# once that is half, 1.49 ms, and as a schedule it also goes by links that neither loads.
shardsim simulate --array 'bf16[65536,32768]' --mesh x=16,y=16 --from "P('x','y')" \
	--to "P('y','x')" --platform tpu-v5e:16x16 --planner direct --clock model,fluid
shardsim simulate --array 'bf16[65536,32768]' --mesh x=16,y=16 --from "P('x','y')" \
	--to "P('y','x')" --platform tpu-v5e:16x16 --planner direct,best --clock model,fluid \
	--algorithm scheduled
# A setting of the platform says the same. All clocks agree, the one without rounds to 5 %.
shardsim simulate --array 'bf16[65536,32768]' --mesh x=4,y=4,z=4 --from "P('x','y')" \
	--to "P('y',('z','x'))" --platform 'tpu-v4:4x4x4{scheduled=1}' --planner gather,synth,best \
	--clock model,fluid,simgrid,flow
shardsim simulate --array 'bf16[65536,32768]' --mesh x=8,y=8 --from "P(('x','y'),None)" \
	--to "P(None,'x')" --platform 'dgx-h100:8{scheduled=1}' --planner synth,best \
	--clock model,fluid,simgrid,flow
# A launch of each round is dear where there are many.
for cost in 5us 20us; do
	shardsim simulate --array 'bf16[65536,32768]' --mesh x=4,y=4,z=4 --from "P('x','y')" \
		--to "P('y',('z','x'))" --platform tpu-v4:4x4x4 --algorithm scheduled \
		--set scheduled_round_s=$cost --planner direct --clock model,fluid,simgrid,flow
done
shardsim simulate --array 'f32[64,64]' --mesh x=2,y=2 --from "P('x','y')" --to "P('y','x')" \
	--platform 'tpu-v4:2x2x1{scheduled_round_s=5}' 2>&1
echo "exit $?"
# Two chips that swap their tiles have no better way, and collectives are no exchanges.
shardsim plan --array 'f32[64,64]' --mesh x=2,y=2 --from "P('x','y')" --to "P('y','x')" \
	--planner direct --platform tpu-v4:2x2x1 --algorithm scheduled --emit goal | grep send
shardsim perf all-gather --platform tpu-v4:4x4x4 --algorithm scheduled 2>&1
echo "exit $?"
# The setting is a switch.
for value in 0.5 2 yes; do
	shardsim simulate --array 'f32[64,64]' --mesh x=2,y=2 --from "P('x','y')" \
		--to "P('y','x')" --platform "tpu-v4:2x2x1{scheduled=$value}" 2>&1
	echo "exit $?"
done
