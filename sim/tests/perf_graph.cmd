# What NCCL's own model ranks by is a figure of the machine: on two nodes of Polaris a channel of
# its trees has 24 GB/s inside a node, and they are picked from 2 MiB on; with 12 GB/s, what its
# rings have, those are, since a ring's bus of 48 GB/s by 8/14 is more than half of a tree's
# 0.92 x 48. Measured ones took as long as rings.
pick() {
	shardsim perf all-reduce --algorithm tuner --platform "$@" -b 2M -e 1G -f 512 2>&1 |
		awk '!/^ *[#^(]/ {print $1, /^-/ ? $0 : $8 " " $9}'
}
pick polaris:2
pick polaris:2 --set graph_tree_Bps=12GB/s
# Half of the NVLS channels of one node of H100 leave the switch to rings: 8 x 40 x 0.85 x 7/8 x 2
# GB/s are more than 360, 4 x 40 x 0.85 x 3/4 x 2 less.
pick dgx-h100:1
pick dgx-h100:1 --set graph_nvls_channels=4
for set in graph_channels=1.5 graph_channels=65 graph_channels=x net_latency_s=3; do
	shardsim perf all-reduce --platform dgx-h100:1 --set $set -b 1M -e 1M
	echo "status $?"
done 2>&1
