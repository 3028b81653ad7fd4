shardsim plan --array 'f32[64,64]' --mesh x=4,y=2 \
	--from '[{"x":(3)2}, {}]' --to "P(None, 'y')"
