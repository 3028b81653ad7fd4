cd "$TMPDIR" || exit 9
mkdir rows
: >rows/sweep.db
shardsim report rows
