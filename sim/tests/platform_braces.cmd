# Settings in the platform's name are those of --set, and neither hides the other.
fast="shardsim perf all-reduce -b 1M -e 4M --platform"
$fast 'dgx-h100:2{nic.bandwidth=25GB/s,launch_s=2us}' | tail -n +2 > "$TMPDIR/name"
$fast dgx-h100:2 --set nic.bandwidth=25GB/s --set launch_s=2us | tail -n +2 > "$TMPDIR/set"
$fast 'dgx-h100:2{launch_s=2us}' --set nic.bandwidth=25GB/s | tail -n +2 > "$TMPDIR/both"
$fast dgx-h100:2 | tail -n +2 > "$TMPDIR/none"
(cd "$TMPDIR" && cmp name set && cmp name both && wc -l < name; cmp -s name none; echo $?)
$fast 'dgx-h100:2{launch_s=1us}' --set launch_s=2us; echo $?
$fast 'dgx-h100:2{launch_s}'; echo $?
$fast '{launch_s=1us}'; echo $?
$fast 'dgx-h100:2{launch_s=soon}'; echo $?
shardsim platform 'dgx-h100:2{launch_s=soon}'; echo $?
shardsim platform cluster:nodes=2,gpus=4,nics=3 --set launch_s=2us; echo $?
shardsim platform dgx-h100:2 --set launch_s=soon; echo $?
