# LSHS, round-robin and collectives on 16 nodes, and on 4 nodes of 4 as rows.
shardsim place --blocks --platform cluster:nodes=16,gpus=1,nics=1,nic.bandwidth=20Gb/s
shardsim place --blocks --platform cluster:nodes=4,gpus=4,nics=1,nic.bandwidth=20Gb/s --format csv
# A product needs a square of devices.
shardsim place --blocks --platform dgx-a100:1 2>&1
