# SimGrid takes seconds to load 16384 devices: not where no plan is there to be timed.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
ulimit -t 4
shardsim simulate --array 'f32[63,64]' --mesh x=16384 --from "P('x', None)" \
	--to "P(None, 'x')" --platform dgx-h100:2048 --clock simgrid --planner synth |
	tail -n 1
cat >suite.yaml <<'END'
scenarios:
  - {name: s, array: "f32[63,64]", mesh: "x=16384", from: "P('x')", to: "P(None, 'x')"}
END
shardsim sweep suite.yaml --platform dgx-h100:2048 --clock simgrid,model --planner synth \
	--jobs 1 --out sweep 2>&1
