# An all-reduce of 64 B over four GPUs, ports of 100 GB/s, launch 10 us, by hand (perf): 10 +
# 6 x 0.6 + 0.00192 us; from a program of XLA 9.7 + 6 x 1.3 + 0.00192, from torch.distributed 4.1
# more than the first. Kernels are not timed: tiny does not say how fast it computes. The
# intervals' factors are those of the table: 13.6 x 0.8 and x 1.5; where the caller was timed on
# other machines alone, the wider of these and of the others': 17.5 x 0.7 and x 1.5.
export SHARDSIM_DATA="$TMPDIR"
cat >"$TMPDIR/families.yaml" <<'END2'
tiny:
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
END2
cat >"$TMPDIR/intervals.csv" <<'END2'
family,collective,from_bytes,nodes,pairs,low,high
tiny,*,0,one,4,0.8,1.5
tiny,*,0,several,4,0.5,2
*,*,0,one,4,0.7,1.4
END2
cat >"$TMPDIR/sum.hlo" <<'END2'
HloModule sum, num_partitions=4
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY main {
  p = f32[16] parameter(0)
  ROOT r = f32[16] all-reduce(p), replica_groups={{0,1,2,3}}, to_apply=add
}
END2
for launch in process xla eager; do
	shardsim program "$TMPDIR/sum.hlo" --platform tiny:1 --launch $launch 2>/dev/null |
		grep communication
done
shardsim program "$TMPDIR/sum.hlo" --platform tiny:1 --format json 2>/dev/null |
	tr -d ' \n' | grep -o '"communication_interval_s":[^]]*.'
# over two nodes a tree, 10 + 2 x 0.6 + 2 x 5 us, and the other row: half and twice
shardsim program "$TMPDIR/sum.hlo" --platform tiny:2 --devices 0,1,4,5 2>/dev/null |
	grep communication
shardsim program "$TMPDIR/sum.hlo" --launch xla 2>&1 | head -n 1
shardsim program "$TMPDIR/sum.hlo" --platform tiny:1 --launch openmp 2>&1 | head -n 1
# XLA takes out what has no elements: an all-reduce or a permute of nothing takes no time, not a
# launch.
sed 's/f32\[16\]/f32[0,16]/g' "$TMPDIR/sum.hlo" >"$TMPDIR/none.hlo"
shardsim program "$TMPDIR/none.hlo" --platform tiny:1 --launch xla 2>/dev/null | grep communication
sed 's/all-reduce(p).*/collective-permute(p), source_target_pairs={{0,1},{1,0}}/' "$TMPDIR/none.hlo" \
	>"$TMPDIR/moved.hlo"
shardsim program "$TMPDIR/moved.hlo" --platform tiny:1 --launch xla 2>/dev/null | grep communication
