cd "$TMPDIR" || exit 9
: >file
shardsim report file/rows
