# Of several tables each goes by the mapping beside it: dgx2-16n is in the second one's alone. Where
# there are several, lines say of which.
shardsim validate platforms/measured.csv platforms/held-out.csv >"$TMPDIR/two.md"
grep -m 1 'DGX-2, 16 nodes' "$TMPDIR/two.md"
for table in measured held-out; do
	grep -q "line [0-9]* of $table.csv, " "$TMPDIR/two.md" && echo "$table"
done
shardsim validate platforms/held-out.csv >"$TMPDIR/one.md"
grep -m 1 'DGX-2, 16 nodes' "$TMPDIR/one.md"
! grep 'line [0-9]* of' "$TMPDIR/one.md"
