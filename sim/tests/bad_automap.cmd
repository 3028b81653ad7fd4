# Misuse of automap: each with what is wrong and what was expected.
try() {
	shardsim automap "$@" 2>&1 | sed "s|$TMPDIR|TMP|"
}
gpt=scenarios/models/gpt-24.yaml
try
try $gpt --platform dgx-a100:4
try $gpt --mesh batch=8 --device-count 8 --platform dgx-a100:1
try $gpt --device-count 12 --platform dgx-a100:2
try $gpt --mesh batch=8 --search structure
try $gpt --mesh batch=8 --platform dgx-a100:1 --tactic dta:batch
try $gpt --mesh batch=8 --platform dgx-a100:1 --tactic data
try $gpt --mesh batch=8 --platform dgx-a100:1 --tactic data:model
try $gpt --mesh batch=16 --platform dgx-a100:1
try $gpt --mesh batch=8 --platform dgx-a100:1 --budget 0
try $gpt --mesh batch=8 --platform dgx-a100:1 --group '('
try $gpt --mesh batch=8 --platform dgx-a100:1 --group '(a*)(a*)(a*)\1\2\3b'
try $gpt --mesh batch=8 --platform dgx-a100:1 --search best
try $gpt --mesh batch=8 --platform dgx-a100:1 --emit tf
try $gpt --mesh batch=8 --platform dgx-a100:1 --devices 0-3
try $gpt --mesh a=2,b=2,c=2,d=2,e=2,f=2,g=2 --search none
try scenarios/models/llama-3-8b.yaml --mesh batch=8 --platform dgx-a100:1
try scenarios/programs/fsdp.hlo --mesh batch=8 --search none
try scenarios/programs/mlp.mlir --emit hlo
try no-such.yaml --mesh batch=8 --search none
printf -- '- {match: a, dim: x, axis: batch}\n' >"$TMPDIR/a.yaml"
printf -- '- {match: "(", dim: 0, axis: batch}\n' >"$TMPDIR/b.yaml"
printf -- '- {match: a, dim: 0, axis: model}\n' >"$TMPDIR/c.yaml"
printf -- '{match: a}\n' >"$TMPDIR/d.yaml"
for i in a b c d; do
	try $gpt --mesh batch=8 --search none --tactic "$TMPDIR/$i.yaml"
done
# Options that nothing would look at, and lists of options.
try $gpt --mesh batch=8 --platform dgx-a100:1 --seed 2
try $gpt --mesh batch=8 --search none --budget 7
try $gpt --mesh batch=8 --search none --set launch_s=1us
try $gpt --mesh batch=8 --emit hlo
try $gpt --mesh batch=8 --platform dgx-a100:1 --memory-limit 0
try $gpt --mesh batch=8 --platform dgx-a100:1 --group nobody
try $gpt --mesh batch=8 --search none --group x=1 --group x=2
try $gpt --mesh batch=8 --search none --tactic data:batch --tactic data:batch
try scenarios/programs/mlp.mlir --mesh x=4 --search none --batch 3
# Tactics that cut nothing say so, beside others that do; not on an axis of one device.
printf -- '[{match: no_such, dim: 0, axis: batch}, {match: norm, dim: -9, axis: batch}]\n' >"$TMPDIR/e.yaml"
try $gpt --mesh batch=8,model=1 --search none --tactic data:batch --tactic expert:batch \
	--tactic "$TMPDIR/e.yaml" --tactic megatron:model | grep -i -e tactic -e tokens
printf '[]\n' >"$TMPDIR/f.yaml"
try $gpt --mesh batch=8 --search none --tactic "$TMPDIR/f.yaml" | grep TMP
# The place of what is wrong with a model's step is not one in a text that nobody sees.
try $gpt --mesh batch=8 --search none --batch 2147483647 --seq 2147483647
# Tactics to start from.
try $gpt --mesh batch=8 --search none --start data:batch
try $gpt --mesh batch=8 --platform dgx-a100:1 --start data:model
try $gpt --mesh batch=8 --platform dgx-a100:1 --start date:batch
try $gpt --mesh batch=8 --platform dgx-a100:1 --planner worst
try $gpt --mesh batch=8 --search none --planner best
# A program is one batch, and layers are computed again where it has some.
try scenarios/programs/mlp.mlir --mesh x=4 --search none --micro-batches 4
try scenarios/programs/mlp.mlir --mesh x=4 --search none --recompute full
try scenarios/programs/mlp.mlir --mesh x=4 --search none --micro-batches 1 --recompute none | grep -c 'step\|memory'
try scenarios/programs/gns-step.hlo --mesh x=4 --search none --recompute full | head -n 1
try scenarios/programs/mlp-sharded.mlir --mesh x=4 --search none --weights nobody
try scenarios/programs/mlp-sharded.mlir --mesh x=4 --search none --weights '('
try scenarios/programs/mlp-sharded.mlir --mesh x=4 --search none --weights '^t$' --tactic data:x | tail -n 4
try $gpt --mesh batch=8 --platform dgx-a100:1 --emit jax --format json
try $gpt --mesh batch=8 --platform dgx-a100:1 --emit torch
try $gpt --mesh batch=8 --platform dgx-a100:1 --overlap stream
try $gpt --mesh batch=8 --platform dgx-a100:1 --overlap some
# What is wrong with the file comes before what is missing beside it.
for file in no-such.yaml no-such.hlo . /dev/null; do
	try $file --mesh batch=8
done
try scenarios/smoke.yaml --mesh batch=8 --platform dgx-a100:1 | cut -c 1-80
try $gpt --mesh batch=8 --platform dgx-a100:1 --devices 0
