# Who calls is the compiler on a TPU and on H100, and on A100 nccl-tests; a row says it. An
# all-gather of a byte from each of 8 GPUs takes by XLA 9.7 us and 7 steps of 1.3 us, 18.8 us, beside
# what its bytes take and 1 % of a us; by a process for each 7.78 us and 7 of 0.6 us times step.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
scenarios:
  - {name: a, array: "u8[8]", mesh: "x=8", from: "P('x')", to: "P(None)"}
END
on=dgx-h100:1,dgx-a100:1,tpu-v5e:2x4
shardsim sweep suite.yaml --platform $on --planner gather --out rows 2>/dev/null
shardsim report rows --rows | tr -d '\r' | python3 -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    print(r["platform"], "%.4g us" % (1e6 * float(r["time_s"])), "launch", r["launch"])'
shardsim report rows --baseline gather | sed -n 3,4p
# Rows of two callers are two sweeps, which are not mixed in a folder; going on keeps the caller.
shardsim sweep suite.yaml --platform $on --planner gather --out rows --launch process 2>&1
shardsim sweep suite.yaml --platform $on --planner gather --out other --launch process 2>/dev/null
shardsim sweep --resume other 2>&1
shardsim sweep plan suite.yaml --platform $on --planner gather --launch process --out plan.jsonl 2>/dev/null
shardsim sweep run plan.jsonl --shard 0/1 2>/dev/null
shardsim sweep merge plan.jsonl shard-* --out merged 2>/dev/null
for dir in other merged; do
	shardsim report $dir --rows | tr -d '\r' | python3 -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    print(r["platform"], "%.4g us" % (1e6 * float(r["time_s"])), "launch", r["launch"])'
done
# A launch that a machine does not have is a mistake before anything runs.
shardsim sweep suite.yaml --platform $on --planner gather --out none --launch single 2>&1
shardsim sweep suite.yaml --platform $on --planner gather --out none --launch nobody 2>&1
# launch_s by hand is what a launch takes, whoever calls: 2 us, and 7 of 1.3.
shardsim simulate --array 'u8[8]' --mesh x=8 --from "P('x')" --to 'P(None)' --planner gather \
	--platform dgx-h100:1 --set launch_s=2us | sed -n '2p;/total/p'
