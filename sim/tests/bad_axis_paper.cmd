shardsim plan --array 'f32[64,64]' --mesh x=4,y=2 \
	--from '[64{q}16, 64{}64]' --to "P(None, 'y')"
