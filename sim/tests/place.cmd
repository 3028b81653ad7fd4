shardsim place --hierarchy 4,16 --axes 16,2,2 --reduce 0,2
