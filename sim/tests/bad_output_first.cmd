# That a file cannot be written is found before what it is made of is even opened.
cd "$TMPDIR" || exit 9
shardsim validate none.csv --plot nowhere/v.svg
shardsim validate none.csv --plot v.png
shardsim fit none.csv --output nowhere/entry.yaml
shardsim fit none.csv --output .
shardsim fit none.csv --output -
shardsim platform nothing:1 -o -
shardsim automap none.yaml --emit jax -o -
shardsim automap none.yaml --devices-out nowhere/order
shardsim step none.yaml --parallel fsdp=8 --platform dgx-h100:1 -o -
ls
shardsim fit none.csv --output entry.yaml
