# That a file cannot be written is found before what it is made of is even opened.
cd "$TMPDIR" || exit 9
shardsim validate none.csv --plot nowhere/v.svg
shardsim validate none.csv --plot v.png
shardsim fit none.csv --output nowhere/entry.yaml
shardsim fit none.csv --output .
ls
shardsim fit none.csv --output entry.yaml
