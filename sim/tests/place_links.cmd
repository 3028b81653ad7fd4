shardsim place --hierarchy 2 --axes 2 --reduce 0 --bytes 9MB --platform tpu-v5e:1x2 \
	--clock model,flow --links=1
shardsim place --hierarchy 2 --axes 2 --reduce 0 --bytes 9MB --platform tpu-v5e:1x2 \
	--links=1 --format json
shardsim place --hierarchy 2 --axes 2,1 --reduce 1 --platform tpu-v5e:1x2 --links
