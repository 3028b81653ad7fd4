# Names that are nearly right are answered with the ones that there are.
try() {
	echo "$ $*"
	"$@" 2>&1 | grep -v '^ '
}
P="--array f32[8,8] --mesh x=4 --from P('x') --to P(None,'x')"
try shardsim simulat
try shardsim help plt
try shardsim nothing-near
try shardsim plan $P --platfrom tpu-v4:2x2x1
try shardsim plan $P --planer=gather
try shardsim plan $P --nothing-near
try shardsim perf all-redcue --platform dgx-a100:1
try shardsim perf all-reduce --platform dgx-a100:1 -b 1K --stpe 3
try shardsim sweep run plan --jbos 3
try shardsim plan $P --planner gahter
try shardsim plan $P --platform h100:32
try shardsim plan $P --platform h100:30
try shardsim plan $P --platform tpu_v4:2x2x1
try shardsim plan $P --platform tpu-v4:2x2x1 --clock simgird
try shardsim plan $P --platform dgx-a100:1 --set nvlink.bandwith=1GB/s 2>&1 | cut -c 1-80
try shardsim list planers
