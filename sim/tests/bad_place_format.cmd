shardsim place --hierarchy 2,8 --axes 16 --reduce 0 --format md
