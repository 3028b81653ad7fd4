shardsim place --hierarchy 2,2,8 --axes 4,8 --reduce 0 --clock model,fluid --limit 3
