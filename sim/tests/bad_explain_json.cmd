shardsim plan --explain --format json --array 'bf16[48,40]' --mesh x=4,y=2 \
	--from "P('x', None)" --to "P(None, 'y')"
