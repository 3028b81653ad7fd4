# A search that a signal ends prints the best that it has found, and fails.
timeout --preserve-status -s TERM 3 shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8,model=4 \
	--platform dgx-a100:4 --search mcts --budget 1000000000 >"$TMPDIR/out" 2>"$TMPDIR/err"
echo "exit status $?"
sed -n '1p;2s/[0-9.]* m*s$/.../p;s/.*of 1 mesh, //p' "$TMPDIR/out"
sed -n '$p' "$TMPDIR/err"
