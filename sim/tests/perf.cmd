# Rings over four GPUs, ports of 100 GB/s, launch 10 us; by hand, in us:
# all-reduce of 64 B with LL: six steps of 0.6 and 96 B twice on the wire: 13.60192
# of 3 MB with Simple: 1.8 + 6 x 3.4 + 45 + 10 = 77.2; LL128 takes 7.4 + 11.4 + 48 + 10 = 76.8
# of 400 MB with Simple 6032.2; no switch, were it to reduce, is faster than the array once
# through a port
export SHARDSIM_DATA="$TMPDIR"
cat >"$TMPDIR/families.yaml" <<'END'
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
END
shardsim perf all-reduce --platform tiny:1 -b 64 -e 64
shardsim perf all-reduce --platform tiny:1 -b 3000000 -e 400000000 -i 397000000 --format csv
# forced: Simple 1.8 + 20.4 + 0.00096 + 10
shardsim perf all-reduce --platform tiny:1 -b 64 -e 64 --protocol simple --format json
# from a program of XLA 9.7 + 6 x 1.3 + 0.00192, from torch.distributed 13.60192 + 4.1
shardsim perf all-reduce --platform tiny:1 -b 64 -e 64 --launch xla --format csv
shardsim perf all-reduce --platform tiny:1 -b 64 -e 64 --launch eager --format csv
# a shift of 1 GB by one along an axis inside the nodes: 10 ms + 2 us + 10 us, both groups
shardsim perf permute --platform tiny:2 --mesh x=2,y=4 --axis y -b 1000000000 -e 1000000000
# A log: as measured, and twice as long as measured
cat >"$TMPDIR/log" <<'END'
# Collective test starting: all_reduce_perf
          64            16     float     sum      -1    13.60    0.00    0.01      0    14.10    0.00    0.01      0
   400000000     100000000     float     sum      -1   3016.1  132.62  198.93      0   3016.1  132.62  198.93      0
END
shardsim perf all-reduce --platform tiny:1 --measured "$TMPDIR/log"
