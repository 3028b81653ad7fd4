shardsim simulate --array 'f32[8,8]' --mesh x=4 --from "P('x')" --to "P(None, 'x')" \
	--platform tpu-v5e:2x2 --trace /nowhere/trace.json
