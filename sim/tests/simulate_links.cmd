shardsim simulate --array 'bf16[8192,8192]' --mesh 'x=4,y=2' --from "P('x', None)" \
	--to "P(None, 'y')" --platform tpu-v5e:2x4 --clock model,fluid --planner synth,direct --links=3
