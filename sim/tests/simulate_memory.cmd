# 512 GiB over 8 GPUs of 80 GB: the tiles of source and target are 64 GiB each, 128 GiB
# together, and every plan needs both at once. Gathered, the array needs 64 + 512 GiB and,
# while it is cut, 64 GiB more.
move() {
	array=$1
	shift
	shardsim simulate --array "$array" --mesh x=8 --from "P('x', None)" \
		--to "P(None, 'x')" --planner gather,xla,best --platform dgx-a100:1 "$@"
}
move 'bf16[524288,524288]'
# A quarter of it fits, but not gathered: 160 GiB, unless nobody is to ask.
move 'bf16[262144,262144]' | grep -e over -e ok
move 'bf16[262144,262144]' --memory-limit none | grep -e over -e ok
# The need is in the JSON, too: 128 GiB = 137438953472 B.
move 'bf16[524288,524288]' --format json | grep -o '"planner": "xla".*"planner": "best"'
move 'bf16[262144,262144]' --explain | grep '^  gather '
# The two devices of a chip of tpu-7x have 96 GiB each. Half of 192 GiB becomes all of it.
shardsim simulate --array 'u8[206158430208]' --mesh x=2 --from "P('x')" --to "P()" \
	--platform tpu-7x:1x1x1 --planner direct
# Without a platform nobody knows.
shardsim plan --array 'bf16[524288,524288]' --mesh x=8 --from "P('x', None)" \
	--to "P(None, 'x')" | grep -e over -e ok
# A row has the need and the bytes; a suite may ask for no check as well.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
defaults: {array: "bf16[524288,524288]", mesh: x=8, from: "P('x')", to: "P(None, 'x')"}
scenarios:
  - {name: a}
  - {name: b, memory_limit: none}
END
shardsim sweep suite.yaml --platform dgx-a100:1 --planner gather,xla,best-portable --out rows 2>/dev/null
shardsim report rows --rows | tr -d '\r' | sed -n 's/.*dgx-a100:1,\([a-z]\)/\1/p' | sed "s/,ok,.*/,ok/"
