export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
: >suite.yaml
shardsim sweep suite.yaml --platform dgx-a100:1 --out rows
