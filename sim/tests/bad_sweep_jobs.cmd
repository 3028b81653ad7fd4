shardsim sweep scenarios/smoke.yaml --platform dgx-a100:1 --jobs 0 \
	--out "$TMPDIR/rows"
