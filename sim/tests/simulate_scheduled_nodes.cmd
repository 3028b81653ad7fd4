# A broadcast of 2 GiB to all of 2 to 16 nodes of 8: every node gets it by 8 ports of 48 GB/s that
# are left of 50, 5.59 ms. Over two trees for each rail that takes little more on more nodes; the
# sender's one link inside its node asks for 2 GiB at 368 GB/s, 5.84 ms, and chunks for the rest.
for nodes in 2 4 8 16; do
	last=$((8 * nodes - 1))
	shardsim simulate --array 'bf16[32768,32768]' --mesh x=1 --from 'P()' --devices 0 \
		--to-mesh y=$((8 * nodes)) --to 'P()' --to-devices 0-$last --platform dgx-h100:$nodes \
		--planner direct,best --algorithm scheduled --clock model,flow |
		grep -E '^[0-9]|^[a-z]|total' | sed 's/;.*plan under/;/; s/ *80 %.*//'
done
# What every device of a node has is gathered by all, as fast.
shardsim simulate --array 'bf16[32768,32768]' --mesh x=8,y=8 --from "P('x')" --to 'P()' \
	--platform dgx-h100:8 --planner direct --algorithm scheduled --clock model,fluid,simgrid,flow
