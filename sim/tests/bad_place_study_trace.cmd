shardsim place scenarios/placement.yaml --trace trace.json
