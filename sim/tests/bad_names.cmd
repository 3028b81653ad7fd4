# A family without a shape, a part of its name, a setting in a platform's name, and a sweep
# without the usual baseline.
exec 2>&1
shardsim platform dgx-h100
shardsim platform tpu-v5p
shardsim platform H100
shardsim perf all-reduce --platform 'dgx-h100:1{bw=5GB/s}' 2>&1 | sed 's/ It has.*//'
shardsim perf all-reduce --platform dgx-h100:1 --set bw=5GB/s 2>&1 | sed 's/ It has.*//'
shardsim perf all-reduce --platform 'x{bw=5GB/s}'
shardsim perf all-reduce --platform 'tpu-v5e:4x4{bw=5GB/s}' | sed 's/ It has.*//'
shardsim perf all-reduce --platform 'dgx-h100:2{launch_s=1us,nic.bw=5GB/s' | sed 's/ It has.*//'
shardsim perf all-reduce --platform 'dgx-h100:2{launch_s=1us,nic.lat=5us}' | sed 's/ It has.*//'
shardsim sweep scenarios/smoke.yaml --platform 'tpu-v4:{n}{bw=5GB/s}' --out "$TMPDIR/s" | sed 's/ It has.*//'
shardsim sweep scenarios/smoke.yaml --planner gather,best --platform dgx-h100:1 --out "$TMPDIR/s" >"$TMPDIR/log" 2>&1
shardsim report "$TMPDIR/s"
