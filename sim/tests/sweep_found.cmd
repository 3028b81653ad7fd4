# Shards beside a plan are found, also those that are not whole, without locks and without those
# of another plan; a glob may name locks.
smoke=$PWD/scenarios/smoke.yaml
export SHARDSIM_DATA="$PWD/platforms"
mkdir "$TMPDIR/a [b]" && cd "$TMPDIR" || exit 9
for planner in best gather; do
	shardsim sweep plan "$smoke" --platform tpu-v5e:4x8 --planner $planner --out "a [b]/$planner.jsonl"
	shardsim sweep run "a [b]/$planner.jsonl" --shard 0/2
	mv "a [b]/shard-0-of-2.jsonl" "a [b]/shard-0-of-2.$planner"
done 2>/dev/null
shardsim sweep status "a [b]/best.jsonl"; echo $?
mv "a [b]/shard-0-of-2.best" "a [b]/shard-0-of-2.jsonl"
mv "a [b]/shard-0-of-2.gather" "a [b]/shard-0-of-3.jsonl"
: >"a [b]/shard-0-of-2.jsonl.lock"
(cd "a [b]" && shardsim sweep run best.jsonl --shard 1/2 --out shard-1-of-2.jsonl 2>/dev/null &&
	head -n 3 shard-1-of-2.jsonl >shard-1-of-2.jsonl.part && rm shard-1-of-2.jsonl)
shardsim sweep status "a [b]/best.jsonl"; echo $?
shardsim sweep status "a [b]/best.jsonl" "a [b]"/shard-0-of-2*; echo $?
shardsim sweep merge "a [b]/best.jsonl" --out rows; echo $?
