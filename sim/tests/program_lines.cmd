# A step over time: when kernels and collectives run, and what is held; as text and in files.
p=scenarios/programs/fsdp.hlo
shardsim program $p --platform dgx-h100:1 --report timeline -o "$TMPDIR/trace.json" --rows 30
shardsim program $p --report memory -o "$TMPDIR/held.csv"
shardsim program $p --report memory --by loop
shardsim program $p --report memory --by op_name --rows 3
grep -c '"ph":"X"' "$TMPDIR/trace.json"
grep -e '"name":"forward"' -e '"name":"w1"' -e thread_name "$TMPDIR/trace.json"
head -n 4 "$TMPDIR/held.csv"
# The most in the file is the peak.
awk -F, 'NR > 1 && $4 > most {most = $4} END {print most}' "$TMPDIR/held.csv"
shardsim program $p --report memory --format json | grep peak_bytes
# Slices of one row are one behind another, or one within another, to a nanosecond.
sed -n 's/.*"ph":"X",.*"tid":\([0-9]*\),.*"ts":\([0-9.]*\),"dur":\([0-9.]*\),.*/\1 \2 \3/p' "$TMPDIR/trace.json" |
	sort -k1n -k2n -k3nr | awk '$1 != row {row = $1; end = 0}
	$2 < end - 0.0005 && $2 + $3 > end + 0.0015 {print "slices overlap: " $0}
	$2 + $3 > end {end = $2 + $3}'
exec 2>&1
shardsim program $p --report timeline
shardsim program $p --report ops -o x.csv
shardsim program $p --platform dgx-h100:1 --report timeline -o "$TMPDIR/no/such"  2>&1 | sed "s|$TMPDIR/||"
