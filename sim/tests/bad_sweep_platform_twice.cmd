shardsim sweep scenarios/smoke.yaml --platform dgx-a100:1,dgx-h100:1,dgx-a100:1 \
	--out "$TMPDIR/rows"
