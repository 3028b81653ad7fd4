# A platform that is none is found before anything runs, at its place in the suite.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
platforms:
  - dgx-a100:1
  - {base: dgx-h100:4, set: {nic.bandwidth: [25GBps, 0]}}
scenarios: [{name: a, array: "u8[6]", mesh: "x=3", from: "P('x')", to: "P()"}]
END
shardsim sweep suite.yaml
