shardsim sweep scenarios/smoke.yaml
