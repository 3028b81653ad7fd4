# The first tables show a few planners, say which they leave out, and show those asked for.
exec 2>&1
export SHARDSIM_DATA="$PWD/platforms"
top=$PWD
cd "$TMPDIR" || exit 9
shardsim sweep "$top/scenarios/smoke.yaml" --platform dgx-a100:1 \
	--planner gather,synth,direct,digit,xla-2021 --out rows >log 2>&1 || cat log
shardsim report rows
shardsim report rows --table speedup --format md
shardsim report rows --table speedup --planner digit,direct
shardsim report rows --table summary --planner all
for planners in xla-2021 synth,xla synth,synth ''; do
	shardsim report rows --planner "$planners"
done
shardsim report rows --rows --planner synth 2>&1 | head -n 1
shardsim report rows --planner direct --plot plot.svg
grep -o -w -e gather -e synth -e direct -e digit plot.svg | sort | uniq -c
