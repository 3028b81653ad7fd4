# Published counts of collectives (arXiv 2210.06352, table 1) by tactics alone; a search within a
# memory limit; the mesh and its places searched, too, with the order of devices.
automap() {
	shardsim automap scenarios/models/gpt-24.yaml "$@"
}
for tactics in '' '--tactic megatron:model' '--tactic megatron:model --tactic zero3:batch'; do
	automap --mesh batch=8,model=4 --search none --tactic data:batch $tactics | sed -n 2,6p
done
automap --mesh batch=8,model=4 --platform dgx-a100:4 --memory-limit 2560MiB
automap --device-count 16 --platform dgx-a100:2 --devices-out "$TMPDIR/order"
paste -sd ' ' "$TMPDIR/order"
# As many devices as a machine has.
automap --device-count 131072 --platform dgx-a100:16384 | sed -n '1,2p;/evaluations/p'
# Everything that Megatron-LM does, then a rule of one's own.
automap --mesh batch=8,model=4 --platform dgx-a100:4 --search none --tactic data:batch \
	--tactic megatron:model --tactic sequence:model --tactic zero2:batch | head -n 12
cat >"$TMPDIR/mine.yaml" <<'END'
- {match: 'attention\.w[qkv]$', dim: -1, axis: model}
- {match: 'mlp', axis: model, atomic: true}
- {match: 'mlp\.w1', dim: 1, axis: model}
END
automap --mesh model=4 --search none --tactic "$TMPDIR/mine.yaml" | sed -n '3,6p;/attention.w/p;/mlp/p'
# A seeded search; random ones differ, but not twice. A program, and groups of one's own.
automap --mesh batch=8,model=4 --platform dgx-a100:4 --search mcts --budget 300 | sed -n 2,10p
shardsim automap scenarios/programs/mlp.mlir --mesh x=4 --platform dgx-a100:1 --search exhaustive \
	--group 'arg[12]'
shardsim automap scenarios/programs/mlp.mlir --mesh x=4,y=2 --platform dgx-a100:1 --format json
shardsim automap scenarios/programs/mlp-sharded.mlir --search none --platform dgx-a100:1 --format json |
	sed -n '/"exposed_by_axis"/,/}/p;/"reshards"/,/"ops"/p'
# Experts are found without being told, and a start that is known is bettered.
shardsim automap scenarios/models/mixtral-8x7b.yaml --mesh batch=8,expert=8 --batch 64 --seq 4096 \
	--platform dgx-h100:8 --start expert:expert --start data:batch --start data:expert \
	--start zero3:batch --start zero3:expert | sed -n '2,11p;$p'
# Of a number of devices no mesh of two axes, its devices in order, is better by 2 % than what is found.
step_s() {
	shardsim automap scenarios/models/gpt-24.yaml --platform dgx-a100:4 --format json "$@" |
		sed -n 's/.*"step_s": \([0-9.e-]*\).*/\1/p' | head -n 1
}
found=$(step_s --device-count 32)
for batch in 32 16 8 4 2 1; do
	step_s --mesh "batch=$batch,model=$((32 / batch))"
done | awk -v found="$found" '$1 < found * .98 { worse++ } END { print NR " meshes, better than found: " worse + 0 }'
# Axes that cut nothing, or something else than they are named for.
shardsim automap scenarios/models/gpt-24.yaml --device-count 7 --platform dgx-a100:1 2>&1 | sed -n '/step/p;/  memory/p;/nothing is cut/p'
for axis in expert stage; do
	shardsim automap scenarios/models/gpt-24.yaml --mesh batch=4,$axis=2 --search none \
		--tactic data:batch --tactic data:$axis 2>&1 >"$TMPDIR/found"
done
shardsim automap scenarios/models/gpt-24.yaml --device-count 8 --platform dgx-a100:1 --tactic expert:expert \
	2>&1 | grep -A 2 unknown
# A search that its budget ends says so; so does one of which nothing fits, with the least memory that it
# found, which is in reach of a limit of its own, and then it writes no answer.
automap --mesh batch=4,model=4 --platform dgx-a100:2 --search exhaustive --budget 100 | grep found
automap --mesh batch=4,model=4 --platform dgx-a100:2 --budget 100 | grep found
automap --mesh batch=8,model=2 --platform dgx-a100:2 --memory-limit 4GiB --devices-out "$TMPDIR/none.txt" \
	--emit jax -o "$TMPDIR/none" 2>&1 | sed -n '1,4p;/memory  /p;/^shardsim/p'
automap --mesh batch=8,model=2 --platform dgx-a100:2 --memory-limit 4GiB --emit jax 2>&1 || echo "exit $?"
ls "$TMPDIR"/none* 2>/dev/null
# Tactics alone are what somebody asked for, whether they fit or not.
automap --mesh batch=8,model=2 --platform dgx-a100:2 --memory-limit 4GiB --search none --tactic data:batch \
	--emit sdy | head -n 2
# What fits into less memory, and what a random search finds, is no faster than what is found without.
faster() {
	wanted=$(shardsim automap "$@" --format json | sed -n 's/.*"step_s": //p' | head -n 1)
	for other in '--memory-limit 6GiB' '--memory-limit 3400MiB' '--memory-limit 505MiB' '--search mcts'; do
		shardsim automap "$@" $other --format json | sed -n 's/.*"step_s": //p' | head -n 1
	done | awk -v wanted="$wanted" '$1 + 0 < wanted * (1 - 1e-6) { n++ } END { print NR " others, faster: " n + 0 }'
}
faster scenarios/programs/gns-step.hlo --mesh x=2,y=2 --platform tpu-v4:2x2x1
faster scenarios/programs/attention-step.hlo --mesh x=2,y=2 --platform tpu-v4:2x2x1
faster scenarios/models/gpt-24.yaml --mesh batch=4,model=4 --platform dgx-a100:2
faster scenarios/models/gpt-24.yaml --mesh batch=8,model=4 --platform dgx-a100:4
