# The same command again does nothing, --resume neither, from whatever folder; another one
# is refused, or with --update takes over the rows that are also its own.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
defaults: {array: "u8[18]", from: "P('x')", to: "P()"}
scenarios: [{name: a, mesh: "x=3"}, {name: b, mesh: "x=2"}]
END
run="shardsim sweep suite.yaml --platform dgx-a100:1"
$run --planner direct,synth --out rows
shardsim report rows --rows --timing >first.csv
$run --planner synth,direct --jobs 1 --out rows
(mkdir other && cd other && shardsim sweep --resume ../rows)
shardsim report rows --rows --timing | cmp - first.csv
$run --planner synth --out rows; echo $?
shardsim report rows --rows --timing | cmp - first.csv
$run --planner synth,gather --update --out rows
shardsim report rows --rows | cut -d, -f 1,13 | tr -d '\r'
sed 's/x=2/x=6/' suite.yaml >new.yaml && mv new.yaml suite.yaml
shardsim sweep --resume rows; echo $?
shardsim sweep --resume rows --update
