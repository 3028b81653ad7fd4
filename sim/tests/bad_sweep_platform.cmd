shardsim sweep scenarios/smoke.yaml --platform dgx-a100:1,tpu-v99:4x4x4 \
	--out "$TMPDIR/rows"
