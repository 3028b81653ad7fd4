shardsim place --hierarchy 'node 4, gpu 8' --axes data=2,model=16 --reduce model --top 1 --bytes 20GiB
