# Off a terminal nothing is told but the end; with --progress plain lines, here one for
# every row of ten.
run="shardsim sweep scenarios/smoke.yaml --planner gather --jobs 1 --out"
$run "$TMPDIR/quiet" --platform dgx-a100:1 2>&1 | wc -l
$run "$TMPDIR/rows" --platform dgx-a100:1 --progress=0 2>"$TMPDIR/told"
grep -o '^[1-9][0-9]*/10 rows' "$TMPDIR/told" | sort -nu
tail -n 2 "$TMPDIR/told" | sed 's/rows, .* rows.s, .*left, /rows, ... /; s/in .*: /in rows: /'
$run "$TMPDIR/rows" --platform dgx-a100:1 --progress=0 2>&1 | sed 's/in .*: /in rows: /'
