printf "hierarchy,axes,reduce,matrix,algorithm,measured_s,best_measured_s\\n9,9,0,[[9]],ring,1,1\\n" >"$TMPDIR/t.csv"
shardsim validate "$TMPDIR/t.csv" 2>&1 | sed "s|$TMPDIR/||"
shardsim validate sim/tests/validate_place.csv --plot x.svg
