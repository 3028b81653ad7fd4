# Logs of nccl-tests as the program predicts them, of two machines: one with network cards
# of half the speed, which links of 249 GB/s inside nodes would explain as well; and one
# whose sizes below 1 MiB take eight times as long, to which a fit of the bandwidth alone
# bends the larger ones. Two nodes of A100 with half their network run trees, which carry no
# more on faster NICs up to 22 GB/s: no all-reduce tells those from half the network, or from
# links of 150 GB/s inside nodes, whatever the noise; that the log names GPUs of another
# generation than the platform's is said.
log() {
	echo "# Collective test starting: all_reduce_perf"
	echo "# nThread 1 nGpus 1 graph: 0"
	for r in $(seq 0 $((8 * $2 - 1))); do
		echo "# Rank $r Group 0 Pid $((r + 100)) on node-$((r / 8)) device $((r % 8)) [0x07] H100"
	done
	shardsim perf all-reduce --platform "$1" $4 |
		awk -v slow="$3" '!/^#/ {t = $1 < 2 ^ 20 ? $4 * slow : $4
			print $1, $2, $3, "sum -1", t, "0 0 0", t, "0 0 0"}'
}
log 'dgx-h100:2{nic.bandwidth=24GB/s}' 2 1 >"$TMPDIR/nic.log"
log dgx-h100:1 1 8 '-b 128K -e 2M' >"$TMPDIR/small.log"
shardsim fit "$TMPDIR/nic.log" --platform dgx-h100:2 | sed -n '/^Of the/,/^$/p; /^## Another/,/^## Not/p'
shardsim fit "$TMPDIR/small.log" --platform dgx-h100:1 --constants nvlink.bandwidth |
	tr '\n' ' ' | grep -o 'after: the fit made these worse'
log 'dgx-a100:2{nic.bandwidth=12GB/s}' 2 1 | awk '/^#/ {print; next}
	{$6 *= 1 + (NR % 5 - 2) / 50; $10 = $6; print}' >"$TMPDIR/a100.log"
shardsim fit "$TMPDIR/a100.log" --platform dgx-a100:2 2>&1 | sed -n '/^shardsim/p; /bandwidth .*peak/p; /^Unc/,/^$/p; /^## Another/,/^## Not/p'
# Of one process for all GPUs, which the log does not say: without --launch the steps of the
# network would be two and a half times as long.
log 'dgx-h100:2{nic.bandwidth=24GB/s}' 2 1 '--launch single' >"$TMPDIR/single.log"
for launch in process single; do
	shardsim fit "$TMPDIR/single.log" --platform dgx-h100:2 --launch $launch | grep -o '^--platform.*'
done
shardsim fit platforms/measured.csv --launch single 2>&1 | head -n 1
sed 's/] H100/] NVIDIA H100 80GB HBM3/' "$TMPDIR/nic.log" >"$TMPDIR/h100.log"
shardsim validate "$TMPDIR/h100.log" --platform dgx-h100:2 2>&1 | grep -c note
shardsim validate "$TMPDIR/h100.log" --platform dgx-a100:2 2>&1 | grep -o '^shardsim.*'
shardsim validate "$TMPDIR/small.log" --platform mi300x:1 2>&1 >/dev/null | grep -o "^shardsim.*"
shardsim fit platforms/measured.csv --family gcp-a3high | sed -n '/^Unc/,/^$/p'
