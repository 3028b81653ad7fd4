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
# Nor is what a command reads written over, nor one file written twice.
echo a >t.csv
echo b >t.yaml
ln t.csv twin.csv
shardsim fit t.csv --intervals t.csv
shardsim fit t.csv --intervals ./twin.csv
shardsim fit t.csv -o t.yaml
shardsim fit t.csv --intervals both -o both
shardsim fit t.csv --steps twin.csv --intervals t.csv
shardsim automap t.yaml --mesh x=2 --emit jax -o t.yaml
shardsim automap t.yaml --mesh x=2 --emit jax -o both --devices-out both
shardsim program t.yaml --emit annotate -o t.yaml
shardsim step t.yaml --parallel fsdp=8 --platform dgx-h100:1 -o t.yaml
cat t.csv t.yaml
rm t.csv t.yaml twin.csv
ls
shardsim fit none.csv --output entry.yaml
