# A suite of shardings: strategies that are known beside what is found, in both formats; and what is
# wrong in one.
mkdir "$TMPDIR/programs" && cp scenarios/programs/*-step.hlo "$TMPDIR/programs"
cat >"$TMPDIR/mine.yaml" <<'END'
# Two cases.
shardings:
  - name: MLP
    file: programs/mlp-step.hlo
    platform: 'dgx-a100:1'
    mesh: model=8
    strategies: ['data:model', 'megatron:model']
  - {name: attention, file: programs/attention-step.hlo, platform: 'dgx-a100:1', devices: 8}
END
shardsim automap "$TMPDIR/mine.yaml"
shardsim automap "$TMPDIR/mine.yaml" --format csv
try() {
	sed "$1" "$TMPDIR/mine.yaml" >"$TMPDIR/bad.yaml"
	shardsim automap "$TMPDIR/bad.yaml" 2>&1 | sed "s|$TMPDIR|TMP|"
}
try 's/mesh: model=8/mesh: model=16/'
try 's/mesh: model=8/mash: model=8/'
try 's/data:model/date:model/'
try 's/, devices: 8//'
try 's/mlp-step/none/'
shardsim automap "$TMPDIR/mine.yaml" --mesh x=8 2>&1 | head -n 1
