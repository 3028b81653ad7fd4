# A log of nccl-tests. The rings of perf, which take 13.60, 76.8 and 6032.2 us, with a launch
# of 14 instead of 10 us: errors of 17.60 / 13.60 = 1.294, 80.8 / 76.8 = 1.052 and 1.001;
# of the two from 1 MiB on, the geometric mean is 1.026.
# Size 16 MB has wrong results, 0 B has no timing.
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
{
	echo '$ mpirun -np 4 ./build/all_reduce_perf -b 0 -e 400M'
	echo '# nThread 1 nGpus 1 minBytes 0 maxBytes 400000000 graph: 0'
	for i in 0 1 2 3; do
		echo "[1,0]<stdout>:#  Rank  $i Group  0 Pid 471$i on node-1 device  $i [0x07] A100"
	done
	cat <<'ROWS'
node-1:4711:4799 [0] NCCL INFO Channel 00/02 : 0 1 2 3
[1,0]<stdout>:#                                               out-of-place                     in-place
[1,0]<stdout>:#   size     count   type  redop  root    time  algbw  busbw #wrong    time  algbw  busbw #wrong
[1,0]<stdout>:#    (B) (elements)                       (us) (GB/s) (GB/s)           (us) (GB/s) (GB/s)
[1,0]<stdout>:       0         0  float    sum    -1    0.20   0.00   0.00      0    0.20   0.00   0.00      0
[1,0]<stdout>:      64        16  float    sum    -1   17.60   0.00   0.01      0   27.20   0.00   0.00      0
[1,0]<stdout>: 3000000    750000  float    sum    -1   80.80  37.13  55.69      0  153.60  19.53  29.30      0
[1,0]<stdout>:16000000   4000000  float    sum    -1  100.00 160.00 240.00     12  100.00 160.00 240.00     12
[1,0]<stdout>:400000000 100000000 float    sum    -1  6036.2  66.27  99.40      0 12064.4  33.16  49.74      0
[1,0]<stdout>:# Out of bounds values : 12 FAILED
ROWS
} >"$TMPDIR/log"
cd "$TMPDIR" || exit 9
shardsim validate log --platform tiny:1
# each in place takes twice as long as simulated
shardsim validate log --platform tiny:1 --in-place --format csv
shardsim fit log --platform tiny:1 --constants launch_s -o entry
grep launch_s entry
shardsim fit log --platform tiny:1 --format tex | grep -A 21 'not fitted'
# other ranks, no machine, a line that is cut off
shardsim validate log --platform tiny:2 2>&1 || echo "exit $?"
shardsim fit log 2>&1 || echo "exit $?"
head -c -100 log >cut
shardsim fit cut --platform tiny:1 2>&1 || echo "exit $?"
shardsim validate log --collective all-reduce 2>&1 || echo "exit $?"
# a machine of as many devices as there are ranks; times in milliseconds
shardsim validate log --platform 'tiny:{n}' --format csv | wc -l
sed '/float/s/\( -1  *\)\([0-9.]*\)/\1\2e-4/' log >ms
for how in validate 'fit --constants launch_s'; do
	shardsim $how ms --platform tiny:1 2>&1 >/dev/null
done
