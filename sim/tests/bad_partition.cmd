# What goes with annotated programs alone; planners that there are not.
shardsim program scenarios/programs/fsdp.hlo --report reshards
shardsim program scenarios/programs/fsdp.hlo --planner xla
shardsim program scenarios/programs/mlp.mlir --planner nobody
shardsim program scenarios/programs/mlp.mlir --partitioner nobody
shardsim program scenarios/programs/fsdp.hlo --partitioner shardy
shardsim program scenarios/programs/constructs.hlo --partitioner shardy
shardsim program scenarios/programs/mlp.mlir --platform dgx-h100:1 --devices 0-3
shardsim program scenarios/programs/fsdp.hlo --emit sdy
echo 'func.func @main() {
 return
}' >"$TMPDIR/no_mesh.mlir"
shardsim program "$TMPDIR/no_mesh.mlir" --emit sdy
