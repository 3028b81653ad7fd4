# SimGrid's rounds are too large here: no time of either size, which is an answer, and why.
shardsim perf all-to-all --platform tpu-v4:16x16x16 -b 1M -e 2M --clock simgrid
shardsim perf all-to-all --platform tpu-v4:16x16x16 -b 1M -e 1M --clock simgrid --format csv 2>&1
shardsim perf all-to-all --platform tpu-v4:16x16x16 -b 1M -e 1M --clock simgrid --format json 2>/dev/null
