# An axis of 6 is 2 x 3 and 3 x 2: digits of the one tell tiles of the other apart, so that who
# may send goes by both.
for array in 'bf16[512,24576]' 'bf16[1536,24576]' 'f32[96,96]'; do
	shardsim plan --array "$array" --mesh x=6,y=2 --from "P('y', 'x')" --to "P(None, 'y')" \
		--planner best --platform tpu-v5e:4x4 | sed -n '4p'
done
