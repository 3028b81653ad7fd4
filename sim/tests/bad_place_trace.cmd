shardsim place --hierarchy 4,16 --axes 64 --reduce 0 --trace /nowhere/trace.json
