shardsim plan --array 'f32[64,64]' --mesh x=4,y=2 \
	--from "P('x', None)" --to "P(None, 'y')" --platform tpu-v99:4x4x4
