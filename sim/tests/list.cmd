shardsim list planners
shardsim list clocks
shardsim list platforms
shardsim list dtypes
shardsim list emitters
shardsim list algorithms
