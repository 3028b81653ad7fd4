shardsim plan --array 'f32[9223372036854775808]' --mesh x=4,y=2 \
	--from "P('x', None)" --to "P(None, 'y')"
