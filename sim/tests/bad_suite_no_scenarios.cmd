export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
defaults:
  family: none
END
shardsim sweep suite.yaml --platform dgx-a100:1 --out rows
