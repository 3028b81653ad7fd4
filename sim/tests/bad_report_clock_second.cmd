export SHARDSIM_DATA="$PWD/platforms"
top=$PWD
cd "$TMPDIR" || exit 9
shardsim sweep "$top/scenarios/smoke.yaml" --platform dgx-a100:1 --planner gather,synth \
	--out rows 2>/dev/null
shardsim report rows --baseline gather --clock model,fluid
