cat >"$TMPDIR/suite.yaml" <<'END'
defaults: {array: "f32[1024,1024]", mesh: "x=4,y=8", from: "P('x', None)", to: "P(None, None)"}
scenarios:
  - {name: free, family: free, placement: free}
  - {name: fixed, family: fixed}
END
shardsim sweep "$TMPDIR/suite.yaml" --platform p2-a100:2 --planner gather,best --out "$TMPDIR/out" 2>/dev/null
shardsim report "$TMPDIR/out" --baseline gather --format csv --families | grep '^family' | cut -d, -f1-8
