# Settings of a platform: of the form, of a figure it has, and not of a file.
run="shardsim sweep scenarios/smoke.yaml --out $TMPDIR/rows --platform"
$run 'dgx-a100:1,dgx-h100:1{launch_s}'; echo $?
$run 'dgx-h100:1{launch_s=1us'; echo $?
$run 'dgx-h100:1{lunch_s=1us}' 2>&1 | cut -c 1-75
$run 'dgx-h100:1{launch_s=soon}'; echo $?
ls -A "$TMPDIR"
