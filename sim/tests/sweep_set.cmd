# A figure of a machine that nobody has built, over a suite: in one go, from a file of
# machines, and in shards, which have equal rows; a curve with a numeric axis.
smoke=$PWD/scenarios/smoke.yaml
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >machines.yaml <<'END'
platforms: ["cluster:{n}"]
set: {gpus: "4", nic.bandwidth: [25GB/s, 50GB/s, 100GB/s]}
END
shardsim sweep "$smoke" --platform 'cluster:{n}' --set gpus=4 --set 'nic.bandwidth={25GB/s,50GB/s,100GB/s}' --planner xla,best --out one
shardsim sweep "$smoke" machines.yaml --planner xla,best --out two
shardsim sweep plan "$smoke" machines.yaml --set 'nic.bandwidth=25GB/s..100GB/s x2' --planner xla,best --out plan.jsonl
shardsim sweep run plan.jsonl --shard 0/1 --out shard
shardsim sweep merge plan.jsonl shard --out three
shardsim sweep --resume one
for rows in one two three; do
	shardsim report $rows --rows --format csv | sed 's,\([0-9]\)GBps,\1GB/s,g' >$rows.csv
done
cmp one.csv two.csv && cmp one.csv three.csv && echo equal
shardsim report one --baseline xla --details | sed -n '/^Along/,/^$/p;/nic.bandwidth  *|/,/^$/p'
shardsim report one --baseline xla --plot one.svg
grep -o '>nic.bandwidth, GB/s' one.svg
