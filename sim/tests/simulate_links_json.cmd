shardsim simulate --array 'bf16[64,96]' --mesh 'x=2' --from "P('x')" --to "P(None, 'x')" \
	--platform tpu-v5e:1x2 --clock fluid --links --format json
