shardsim help list
shardsim help help
