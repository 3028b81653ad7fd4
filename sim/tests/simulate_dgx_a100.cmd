# Ring over 8 GPUs of one node, tiles of 1.88 MB at 235 GB/s: 8 us and 0.95 us of latency in
# each of 7 rounds, a launch of 5 us: 7 x 8.95 + 5 = 67.65 us. Gathering dimension 0 needs
# no unpacking.
shardsim simulate --array 'u8[15040000]' --mesh x=8 --from "P('x')" --to 'P(None)' \
	--platform dgx-a100:4 --set profile=plain --set launch_s=5us \
	--clock model,fluid
# Pairwise, 7 rounds with an eighth of a tile of 15.04 MB, the same 1.88 MB; packing and
# unpacking the tile read and write it at 2 TB/s: 67.65 + 4 x 7.52 = 97.73 us.
shardsim simulate --array 'u8[8,15040000]' --mesh x=8 --from "P(None, 'x')" \
	--to "P('x', None)" --platform dgx-a100:4 --set profile=plain --set launch_s=5us \
	--clock model,fluid
# GPUs 0 and 8 are on two nodes: 12 MB at 24 GB/s, 2.5 us, a launch: 507.5 us. No plan could
# do better than over all 8 NICs of a node: 62.5 us and 2.5 us.
shardsim simulate --array 'u8[24000000]' --mesh x=2 --from "P('x')" --to 'P(None)' \
	--platform dgx-a100:4 --set profile=plain --set launch_s=5us \
	--clock model,fluid --devices 0,8
