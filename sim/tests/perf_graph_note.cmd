# Figures of NCCL's graphs count where its own model chooses. Trees with Simple have the channels over
# several nodes as well. GPUs behind a switch from Hopper on have those of a node, because the model
# always chooses there. Who sets any other figure and does not ask for the tuner is told.
ranked() {
	echo "$*"
	shardsim perf all-reduce -b 64M -e 64M "$@" 2>&1 | grep note
}
ranked --platform dgx-h100:2 --set graph_net_Bps=12GB/s
ranked --platform 'dgx-h100:2{graph_Bps=10GB/s,graph_tree_Bps=30GB/s}'
ranked --platform dgx-h100:2 --set graph_net_Bps=12GB/s --algorithm tuner
ranked --platform dgx-h100:2 --set graph_net_channels=8
shardsim simulate --array 'f32[1024]' --mesh x=16 --from "P('x')" --to 'P(None)' \
	--platform dgx-a100:2 --set graph_nvls_Bps=20GB/s 2>&1 | grep note
