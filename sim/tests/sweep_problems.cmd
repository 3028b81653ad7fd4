# What a scenario says is in its rows, so that each can be run again by itself.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
defaults: {array: "u8[18]", from: "P('x')", to: "P()"}
scenarios:
  - {name: a, mesh: "x=3", to_mesh: "y=2", devices: "3-5", to_devices: "7-8",
     memory_limit: 1MiB}
  - {name: b, from: "{devices=[3]<=[3]}", to: "{replicated}", num_devices: 3,
     vocabulary: any}
END
shardsim sweep suite.yaml --platform dgx-a100:2 --planner direct --out rows
shardsim report rows --rows | tr -d '\r' | cut -d, -f 1-15,35
