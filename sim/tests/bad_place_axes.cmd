shardsim place --hierarchy 4,16 --axes 8,4 --reduce 0
