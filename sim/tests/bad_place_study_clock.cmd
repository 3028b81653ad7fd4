shardsim place scenarios/placement.yaml --clock fluid
