# Shardings in the words of other systems: JAX, Shardy, PyTorch; and the step as a program, which
# a compiler's dump would be.
for kind in jax sdy dtensor; do
	shardsim automap scenarios/models/gpt-24.yaml --mesh batch=4,model=2 --search none \
		--tactic data:batch --tactic megatron:model --tactic zero3:batch --emit $kind |
		sed 's/\(.\{120\}\).*/\1/' | head -n 24
done
shardsim automap scenarios/models/gpt-24.yaml --emit hlo -o "$TMPDIR/step.hlo"
shardsim program "$TMPDIR/step.hlo" --platform dgx-a100:1 | head -n 4
shardsim automap "$TMPDIR/step.hlo" --mesh batch=8,model=4 --search none --tactic data:batch \
	--tactic megatron:model | sed -n 2,6p
