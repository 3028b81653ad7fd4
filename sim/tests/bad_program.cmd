printf 'HloModule m\ne {\n a = f32[2] parameter(0)\n b = f32[3] tuple(a, c)\n}\n' >"$TMPDIR/bad.hlo"
shardsim program "$TMPDIR/bad.hlo" 2>&1 | sed "s,$TMPDIR/,,"
fsdp=scenarios/programs/fsdp.hlo
shardsim program $fsdp --platform dgx-h100:1 --devices 0-3
shardsim program scenarios/programs/fsdp.hlo --platform tpu-v4:2x2x1
shardsim program $fsdp --trip forward=x
shardsim program $fsdp --trip nobody=3
shardsim program $fsdp --rows 0
shardsim program $fsdp --report all
shardsim program nowhere.hlo
