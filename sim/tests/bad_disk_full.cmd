shardsim list planners >/dev/full
