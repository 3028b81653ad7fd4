# Commands that do what Slurm's do: sbatch runs its tasks at once, but loses task 2 the
# first time; squeue tells what is in the file `queue`.
export SHARDSIM_DATA="$PWD/platforms"
suite=$PWD/scenarios/smoke.yaml
cd "$TMPDIR" || exit 9
mkdir bin rows
cat >bin/sbatch <<'END'
#!/bin/sh
for script; do :; done
grep '^#SBATCH --array=' "$script" >>asked
for range in $(sed -n 's/^#SBATCH --array=\([^%]*\).*/\1/p' "$script" | tr , ' '); do
	for task in $(seq "${range%-*}" "${range#*-}"); do
		if test "$task" = 2 && mkdir lost 2>/dev/null; then continue; fi
		SLURM_ARRAY_TASK_ID=$task sh "$script" 2>/dev/null
	done
done
echo "17;cluster"
END
printf '#!/bin/sh\ncat queue 2>/dev/null || :\n' >bin/squeue
chmod +x bin/*
export PATH="$PWD/bin:$PATH"
sweep="$suite --platform tpu-v5e:4x8,dgx-a100:4 --planner gather,synth --clock model,fluid"
submit="shardsim sweep submit --slurm rows/plan.jsonl --shards 5 --poll 50ms"
masked() {
	"$@" 2>said
	echo "exit $?"
	sed -e "s|$PWD|DIR|g" -e 's/shardsim-[0-9a-f]\{16\}/NAME/' said
}
shardsim sweep plan $sweep --out rows/plan.jsonl

echo; echo "== the script alone"
masked $submit --dry-run --throttle 2 --time 1:00:00 --sbatch=--account=us --jobs 3
sed -e "s|$PWD|DIR|g" -e 's/shardsim-[0-9a-f]\{16\}/NAME/' \
	-e 's|^exec .*/shardsim |exec PROGRAM |' -e '/^export/d' rows/slurm-of-5.sh

echo; echo "== squeue fails once, then comes a signal; jobs go on"
cat >bin/squeue <<'END'
#!/bin/sh
echo x >>calls
case $(wc -l <calls) in
1) ;;
2) echo "squeue: error: no controller"; exit 1 ;;
*) printf '0 RUNNING None\n4 PENDING Priority\n9 RUNNING None\n'; kill -TERM $PPID ;;
esac
END
mv bin/sbatch bin/kept
printf '#!/bin/sh\necho 18\n' >bin/sbatch
chmod +x bin/sbatch
masked $submit --progress
mv bin/kept bin/sbatch
printf '#!/bin/sh\ncat queue 2>/dev/null || :\n' >bin/squeue

echo; echo "== task 3 is in the queue already and never writes; task 2 gets lost"
echo '3 RUNNING None' >queue
masked $submit --no-wait
rm queue
cat asked

echo; echo "== once more: both are missing"
masked $submit
cat asked

echo; echo "== once more: nothing to do"
masked $submit
wc -l <asked

echo; echo "== a task that never ends well, with one retry"
rm rows/shard-2-of-5.jsonl
sed -i 's/^\(.*\)if test.*$/\1if test "$task" = 2; then continue; fi/' bin/sbatch
masked $submit --retries 1
tail -n +3 asked
masked $submit --dry-run

echo; echo "== sbatch refuses, squeue fails"
printf '#!/bin/sh\necho "sbatch: error: no partition" >&2; exit 1\n' >bin/sbatch
masked $submit
printf '#!/bin/sh\necho "squeue: error: no controller"; exit 1\n' >bin/squeue
masked $submit

echo; echo "== a shard of another plan"
sed 's/"plan": *"./"plan":"f/' rows/shard-1-of-5.jsonl >rows/shard-2-of-5.jsonl
masked $submit
rm rows/shard-2-of-5.jsonl

echo; echo "== what is there, with the one that was missing"
shardsim sweep run rows/plan.jsonl --shard 2/5 2>/dev/null
shardsim sweep merge rows/plan.jsonl rows/shard-*-of-5.jsonl --out merged
shardsim sweep $sweep --out local
for dir in merged local; do shardsim report $dir --rows >$dir.csv; done
cmp merged.csv local.csv && echo the same rows
