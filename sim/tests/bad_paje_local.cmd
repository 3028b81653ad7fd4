shardsim simulate --array 'f32[8,8]' --mesh x=4 --from 'P(None)' --to "P('x')" \
	--platform tpu-v5e:2x2 --clock fluid --paje trace.paje
