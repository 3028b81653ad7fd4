shardsim sweep scenarios/smoke.yaml --platform dgx-a100:1 --planner synth,sinth \
	--out "$TMPDIR/rows"
