# 128 MiB in tiles of 32 MiB, wanted in tiles of 64 MiB of which a device has a quarter:
# 48 MiB are lacking. gather and xla-2021 gather all (96 MiB arrive), then slice: source,
# whole array and result live together, 32 + 128 + 64. synth slices to 16 MiB first,
# gathers 3 x 16 MiB; live 32 + 16 + 64.
shardsim plan --array 'bf16[8192,8192]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P(None, 'y')" --planner gather,synth,synth-rewrite,xla-2021
