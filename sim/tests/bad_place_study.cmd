shardsim place scenarios/smoke.yaml
