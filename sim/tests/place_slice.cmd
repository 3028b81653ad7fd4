shardsim place --hierarchy 8,8 --axes 8,8 --reduce 1 --platform tpu-v5e:16x16 --top 2 --devices-out "$TMPDIR/order"
head -9 "$TMPDIR/order" | tr '\n' ' '
shardsim place --hierarchy 8,8 --axes 8,8 --reduce 1 --platform 'tpu-v5e:{n}' --top 2
shardsim place --hierarchy 2,2 --axes 4 --reduce 0 --platform tpu-v5e:4x4 --format json
shardsim place --with sim/tests/place_with.yaml --platform 'tpu-v5p:{n}'
shardsim place --with sim/tests/place_with.yaml --platform tpu-v5p:8x8x8 --format json
