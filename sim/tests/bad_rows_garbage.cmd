cd "$TMPDIR" || exit 9
mkdir rows
printf '\177ELF\002\001\000\377\376' >rows/sweep.db
shardsim report rows
