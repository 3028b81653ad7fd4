# Tables for a paper: captions have n, labels say what they are of, each once, and what
# is written follows TeX's rules: braces match, and rows have as many cells as the head.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >odd.yaml <<'EOF'
platforms: ["dgx-a100:1"]
defaults: {mesh: "x=4,y=2", from: "P('x', 'y')"}
scenarios:
  - {name: a, family: "50%_of #1 & {a}\\b^~$<>\"`|--é中", array: "bf16[512,512]", to: "P('y', 'x')"}
  - {name: b, family: "[1em]", array: "bf16[512,512]", to: "P(None, 'x')"}
  - {name: c, family: "[1em]", array: "bf16[256,512]", to: "P(None, 'x')"}
EOF
shardsim sweep odd.yaml --planner xla-2021,synth,best --clock model --out rows 2>/dev/null
for name in summary speedup-real families same; do
	shardsim report rows --families --format tex --table $name
done >some.tex
grep -e '\\caption' -e 'é' some.tex | cut -d '&' -f 1-9 | cut -c 1-180
shardsim report rows --families --format tex --details >all.tex
grep -o '\\label{.*}' all.tex | sort >labels
wc -l <labels
uniq -d labels
cat some.tex all.tex | sed 's/%.*needs.*//; s/\\[&%#_{}$]//g' | awk '
	/^%/ { next }
	{ depth += gsub(/{/, "{") - gsub(/}/, "}"); cells = gsub(/&/, "&") }
	/\\begin{tabular}/ { head = -1 }
	/\\\\$/ { if (head >= 0 && cells != head) print "cells: " $0; head = cells }
	/[_#^~$<>"`|]/ && !/\$n = / && !/\\ifdim/ { print "plain: " $0 }
	END { print "depth " depth }'
shardsim report rows --table summary
shardsim report rows --format csv --table summary 2>&1 | head -n 1
shardsim report rows --table none 2>&1 | head -n 1
