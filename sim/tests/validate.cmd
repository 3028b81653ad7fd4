# The same ring as in perf: 13.60 us simulated, 17.00 measured, an error of 1.25.
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
cat >"$TMPDIR/t.csv" <<'END'
set,system,nodes,devices,collective,bytes,time_us,busbw_GBps,in_place,quality,source
one,S,1,4,all-reduce,64,17.0024,,False,ok,a page
two,S,1,4,all-reduce,64,17.0024,,False,ok,a page
END
cat >"$TMPDIR/t.yaml" <<'END'
- {set: one, platform: "tiny:{nodes}", note: "all of it"}
- {set: two, unmapped: "another library"}
END
for format in md csv json tex; do
	shardsim validate "$TMPDIR/t.csv" --format $format
done
# as if XLA had called: 9.7 + 6 x 1.3 + 0.00192; the library's own model ranks the same ring first
shardsim validate "$TMPDIR/t.csv" --launch xla --format csv
shardsim validate "$TMPDIR/t.csv" --algorithm tuner --format csv
shardsim validate "$TMPDIR/t.csv" --launch graph 2>&1 | head -n 1
