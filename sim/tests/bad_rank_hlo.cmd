shardsim plan --array 'f32[64,64]' --mesh x=4,y=2 \
	--from '{devices=[2,4,1]<=[8]}' --to "P(None, 'y')"
