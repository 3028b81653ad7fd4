cat >"$TMPDIR/study.yaml" <<'END'
placements:
  - {family: nodes, platform: "p2-a100:2", hierarchy: "2,16", axes: ["4,8", "4,4,2"], reduce: ["0", "1"]}
  - {family: p2-v, platform: "p2-v100:2{nic.bandwidth=16GiBps}", hierarchy: "2,8", axes: "16", reduce: "0", bytes: 1GiB}
END
shardsim place "$TMPDIR/study.yaml"
shardsim place "$TMPDIR/study.yaml" --format csv
