# Shardings in the words of other systems: JAX, Shardy, PyTorch; and the step as a program, which
# a compiler's dump would be.
for kind in jax sdy dtensor; do
	shardsim automap scenarios/models/gpt-24.yaml --mesh batch=4,model=2 --search none \
		--tactic data:batch --tactic megatron:model --tactic zero3:batch --emit $kind |
		sed 's/\(.\{120\}\).*/\1/' | head -n 24
done
# What no argument can say.
shardsim automap scenarios/models/gpt-24.yaml --mesh model=4 --search none --tactic megatron:model \
	--tactic sequence:model --emit jax | tail -n 2
shardsim automap scenarios/models/gpt-24.yaml --emit hlo -o "$TMPDIR/step.hlo"
shardsim program "$TMPDIR/step.hlo" --platform dgx-a100:1 | head -n 4
shardsim automap "$TMPDIR/step.hlo" --mesh batch=8,model=4 --search none --tactic data:batch \
	--tactic megatron:model | sed -n 2,6p
# Shardings and a mesh that texts give, with a loop; on another mesh they are left out.
shardsim automap scenarios/programs/fsdp-loop.mlir --platform dgx-a100:1 | sed -n '2p;6,20p'
shardsim automap scenarios/programs/mlp-sharded.mlir --search none --emit jax -o "$TMPDIR/jax.py"
tail -n 6 "$TMPDIR/jax.py"
shardsim automap scenarios/programs/fsdp-loop.mlir --mesh x=4 --search none --tactic data:x 2>&1
