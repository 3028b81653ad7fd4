export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
generate: {kind: random, count: 5, rank: 3..2}
END
shardsim sweep suite.yaml --platform dgx-a100:1 --out rows
