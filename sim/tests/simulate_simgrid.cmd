# Every replay starts at SimGrid's time 0: what was run before does not change a digit.
array='f32[777,120]'
seconds() {
	shardsim simulate --array "$array" --mesh x=4,y=2 --from "P('x', 'y')" \
		--to "P('y', 'x')" --platform tpu-v5e:2x4 --clock simgrid --format json "$@" |
		grep -oE '"planner": "[^"]*"|"simgrid": [^,}]*'
}
seconds --planner all >"$TMPDIR/all"
for planner in $(sed -n 's/"planner": "\(.*\)"/\1/p' "$TMPDIR/all"); do
	seconds --planner $planner
done >"$TMPDIR/alone"
cmp "$TMPDIR/all" "$TMPDIR/alone" && echo same
grep -q 'simgrid": [0-9]' "$TMPDIR/all" && echo "there are times"
# One hop of 1 MB at 50 GB/s and 1 us: 21 us.
shardsim perf permute --platform tpu-v4:4x4x4 --set ici.bandwidth=50GB/s --set launch_s=0us \
	--devices 0,1 -b 1000000 -e 1000000 --clock simgrid
# 512 devices that all send to all are too many messages, whatever model and fluid say.
shardsim simulate --array 'u8[512,512]' --mesh x=512 --from "P('x')" --to "P(None, 'x')" \
	--platform tpu-v4:8x8x8 --planner direct --clock model,fluid,simgrid
