# Without a platform; other texts; what they do not say.
shardsim program scenarios/programs/optimised.hlo
shardsim program scenarios/programs/mlp.mlir --platform tpu-v4:2x2x2 --as replicated \
	--report ops --rows 3
shardsim program scenarios/programs/constructs.hlo --trip endless=3 --platform dgx-a100:1 \
	--report summary
shardsim program scenarios/programs/optimised.hlo --platform cluster:1 --report memory
