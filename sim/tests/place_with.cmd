shardsim place --with sim/tests/place_with.yaml --hierarchy 4,8 --platform p2-v100:4 --clock model,fluid --devices-out "$TMPDIR/order"
tr '\n' ' ' <"$TMPDIR/order"
shardsim place --with sim/tests/place_with.yaml --platform p2-a100:2 --format json
