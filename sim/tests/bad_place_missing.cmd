shardsim place --hierarchy 4,16 --axes 8,8
