shardsim place --with sim/tests/place_with.yaml --platform p2-a100:2 --hierarchy 3,16
