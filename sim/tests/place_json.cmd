shardsim place --hierarchy 4,8 --axes 2,16 --reduce 1 --top 1 --limit 3 --format json
