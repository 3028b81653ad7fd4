# One shard of two is merged: every report says that half is missing, and going on with it
# as they say ends that.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >two.yaml <<'END'
defaults: {array: "u8[48,64]", mesh: "x=4", from: "P('x')"}
scenarios: [{name: a, to: "P()"}, {name: b, to: "P(None, 'x')"}]
END
shardsim sweep plan two.yaml --platform dgx-a100:1 --planner gather,synth --out plan
shardsim sweep run plan --shard 0/2 --out shard
shardsim sweep merge plan shard --out 'my rows'
for format in md tex html csv; do
	shardsim report 'my rows' --baseline gather --format $format >report.$format
done
sed -n '/WARNING/,/^$/p' report.md
grep -h WARNING report.tex report.html
grep -c WARNING report.csv
shardsim report 'my rows' --rows | wc -l
shardsim report 'my rows' --baseline gather --plot plot.svg
shardsim report 'my rows' --baseline synt
shardsim sweep --resume 'my rows'
shardsim report 'my rows' --baseline gather | grep WARNING
