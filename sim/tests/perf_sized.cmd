shardsim perf all-reduce --platform 'tpu-v4:{n}' --devices 0-31 -b 1M -e 1M
shardsim perf all-reduce --platform tpu-v4:2x4x4 -b 1M -e 1M
shardsim perf all-gather --platform 'tpu-v5e:{n}' --mesh x=8,y=8 --axis x -b 1M -e 1M
shardsim perf all-gather --platform tpu-v5e:16x16 --mesh x=8,y=8 --axis x -b 1M -e 1M
shardsim perf all-reduce --platform 'dgx-h100:{16}' --set nic.bandwidth=25GB/s -b 1M -e 1M
shardsim platform 'tpu-v4:{33}' | sed -n 3p
