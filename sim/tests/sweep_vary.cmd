# A suite that says its platforms and varies them and its scenarios: 3 sizes on 1 + 2 x 2
# platforms. Rows say what they are of and what was varied.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
platforms:
  - dgx-a100:4
  - {base: dgx-h100:4, set: {nic.bandwidth: [25GBps, 50GBps], launch_s: 2us..4us x2}}
scenarios:
  - {name: s, array: "u8[1,32]", mesh: "x=32", from: "P(None, 'x')", to: "P()",
     bytes: 1KiB..4KiB x2}
END
shardsim sweep suite.yaml --planner gather --out rows
shardsim report rows --rows | tr -d '\r' | sed 's/,"u8\[.*ok,/ .../; s/\.\.\..*,s,/... s,/' | head -8
shardsim sweep suite.yaml --planner gather --platform 'dgx-a100:4,dgx-h100:4{launch_s=2us,nic.bandwidth=50GBps}' --out other
