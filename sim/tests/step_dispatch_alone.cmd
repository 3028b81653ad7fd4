# Where experts are not spread nothing is sent to them, whatever the dispatch.
sed 's/dropless: true/dropless: true, dispatch: nodes/' scenarios/models/mixtral-8x7b.yaml >"$TMPDIR/nodes.yaml"
for model in scenarios/models/mixtral-8x7b.yaml "$TMPDIR/nodes.yaml"; do
	shardsim step "$model" --parallel fsdp=8 --platform dgx-h100:1 --batch 64 --seq 4096 --micro-batch 1 |
		grep -E '^  (step|idle)'
done
