# Runtimes with and without schedules, in one sweep: the machine says which, and steps that are
# schedules are marked, sums as well. Baselines are what they are anyhow.
shardsim sweep scenarios/smoke.yaml --platform 'tpu-v5e:2x4' --set 'scheduled={0,1}' \
	--planner xla-2021,best --out "$TMPDIR/s" 2>/dev/null
shardsim report --rows "$TMPDIR/s" | python3 -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    r["planner"] == "best" and print(r["scenario"], r["platform"], r["steps"], sep=" | ")'
shardsim report "$TMPDIR/s" --baseline xla-2021 | grep -F '{'
# Advice is for compilers, whose runtimes take no schedules; the best plan beside it is portable.
shardsim advise --array 'bf16[8192,8192]' --mesh x=4,y=2 --from "P('x')" --to "P(None,'x')" \
	--platform 'tpu-v5e:2x4{scheduled=1}' | sed -n '1,8p'
# A collective by itself is no exchange.
shardsim perf all-gather --platform tpu-v4:2x2x2 --algorithm scheduled 2>&1
echo "exit $?"
