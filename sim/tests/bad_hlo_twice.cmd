shardsim plan --array 'f32[64,64]' --mesh x=4,y=2 \
	--from '{devices=[2,4]0,1,2,3,4,5,6,6}' --to "P(None, 'y')"
