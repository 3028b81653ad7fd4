shardsim plan --array 'f32[64,64]' --mesh x=4096,y=2048 \
	--from "P('x', None)" --to "P(None, 'y')"
