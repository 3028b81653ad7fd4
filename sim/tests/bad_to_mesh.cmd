shardsim plan --array 'f32[64,64]' --mesh x=4 --from "P('x', None)" \
	--to "P('a', None)" --to-mesh a=5 --devices 3-6
