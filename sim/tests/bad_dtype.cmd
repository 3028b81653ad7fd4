shardsim plan --array 'f33[64,64]' --mesh x=4,y=2 \
	--from "P('x', None)" --to "P(None, 'y')"
