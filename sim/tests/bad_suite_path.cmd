export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
: >file
shardsim sweep file/suite.yaml --platform dgx-a100:1 --out rows
