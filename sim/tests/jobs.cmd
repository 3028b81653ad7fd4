# Jobs that arrive at a machine: a page, rows, equal bytes for equal seeds; and what is wrong in a
# suite.
mkdir "$TMPDIR/programs" && cp scenarios/programs/mlp* scenarios/programs/gns-step.hlo "$TMPDIR/programs"
cat >"$TMPDIR/mine.yaml" <<'END'
# Two kinds.
jobs:
  - {name: MLP, file: programs/mlp-step.hlo, steps: 1000}
  - {name: GNS, file: programs/gns-step.hlo, steps: 3000}
platform: 'dgx-a100:1'
requirements:
  - {name: any, accept: [1]}
  - {name: half, accept: [0.5, 0.75]}
load: [0.5, 1.5]
count: 300
seed: 7
END
shardsim automap "$TMPDIR/mine.yaml"
shardsim automap "$TMPDIR/mine.yaml" --format csv | tee "$TMPDIR/rows"
shardsim automap "$TMPDIR/mine.yaml" --format csv | cmp - "$TMPDIR/rows"
try() {
	sed "$1" "$TMPDIR/mine.yaml" >"$TMPDIR/bad.yaml"
	shardsim automap "$TMPDIR/bad.yaml" 2>&1 | sed "s|$TMPDIR|TMP|; s/known are .*/known are .../"
}
try 's/steps: 1000/steps: 0/'
try 's/, steps: 1000//'
try 's/mlp-step.hlo/none.hlo/'
try 's/mlp-step.hlo, /mlp-step.hlo, batch: 4, /'
try 's/steps: 1000/stops: 1000/'
try 's/dgx-a100/no-such/'
try 's/dgx-a100:1/torus:64x64/'
try 's/dgx-a100:1/torus:2x2/'
try 's/dgx-a100:1/dgx-a100:1{memory_bytes=1MB}/'
try 's/accept: \[1\]/accept: [0]/'
try 's/accept: \[1\]/accept: []/'
try 's/accept: \[1\]/accept: [1x]/'
try 's/{name: any, accept: \[1\]}/any/'
try 's/load: .*/load: 1/'
try '/load/d'
try 's/count: 300/count: 3000000/'
try '/  - .*steps/d'
shardsim automap "$TMPDIR/mine.yaml" --format json 2>&1 | head -n 1
shardsim automap "$TMPDIR/mine.yaml" --seed 3 2>&1 | head -n 1
sed 's/count: 300/count: 1/' "$TMPDIR/mine.yaml" >"$TMPDIR/one.yaml"
shardsim automap "$TMPDIR/one.yaml" | sed -n 3p
