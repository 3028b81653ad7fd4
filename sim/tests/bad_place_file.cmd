shardsim place --hierarchy 4,16 --axes 8,8 --reduce 1 --top 1 --devices-out /nowhere/order
