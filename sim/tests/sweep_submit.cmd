# A command that does what Slurm's does: sbatch runs its tasks at once, but loses task 2
# the first time.
export SHARDSIM_DATA="$PWD/platforms"
suite=$PWD/scenarios/smoke.yaml
cd "$TMPDIR" || exit 9
mkdir bin rows
cat >bin/sbatch <<'END'
#!/bin/sh
for script; do :; done
array=$(sed -n 's/^#SBATCH --job-name=shardsim \(--array=.*\)/\1/p' "$script")
echo "$array" >>asked
for range in $(echo "${array#*=}" | sed 's/%.*//' | tr , ' '); do
	for task in $(seq "${range%-*}" "${range#*-}"); do
		if test "$task" = 2 && mkdir lost 2>/dev/null; then continue; fi
		SLURM_ARRAY_TASK_ID=$task sh "$script" 2>>ran
	done
done
echo "17;cluster"
END
chmod +x bin/*
export PATH="$PWD/bin:$PATH"
sweep="$suite --platform tpu-v5e:4x8,dgx-a100:4 --planner gather,synth --clock model,fluid"
submit="shardsim sweep submit --slurm rows/plan.jsonl --shards 5"
masked() {
	"$@" 2>said
	echo "exit $?"
	sed -e "s|$PWD|DIR|g" said
}
shardsim sweep plan $sweep --out rows/plan.jsonl

echo; echo "== the script alone"
masked $submit --dry-run --throttle 2 --jobs 3 -- --time 1:00:00 --account=us
sed -e "s|$PWD|DIR|g" -e 's|exec .*/shardsim |exec PROGRAM |' -e '/^export/d' \
	rows/slurm-of-5.sh

echo; echo "== task 2 gets lost"
masked $submit
cat asked

echo; echo "== once more: that one is missing, another too, and a row of a third"
rm rows/shard-4-of-5.jsonl
sed -i '$d' rows/shard-0-of-5.jsonl
masked $submit
cat asked

echo; echo "== once more: nothing to do"
masked $submit
cat asked

echo; echo "== a script submitted by hand: what is done stays as it is"
rm rows/shard-3-of-5.jsonl
cksum rows/shard-* >before
sed -i 's/--array=.*/--array=0-4/' rows/slurm-of-5.sh
: >ran
sbatch rows/slurm-of-5.sh
cksum rows/shard-[0124]* | cmp - before && ls rows/shard-3*
grep -c 'nothing was missing' ran

echo; echo "== sbatch refuses, tells no number, is not there"
rm rows/shard-2-of-5.jsonl
printf '#!/bin/sh\necho "sbatch: error: no partition" >&2; exit 1\n' >bin/sbatch
masked $submit
printf '#!/bin/sh\necho hello >&2\n' >bin/sbatch
masked $submit
for said in 'Submitted batch job 17' 17x 0; do
	printf '#!/bin/sh\necho "%s"\n' "$said" >bin/sbatch
	masked $submit
done

echo; echo "== a shard of another plan, of other shards"
sed 's/"plan": *"0/"plan":"1/; t; s/"plan": *"./"plan":"0/' rows/shard-1-of-5.jsonl >rows/shard-2-of-5.jsonl
masked $submit
cp rows/shard-1-of-5.jsonl rows/shard-2-of-5.jsonl
masked $submit
rm rows/shard-2-of-5.jsonl

echo; echo "== misuse"
masked $submit --throttle 0
masked shardsim sweep submit --slurm rows/plan.jsonl --shards x
masked shardsim sweep submit --slurm rows/plan.jsonl --shards 1000000
masked shardsim sweep submit rows/plan.jsonl
masked $submit --out nowhere/there

echo; echo "== what is there, with the one that was missing"
shardsim sweep run rows/plan.jsonl --shard 2/5 2>/dev/null
shardsim sweep merge rows/plan.jsonl rows/shard-*-of-5.jsonl --out merged
shardsim sweep $sweep --out local
for dir in merged local; do shardsim report $dir --rows >$dir.csv; done
cmp merged.csv local.csv && echo the same rows
