run="shardsim sweep scenarios/smoke.yaml --platform dgx-a100:1 --out $TMPDIR/rows"
$run --timeout 0; echo $?
$run --timeout soon; echo $?
$run --worker-memory 0; echo $?
$run --worker-memory 1.5; echo $?
$run --progress=often; echo $?
ls -A "$TMPDIR"
