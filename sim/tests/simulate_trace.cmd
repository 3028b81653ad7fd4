shardsim simulate --array 'bf16[1024,96]' --mesh 'x=2' --from "P('x')" --to "P(None, 'x')" \
	--platform tpu-v5e:1x2 --trace "$TMPDIR/trace.json"
ls "$TMPDIR"
cat "$TMPDIR/trace.json"
