# One hop of 1 MB at 50 GB/s and 1 us: 21 us.
shardsim perf permute --platform tpu-v4:4x4x4 --set ici.bandwidth=50GB/s --set launch_s=0us \
	--devices 0,1 -b 1000000 -e 1000000 --clock flow
# The ring of simulate_dgx_h100, in which all do the same: 7 x 11.25 + 5 = 83.75 us.
shardsim simulate --array 'u8[29440000]' --mesh x=8 --from "P('x')" --to 'P(None)' \
	--platform dgx-h100:8 --set profile=plain --set launch_s=5us --clock flow,model,fluid
# All of 4,096 chips do the same in rings, in whatever order the clocks are asked.
for clock in flow,model model,flow; do
	shardsim simulate --array 'f32[4096,512]' --mesh x=64,y=64 --from "P(('x', 'y'), None)" \
		--to 'P(None, None)' --platform tpu-v4:16x16x16 --clock $clock --format json |
		grep -oE '"(status|message)": "[^"]*"|"flow": [^,}]*'
done
shardsim perf all-reduce --platform tpu-v4:16x16x16 --clock flow -b 1M -e 1M
# Equal permutes of all, and 256 that send to each other on routes without any symmetry.
shardsim perf permute --platform tpu-v4:16x16x16 --clock flow -b 1M -e 1M --devices 0-4095
shardsim simulate --array 'f32[256,256]' --mesh x=16,y=16 --from "P(('x', 'y'), None)" \
	--to "P(None, ('x', 'y'))" --platform tpu-v4:8x8x4 --clock flow,model --planner direct
echo $?
# Rows of a sweep: what one clock refuses, here two million messages, is no matter of another.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
scenarios:
  - {name: few, array: "u8[64,64]", mesh: "x=4,y=4", from: "P('x', 'y')", to: "P()"}
  - {name: many, array: "u8[1536,1536]", mesh: "x=1536", from: "P('x', None)", to: "P(None, 'x')"}
END
shardsim sweep suite.yaml --platform cluster:nodes=1536,gpus=1 --planner direct \
	--clock model,flow,fluid --out rows
shardsim report rows --rows | grep -oE '^(few|many)|(model|fluid|flow),(ok|not-applicable),("[^"]*")?'
