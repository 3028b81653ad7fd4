cd "$TMPDIR" || exit 9
shardsim report rows
