printf 'HloModule m\ne {\n a = f32[2] parameter(0)\n b = f32[3] tuple(a, c)\n}\n' >"$TMPDIR/bad.hlo"
shardsim program "$TMPDIR/bad.hlo" 2>&1 | sed "s,$TMPDIR/,,"
fsdp=scenarios/programs/fsdp.hlo
shardsim program $fsdp --platform dgx-h100:1 --devices 0-3
shardsim program scenarios/programs/fsdp.hlo --platform tpu-v4:2x2x1
shardsim program $fsdp --trip forward=x
shardsim program $fsdp --trip nobody=3
shardsim program $fsdp --rows 0
shardsim program $fsdp --report all
# Options that nothing would look at.
try() {
	shardsim program "$@" 2>&1 | head -n 1
}
mlp=scenarios/programs/mlp-sharded.mlir
try $mlp --emit sdy --report ops
try $mlp --emit annotate --partitioner xla
try $mlp --emit sdy --format json
try $mlp --set launch_s=1us
try $mlp --devices 0-7
try $mlp --overlap none
try $mlp --report reshards --by op_name
try $mlp --report kernels --format json
try $fsdp --trip forward=3 --trip forward=4
try $fsdp --as replicated --platform dgx-h100:1
shardsim program nowhere.hlo
shardsim program $fsdp --platform dgx-h100:1 --devices 0 2>&1
