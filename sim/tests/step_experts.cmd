# Experts on four nodes, a token sent once to each: its all-to-alls are waited for, unless they run beside the
# kernels of another micro batch, which the first forward pass of sixteen has not. 20 of 148 multiprocessors send.
# There 1.725 s of kernels, 45 ms of which other collectives have, hide 15/16 x 1.680 / (1 - 0.135) = 1.821 s of
# 3.885 s. In one node kernels hide 15/16 of all. And what does not go together.
sed 's/dropless: true/dispatch: nodes/' scenarios/models/qwen3-30b.yaml >"$TMPDIR/in_turn.yaml"
sed 's/dropless: true/dispatch: nodes, overlap: true/' scenarios/models/qwen3-30b.yaml >"$TMPDIR/beside.yaml"
for job in "4 32 in_turn" "4 32 beside" "4 32 beside --overlap none" "1 8 in_turn" "1 8 beside"; do
	set -- $job
	nodes=$1 devices=$2 model=$3
	shift 3
	shardsim step "$TMPDIR/$model.yaml" --parallel "data=$devices,expert=$devices" --platform dgx-b200:$nodes \
		--batch $((16 * devices)) --micro-batch 1 --seq 4096 --set contention=0 "$@" |
		grep -E ' (step|compute|communication|of it exposed|expert|contention|idle) '
	echo
done
exec 2>&1
shardsim step "$TMPDIR/beside.yaml" --parallel data=8,expert=8,pipeline=2 --platform dgx-b200:2 --batch 64 \
	--micro-batch 1
sed 's/dropless: true/overlap: true/;s/train: {/&recompute: full, /' scenarios/models/qwen3-30b.yaml >"$TMPDIR/full.yaml"
shardsim step "$TMPDIR/full.yaml" --parallel data=8,expert=8 --platform dgx-b200:1 --batch 64 --micro-batch 1
sed 's/dropless: true/overlap: perhaps/' scenarios/models/qwen3-30b.yaml >"$TMPDIR/perhaps.yaml"
shardsim step "$TMPDIR/perhaps.yaml" --parallel data=8,expert=8 --platform dgx-b200:1 2>&1 | sed "s|$TMPDIR/||"
