# A file may be no longer than some blocks of 512 bytes: a failed write, at whatever moment,
# and no death. What a sweep has by then is gone on with.
smoke=$PWD/scenarios/smoke.yaml
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
for blocks in 0 1 8 100; do
	(ulimit -f $blocks && exec shardsim sweep "$smoke" --platform tpu-v5e:4x8 --planner all \
		--out rows$blocks) 2>/dev/null
	echo sweep $blocks: $?
	(ulimit -f $blocks && exec shardsim platform tpu-v5e:4x8 -o tpu$blocks.xml) 2>/dev/null
	echo platform $blocks: $?
done
shardsim sweep "$smoke" --platform tpu-v5e:4x8 --planner all --out rows100 2>&1 |
	grep -o '^120 rows.*applicable'
