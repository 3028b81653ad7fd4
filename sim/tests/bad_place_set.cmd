shardsim place --hierarchy 4,16 --axes 8,8 --reduce 1 --set nvlink.bandwidth=1GB/s
