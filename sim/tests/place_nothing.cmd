shardsim place --hierarchy 3,16 --axes 48,1 --reduce 1
