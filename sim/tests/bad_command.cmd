shardsim replan
