shardsim help nosuch
