# What goes with annotated programs alone; planners that there are not.
shardsim program scenarios/programs/fsdp.hlo --report reshards
shardsim program scenarios/programs/fsdp.hlo --planner xla
shardsim program scenarios/programs/mlp.mlir --planner nobody
shardsim program scenarios/programs/mlp.mlir --partitioner nobody
shardsim program scenarios/programs/fsdp.hlo --partitioner shardy
shardsim program scenarios/programs/constructs.hlo --partitioner shardy
shardsim program scenarios/programs/mlp.mlir --platform dgx-h100:1 --devices 0-3
shardsim program scenarios/programs/fsdp.hlo --emit sdy
cat >"$TMPDIR/tile.mlir" <<'END'
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
 %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"y"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x", "y"} (%b: tensor<4x8xf32>) {
  sdy.return %b : tensor<4x8xf32>
 } : (tensor<8x8xf32>) -> tensor<8x8xf32>
 return %0 : tensor<8x8xf32>
}
END
shardsim program "$TMPDIR/tile.mlir" 2>&1 | sed "s,$TMPDIR/,,"
echo 'func.func @main() {
 return
}' >"$TMPDIR/no_mesh.mlir"
shardsim program "$TMPDIR/no_mesh.mlir" --emit sdy
