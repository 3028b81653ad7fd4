shardsim help plan simulate
