# All sends under way at once, and in rounds that each pay a latency of 5 us.
shardsim perf all-to-all --platform cluster:nodes=1024,gpus=1 -b 1GiB -e 1GiB 2>&1
shardsim perf all-to-all --platform cluster:nodes=1024,gpus=1 -b 1GiB -e 1GiB --algorithm pairwise --clock fluid 2>/dev/null
