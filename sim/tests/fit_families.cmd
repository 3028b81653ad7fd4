# Launches of 5, 10 and 20 us of three families that are alike but for these, beside 3.60192 us
# that an all-reduce of 64 B takes. Without its timings each has the geometric mean of the
# others: 14.14, 10 and 7.071 us, so they are met within 17.74 / 8.60 = 2.063, 1 and
# 23.60 / 10.67 = 2.211. A family alone has no others.
export SHARDSIM_DATA="$TMPDIR"
for name in tiny tony tidy; do
	cat <<END
$name:
  kind: nodes
  gpus: 4
  largest: {value: 8, source: "ours"}
  profile: nccl
  figures:
    nvlink.peak: {value: 125GB/s, source: "ours"}
    nvlink.bandwidth: {value: 100GB/s, source: "ours"}
    nvlink.latency: {value: 2us, source: "ours"}
    nic.peak: {value: 12.5GB/s, source: "ours"}
    nic.bandwidth: {value: 10GB/s, source: "ours"}
    nic.latency: {value: 5us, source: "ours"}
    memory_bytes: {value: 1GB, source: "ours"}
    memory_Bps: {value: 1000GB/s, source: "ours"}
    launch_s: {value: 10us, source: "ours"}
    cc: {value: 80, source: "ours"}
END
done >"$TMPDIR/families.yaml"
{
	echo set,system,nodes,devices,collective,bytes,time_us,busbw_GBps
	for i in $(seq 100); do
		echo tiny,S,1,4,all-reduce,64,8.60192,
		echo tony,S,1,4,all-reduce,64,13.60192,
		echo tidy,S,1,4,all-reduce,64,23.60192,
	done
} >"$TMPDIR/t.csv"
for name in tiny tony tidy; do
	echo "- {set: $name, platform: \"$name:1\"}"
done >"$TMPDIR/t.yaml"
shardsim fit "$TMPDIR/t.csv" --constants launch_s | sed -n '/^## Constants/,/^## Leave one set/p; /^## Leave one family/,$p'
shardsim fit "$TMPDIR/t.csv" --constants launch_s --family tony | sed -n "/family out/p"
