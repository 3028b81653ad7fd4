shardsim place --hierarchy 4,6 --axes 8,3 --reduce 0
