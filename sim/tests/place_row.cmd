shardsim place --hierarchy 4,8 --axes 8,2,2 --reduce 0,2 --order row
