set -x
shardsim perf
shardsim perf gather --platform dgx-h100:1
shardsim perf all-reduce
shardsim perf all-reduce --platform dgx-h100:1 -f 2 -i 8
shardsim perf all-reduce --platform dgx-h100:1 -f 1
shardsim perf all-reduce --platform dgx-h100:1 -i 0
shardsim perf all-reduce --platform dgx-h100:1 -b 2 -e 1
shardsim perf all-reduce --platform dgx-h100:1 -b x
shardsim perf all-reduce --platform dgx-h100:1 -b 72057594037927937 -e 72057594037927937
shardsim perf all-reduce --platform dgx-h100:1 -e 16G -i 1
shardsim perf all-reduce --platform dgx-h100:1 --format xml
shardsim perf all-reduce --platform dgx-h100:1 --algorithm rings
shardsim perf all-reduce --platform dgx-h100:1 --algorithm tree -b 8 -e 8
shardsim perf all-reduce --platform dgx-h100:1 --launch now
shardsim perf all-reduce --platform polaris:1 --launch graph
shardsim perf all-reduce --platform tpu-v5p:2x2x2 --launch single
shardsim perf all-reduce --platform tpu-v5p:2x2x2 --protocol ll
shardsim perf all-reduce --platform dgx-h100:1 --mesh x=8
shardsim perf all-gather --platform dgx-h100:1 -b 1000003 -e 1000003
shardsim perf all-reduce --platform dgx-h100:1 --clock model,fluid
shardsim perf all-reduce --platform dgx-h100:1 --measured /none
shardsim perf all-reduce --platform dgx-h100:1 --system H100
shardsim perf all-reduce --platform dgx-h100:1 --measured platforms/measured.csv --system none
shardsim perf all-reduce --platform dgx-h100:1 --measured platforms/measured.csv --system xxrjun-N1G8 -e 1M
shardsim validate
shardsim validate platforms/measured.csv --format xml
shardsim validate platforms/measured.csv --plot v.png
shardsim validate platforms/measured.csv --mapping /none
shardsim validate platforms/measured.csv platforms/held-out.csv platforms/measured.csv
shardsim fit platforms/measured.csv --family tiny
shardsim fit platforms/measured.csv --family dgx-h100,dgx-a100,dgx-h100
shardsim fit platforms/measured.csv --family dgx-h100 --constants launch_s,launch_s
shardsim fit platforms/measured.csv --family tpu-v5p --output /nowhere/entry.yaml
shardsim fit platforms/measured.csv --family dgx-h100 --constants steps
shardsim plan --array 'f32[8]' --mesh x=2 --from "P('x')" --to 'P()' --launch graph
