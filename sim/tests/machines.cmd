# Machines that nobody has built. By hand: a gather of 27 KiB over a ring of 4, both ways at
# once, puts 3/8 of them on a link, 0.104 us at 100 GB/s, in two hops of 1 us, and is
# launched in 5 us.
export SHARDSIM_DATA="$PWD/platforms"
ln -s "$PWD/scenarios" "$TMPDIR/scenarios"
cd "$TMPDIR" || exit 9
try() {
	echo "$ $*"
	shardsim "$@" 2>&1 | grep -v '^  *[\^(]' | cut -c 1-190
}
A="--array f32[72,96] --from P('x') --to P() --mesh"
try simulate $A x=4 --platform torus:4 --set link.bandwidth=100GBps --set link.latency=1us
try simulate $A x=36 --devices 0-35 --platform torus:6x6x6 --set wrap=111 --clock fluid,simgrid
try simulate $A x=36 --devices 0-35 --platform tpu-v5p:6x6x6
try simulate $A x=36 --devices 0-35 --platform tpu-v5p:6x6x6 --set wrap=111
try perf all-reduce --platform cluster:nodes=64,gpus=4,nics=2 -b 1M -e 1M
try perf all-reduce --platform cluster:nodes=2,gpus=4,inside=pcie,pcie.bandwidth=256Gb/s -b 1M -e 1M
try perf all-reduce --platform cluster:nodes=8,gpus=1 --set nic.bandwidth=400 -b 1M -e 1M
try platform torus:4 --set link.latency=3
try platform torus:6x6x2 --set wrap=111
cat >mine.yaml <<'END'
my-torus:
  kind: torus
  axes: 2
  largest: {value: 8x8, source: "ours"}
  wrap: {rule: always, source: "ours"}
  profile: plain
  figures:
    ici.peak: {value: 800Gb/s, source: "ours"}
    ici.bandwidth: {value: 90GB/s, source: "ours"}
    ici.latency: {value: 1us, source: "ours"}
    memory_bytes: {value: 80GB, source: "ours"}
    memory_Bps: {value: 2000GB/s, source: "ours"}
    launch_s: {value: 5us, source: "ours"}
END
try platform my-torus:3x3
try list platforms --families mine.yaml | tail -n 3
try perf all-gather --platform my-torus:3x3 --families mine.yaml -b 9M -e 9M
try sweep scenarios/smoke.yaml --families mine.yaml --planner gather \
	--platform my-torus:4x4,cluster:nodes=2,gpus=4,nics=2,torus:5 --out rows
try sweep --resume rows
try sweep plan scenarios/smoke.yaml --families mine.yaml --planner gather --platform my-torus:4x4 \
	--out plan
try sweep run plan --shard 0/1 --families mine.yaml
try sweep merge plan shard-0-of-1.jsonl --families mine.yaml --out merged
try sweep merge plan shard-0-of-1.jsonl --out merged | cut -c 1-60
sed 's/ici.bandwidth: /ici.bandwith: /' mine.yaml >bad.yaml
try list platforms --families bad.yaml | sed 's|[^ ]*/||'
sed 's/90GB/90/; s|90/s|90|' mine.yaml >bad.yaml
try list platforms --families bad.yaml | sed 's|[^ ]*/||'
try list platforms --families none.yaml | sed 's|[^ ]*/||'
