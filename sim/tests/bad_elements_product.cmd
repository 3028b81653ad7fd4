shardsim plan --array 'f32[4294967296,2147483648]' --mesh x=4,y=2 \
	--from "P('x', None)" --to "P(None, 'y')"
