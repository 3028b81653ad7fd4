shardsim plan --array 'f32[64,64]' --mesh "$(seq -s , -f a%g=1 65)" \
	--from 'P(None, None)' --to 'P(None, None)'
