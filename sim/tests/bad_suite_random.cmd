export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
generate: {kind: random, count: 5, devices: 11..11}
END
shardsim sweep suite.yaml --platform dgx-a100:1 --out rows
