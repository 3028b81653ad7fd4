# x and y change places. In any vocabulary one exchange brings each device the 288 B that it
# lacks. Portable is XLA's all-to-all of half the tile, 144 B, with a permute of all of it.
plan() {
	shardsim plan --array 'f32[24,24]' --mesh x=4,y=2 --from "P('x', 'y')" \
		--to "P('y', 'x')" --planner xla,direct,digit,best-portable,best "$@" |
		grep -e '^[a-z]' -e '^  [a-z].* B  '
}
plan
plan --vocabulary portable
# Uneven tiles: no planner has a portable plan, and every reason is told.
shardsim plan --array 'f32[9]' --mesh x=4,y=2 --from "P('x')" --to "P('y')" \
	--planner shardy,best-portable
# In a sweep it holds for all scenarios, whatever the suite says, and when going on.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
defaults: {array: "f32[24,24]", mesh: "x=4,y=2", from: "P('x', 'y')", to: "P('y', 'x')"}
scenarios:
  - {name: a, vocabulary: any}
  - {name: b}
END
rows() {
	shardsim report "$1" --rows | tr -d '\r' |
		sed -n 's/^\([ab]\),.*,model,\([a-z-]*\),.*,\([a-z]*\)\(,[^,]*\)\{10\}$/\1 \2 \3/p'
}
shardsim sweep suite.yaml --platform dgx-a100:1 --planner direct --vocabulary portable \
	--out rows 2>/dev/null
rows rows
shardsim sweep --resume rows 2>&1
shardsim sweep suite.yaml --platform dgx-a100:1 --planner direct --out other 2>/dev/null
rows other
shardsim sweep plan suite.yaml --platform dgx-a100:1 --planner direct --vocabulary portable \
	--out plan.jsonl
shardsim sweep run plan.jsonl --shard 0/1 2>/dev/null
shardsim sweep merge plan.jsonl shard-* --out merged 2>/dev/null
rows merged
