shardsim place --with sim/tests/place_with.yaml
