export SHARDSIM_DATA="$PWD/platforms"
top=$PWD
cd "$TMPDIR" || exit 9
: >file
shardsim sweep "$top/scenarios/smoke.yaml" --platform dgx-a100:1 --out file/rows
