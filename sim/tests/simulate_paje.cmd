shardsim simulate --array 'bf16[1024,96]' --mesh 'x=2' --from "P('x')" --to "P(None, 'x')" \
	--platform tpu-v5e:1x2 --clock fluid --paje "$TMPDIR/trace.paje"
ls "$TMPDIR"
grep -E '^(9|10) ' "$TMPDIR/trace.paje"
