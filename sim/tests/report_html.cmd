# The page of two scenarios worked out by hand on one node (235 GB/s, 0.95 us; no launch,
# memory 2 TB/s; see report.cmd). gather brings remat's tile of 94 MB to three others:
# 3 x 400.95 = 1202.85 us on links that carry 282 MB (1.2 ms); then it slices 188 MB out,
# 188 us (and xla-2021 does the same). synth slices first, 47 us, and gathers 47 MB twice, as
# launches cost nothing: 200.95 + 400.95 us are less than 3 x 200.95. All 8 devices have a
# link up and one down: 16 are as busy.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >two.yaml <<'END'
defaults: {family: hand, array: "u8[8,47000000]", mesh: "x=4,y=2", from: "P('x', None)"}
scenarios:
  - {name: remat, to: "P(None, 'y')"}
  - {name: <swap>, to: "P(None, 'x')"}
END
shardsim platform dgx-a100:1 --set profile=plain --set launch_s=0s -o a100.xml
shardsim sweep two.yaml --platform a100.xml --planner gather,synth,xla-2021 --out rows
shardsim report rows --format html >page.html
grep -c '<h3>' page.html
sed -n '/<h3>remat/,/<\/section>/s/.*class="op \([a-z-]*\)".*<title>\(.*\)<\/title><\/rect>/\1 | \2/p' page.html
shardsim report rows --format html --scenario '<s*' | grep '<h3>'
shardsim report rows --format html --scenario none
