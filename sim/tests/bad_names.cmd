# A family without a shape, a part of its name, a setting in a platform's name, and a sweep
# without the usual baseline.
exec 2>&1
shardsim platform dgx-h100
shardsim platform tpu-v5p
shardsim platform H100
shardsim perf all-reduce --platform 'dgx-h100:1{bw=5GB/s}' 2>&1 | sed 's/; it has.*//'
shardsim perf all-reduce --platform dgx-h100:1 --set bw=5GB/s 2>&1 | sed 's/; it has.*//'
shardsim sweep scenarios/smoke.yaml --planner gather,best --platform dgx-h100:1 --out "$TMPDIR/s" >"$TMPDIR/log" 2>&1
shardsim report "$TMPDIR/s"
