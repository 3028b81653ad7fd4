# A sweep of training steps: degrees and figures of machines vary; the report compares.
shardsim sweep sim/tests/sweep_steps.yaml --jobs 2 --out "$TMPDIR/a" 2>/dev/null
shardsim report "$TMPDIR/a"
shardsim report "$TMPDIR/a" --baseline fsdp=4 --family gpt --format csv
shardsim report "$TMPDIR/a" --table fastest --format tex
# A case is what `step` says.
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=8 --platform dgx-a100:1 --seq 2048 --batch 16 \
	--micro-batch 1 --format json | grep -e step_s -e peak_bytes
shardsim report "$TMPDIR/a" --rows | grep '^list{parallel=fsdp=8}.*dgx-a100' | cut -d, -f 17,23
# What a model says counts: the same sweep does nothing, one with another model does all of it again.
shardsim sweep sim/tests/sweep_steps.yaml --out "$TMPDIR/a" 2>&1 | grep rows | sed "s|$TMPDIR/||"
exec 2>&1
run() {
	printf '%s\n' 'platforms: [dgx-a100:1]' 'scenarios:' "  - {name: a, $*}" >"$TMPDIR/s.yaml"
	shardsim sweep "$TMPDIR/s.yaml" --out "$TMPDIR/b" 2>&1 | sed "s|$TMPDIR/||g"
}
cp scenarios/models/gpt-7b.yaml "$TMPDIR/m.yaml"
run 'model: no.yaml, parallel: fsdp=8'
run 'model: m.yaml'
run 'parallel: fsdp=8'
run 'model: m.yaml, parallel: {fsdp: "0..8 x2"}'
run 'model: m.yaml, parallel: {fsdp: "1..8 +"}'
run 'model: m.yaml, parallel: {fsdps: 8}'
run 'model: m.yaml, parallel: {}'
run 'model: m.yaml, parallel: {fsdp: [1, 2]}, num_devices: 3'
run 'model: m.yaml, parallel: {fsdp: 9999999, tensor: 9999}'
run 'model: m.yaml, parallel: fsdp=8, num_devices: 8'
run 'model: m.yaml, parallel: fsdp=8, array: "f32[8]"'
run 'model: m.yaml, parallel: fsdp=8, batch: none'
run 'model: m.yaml, parallel: fsdp=8, recompute: some'
run 'model: m.yaml, parallel: fsdp=8}
  - {name: b, array: "f32[8]", mesh: x=2, from: "P()", to: "P()"'
shardsim sweep sim/tests/sweep_steps.yaml --planner best --out "$TMPDIR/b"
shardsim sweep sim/tests/sweep_steps.yaml --clock fluid --out "$TMPDIR/b"
# Shards come to the same rows; a model that is another one than planned is refused.
shardsim sweep plan sim/tests/sweep_steps.yaml --out "$TMPDIR/plan.jsonl" 2>&1 | sed "s|$TMPDIR/||"
for k in 0 1; do
	shardsim sweep run "$TMPDIR/plan.jsonl" --shard $k/2 2>&1 | sed "s|$TMPDIR/||"
done
shardsim sweep merge "$TMPDIR/plan.jsonl" --out "$TMPDIR/c" 2>&1 | sed "s|$TMPDIR/||"
shardsim report "$TMPDIR/a" >"$TMPDIR/a.md"
shardsim report "$TMPDIR/c" | cmp - "$TMPDIR/a.md" && echo same
printf '%s\n' 'platforms: [dgx-a100:1]' 'scenarios:' '  - {name: a, model: m.yaml, parallel: fsdp=8}' >"$TMPDIR/s.yaml"
shardsim sweep plan "$TMPDIR/s.yaml" --out "$TMPDIR/m.jsonl" 2>&1 | sed "s|$TMPDIR/||"
echo >>"$TMPDIR/m.yaml"
shardsim sweep run "$TMPDIR/m.jsonl" 2>&1 | sed "s|$TMPDIR/||g"
shardsim place --with sim/tests/sweep_steps.yaml --platform dgx-a100:1
shardsim move sim/tests/sweep_steps.yaml --platform dgx-a100:1
shardsim report "$TMPDIR/a" --baseline fsdp=3
shardsim report "$TMPDIR/a" --family none
# A page and a plot: of each step with a time a bar of its parts.
shardsim report "$TMPDIR/a" --format html | grep -A 6 '<svg' | head -20
shardsim report "$TMPDIR/a" --plot "$TMPDIR/x.svg" && grep -o 'Training steps\|gpt on dgx-a100:1\|>compute<' "$TMPDIR/x.svg"
shardsim report "$TMPDIR/a" --plot x.png
for option in '--test sign' '--clock model' '--planner best' --timing --details --families; do
	shardsim report "$TMPDIR/a" $option
done
