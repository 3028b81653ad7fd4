# What is wrong with a workload is said with its place, before anything is planned.
run() { shardsim move "$@"; echo "exit $?"; }
exec 2>&1
run
run sim/tests/move_model.yaml --platform dgx-h100:1
run sim/tests/move_model.yaml --from fsdp=8 --to tensor=16 --platform dgx-h100:2
run sim/tests/move_model.yaml --from fsdp=8 --to tensr=4 --platform dgx-h100:1
run sim/tests/move_model.yaml --from fsdp=8 --to tensor=4,expert=3 --platform dgx-h100:1
run sim/tests/move_model.yaml --from fsdp=8 --to tensor=4 --to-devices 8-12 --platform dgx-h100:2
run sim/tests/move_model.yaml --from fsdp=8 --to tensor=4 --to-devices 8-11 --platform dgx-h100:1 | head -n 6
run sim/tests/move_model.yaml --from fsdp=8 --to tensor=4 --dtype bf61 --platform dgx-h100:1
run sim/tests/move_model.yaml --from fsdp=8 --to tensor=4 --platform mi300x:1 --host-costs
run sim/tests/move.yaml --from fsdp=8 --to tensor=4 --platform dgx-h100:1
run sim/tests/no_such_file.yaml --platform dgx-h100:1
printf '{"layers": 2}' >"$TMPDIR/a.yaml"
cd "$TMPDIR" || exit 9
run a.yaml --from fsdp=8 --to tensor=4 --platform dgx-h100:1
printf '{"w": {"shape": [8], "dtype": "F32", "to": "P(\\"q\\")"}}' >a.json
run a.json --from fsdp=8 --to tensor=4 --platform dgx-h100:1
