export SHARDSIM_DATA="$PWD/platforms"
top=$PWD
cd "$TMPDIR" || exit 9
shardsim sweep "$top/scenarios/smoke.yaml" --platform dgx-a100:1 --planner gather \
	--out rows 2>/dev/null
mkdir half
head -c 9000 rows/sweep.db >half/sweep.db
shardsim report half
