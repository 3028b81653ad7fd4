shardsim sweep scenarios/smoke.yaml --platform dgx-a100:1 --out ''
