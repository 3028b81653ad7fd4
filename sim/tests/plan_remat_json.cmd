# As plan_remat, in bytes: 48 MiB = 50331648, 64 MiB = 67108864, 96 MiB = 100663296,
# 224 MiB = 234881024, 112 MiB = 117440512. Device number = 2 x + y, so the groups along x
# are the even and the odd devices.
shardsim plan --array 'bf16[8192,8192]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P(None, 'y')" --planner gather,synth,synth-rewrite,xla-2021 --format json
