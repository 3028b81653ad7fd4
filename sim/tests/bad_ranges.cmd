at="--array f32[64] --mesh x=2 --from P('x') --to P()"
shardsim perf all-reduce --platform dgx-h100:1 -b 2G -e 1G
echo $?
shardsim simulate $at --platform tpu-v4:2x2x2 --devices 7-3
echo $?
shardsim plan $at --memory-limit 4.8GiB
echo $?
shardsim plan $at --memory-limit=0.3KiB
echo $?
