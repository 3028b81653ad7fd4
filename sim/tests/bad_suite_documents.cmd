export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
scenarios:
  - {name: a, array: "f32[64,64]", mesh: "x=4,y=2", from: "P('x')", to: "P('y')"}
---
scenarios:
  - {name: a, array: "f32[64,64]", mesh: "x=4,y=2", from: "P('x')", to: "P('y')"}
END
shardsim sweep suite.yaml --platform dgx-a100:1 --out rows
