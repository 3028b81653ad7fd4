shardsim validate sim/tests/validate_place.csv
shardsim validate sim/tests/validate_place.csv --format csv
