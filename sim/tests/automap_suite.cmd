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
try 's/dgx-a100/no-such/' | sed 's/known are .*/known are .../'
try 's/mesh: model=8/mesh: "a=2,b=2,c=2,d=1,e=1,f=1,g=1"/'
try 's/, devices: 8/, devices: 8, mesh: x=8/'
try 's/, devices: 8/, devices: 8, devices: 4/'
try 's/, devices: 8/, devices: 8, batch: 8/'
try "s/'data:model'/'$(yes data:model | head -n 17 | paste -sd ' ')'/"
{ yes '# long' | head -n 99 | paste -sd ' '; sed 's/model=8/x=0/' "$TMPDIR/mine.yaml"; } >"$TMPDIR/long.yaml"
shardsim automap "$TMPDIR/long.yaml" 2>&1 | sed "s|$TMPDIR|TMP|"
shardsim automap "$TMPDIR/mine.yaml" --memory-limit 1GiB 2>&1 | head -n 1
shardsim automap "$TMPDIR/mine.yaml" --format json 2>&1 | head -n 1
shardsim automap "$TMPDIR/mine.yaml" --mesh x=8 2>&1 | head -n 1
# Savings and speed-ups, and a paragraph.
{ sed '$d' "$TMPDIR/mine.yaml"; echo '  - {name: MLP alone, file: programs/mlp-step.hlo, platform: "dgx-a100:1", mesh: model=1}
compare: MLP alone
note: Ours.'; } >"$TMPDIR/compared.yaml"
shardsim automap "$TMPDIR/compared.yaml"
try2() {
	sed "$1" "$TMPDIR/compared.yaml" >"$TMPDIR/bad.yaml"
	shardsim automap "$TMPDIR/bad.yaml" 2>&1 | sed "s|$TMPDIR|TMP|"
}
try2 's/compare: MLP/compare: MPL/'
try2 's/compare: .*/compare: [MLP]/'
try2 's/note: Ours/notes: Ours/'
# The share of VGG's arguments that groups of 1 to 32 devices save (arXiv 2112.15317): 67.2 % at most.
shardsim automap scenarios/splitbrain.yaml | sed -n '/megatron/s/ *|[^|]*|$//p' | awk -F'|' '{print $2, $(NF - 1), $NF}'
# Their speed-up where devices are slow and collectives run beside kernels: 28 of 32.
shardsim automap scenarios/splitbrain-v100.yaml | sed -n '/^SUITE/p;/megatron/p' |
	awk -F'|' 'NF < 2 {print} NF > 2 {print $2, $5, $(NF - 1)}'
try2 's/note: Ours.*/overlap: stream/'
# What is found is no slower than any strategy that is known and fits, in every case there is.
shardsim automap scenarios/automap.yaml --format csv |
	sed ':more; s/"\([^",]*\),\([^"]*\)"/"\1;\2"/; t more' | awk -F , '
	$4 == "search" { found[$1] = $5; fits[$1] = $11 }
	$4 != "search" && $11 == 1 && (!($1 in known) || $5 < known[$1]) { known[$1] = $5 }
	END {
		for (name in known) {
			n++
			if (found[name] > known[name] * 1.000001 || !fits[name])
				print name ": " found[name] " s, " known[name] " s are known"
		}
		print "checked " n " cases"
	}'
