# Where an option takes a list, the message says how to give several.
shardsim plan --array 'f32[64,64]' --mesh x=4,y=2 --from "P('x', None)" --to "P(None, 'y')" \
	--planner synth --planner best
