# 8 chips of a row that is no ring (4x8 never wraps; in 16x16 they are half of one): a line.
# 7 rounds, in each a tile of 0.45 MB at 45 GB/s and a hop of 1 us over every link:
# 7 x 11 us, a launch of 5 us: 82 us.
for platform in tpu-v5e:4x8 tpu-v5e:16x16; do
	shardsim simulate --array 'u8[3600000]' --mesh x=8 --from "P('x')" \
		--to 'P(None)' --platform $platform --devices 0-7 --clock model,fluid
done
