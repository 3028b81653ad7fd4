# Any tool that starts commands runs shards; merged they are the sweep of one machine.
export SHARDSIM_DATA="$PWD/platforms"
suite=$PWD/scenarios/smoke.yaml
cd "$TMPDIR" || exit 9
sweep="$suite --platform tpu-v5e:4x8,dgx-a100:4 --planner gather,synth --clock model,fluid"
shardsim sweep plan $sweep --out plan.jsonl
seq 0 4 | xargs -P 2 -I{} shardsim sweep run plan.jsonl --shard {}/5 2>runs
cut -d: -f 1 runs | sort
shardsim sweep status plan.jsonl shard-[024]* >status; echo $?
cut -c 1-34 status
shardsim sweep merge plan.jsonl shard-* --out rows
shardsim sweep $sweep --out local
for dir in rows local; do shardsim report $dir --rows >$dir.csv; done
cmp rows.csv local.csv
shardsim sweep status rows
