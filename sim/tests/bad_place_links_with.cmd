shardsim place --with scenarios/training.yaml --platform dgx-h100:8 --links=3
