# Kinds that are not there, options that do not go together, and plans that are none.
P="--array f32[8,8] --mesh x=4 --from P('x') --to P(None,'x')"
try() {
	shardsim plan $P "$@" 2>&1 | grep -v '^Try'
	shardsim plan $P "$@" >"$TMPDIR/out" 2>/dev/null
	echo "status $?, $(wc -c <"$TMPDIR/out") bytes"
}
try --emit gaol
try --emit nothing-near
try -o "$TMPDIR/file"
try --emit goal --format json
try --emit goal -o "$TMPDIR/nowhere/file" | sed "s|$TMPDIR|.|"
try --emit goal --planner dtensor,synth --memory-limit 8
try --emit goal -o "$TMPDIR/file" --memory-limit 8 | head -n 2
ls "$TMPDIR"
