shardsim list machines
