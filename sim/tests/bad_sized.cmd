set -x
shardsim perf all-reduce --platform 'tpu-v4:{n}'
shardsim perf all-reduce --platform 'tpu-v4:{n}' --devices 0-9999999
shardsim perf all-reduce --platform 'tpu-v4:{n}' --mesh x=0 --axis x
shardsim perf all-reduce --platform 'tpu-v4:{n}' --mesh x=8
shardsim perf all-reduce --platform 'tpu-v5e:{n}' --mesh x=512 --axis x
shardsim platform 'tpu-v4:{n}'
shardsim place --hierarchy 4,8 --axes 32 --reduce 0 --platform 'tpu-v5e:{16}'
shardsim place --hierarchy 64,8 --axes 512 --reduce 0 --platform 'tpu-v5e:{n}'
