shardsim simulate --array 'bf16[1024,1024]' --mesh x=4,y=2 --from "P('x', None)" --to "P(None, 'y')" \
	--platform tpu-v4:2x2x2 --planner synth,direct --clock fluid,flow --trace "$TMPDIR/trace.json" >"$TMPDIR/plans"
grep -o '"process_name".*' "$TMPDIR/trace.json"
