export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
mkdir -p rows/sweep.db
shardsim report rows
