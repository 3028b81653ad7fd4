# 10 scenarios x 2 platforms x 4 planners x 2 clocks = 160 rows; the uneven
# scenario is for xla-2021 alone, the unreduced one for gather: 2 x 3 x 2 x 2 = 24 rows are
# not applicable. Rows do not depend on the number of workers.
for jobs in 1 3; do
	shardsim sweep scenarios/smoke.yaml --platform tpu-v5e:4x8,dgx-a100:4 \
		--planner gather,synth,synth-rewrite,xla-2021 \
		--clock model,fluid --jobs $jobs --out "$TMPDIR/rows$jobs" 2>&1 |
		sed 's,in .*/rows.,in rows,'
	shardsim report --rows "$TMPDIR/rows$jobs" >"$TMPDIR/$jobs.csv"
done
cmp "$TMPDIR/1.csv" "$TMPDIR/3.csv" && wc -l <"$TMPDIR/1.csv"
