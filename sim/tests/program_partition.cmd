# Annotated programs, partitioned: a layer in Megatron's way, fully sharded weights in loops.
shardsim program scenarios/programs/megatron.mlir --platform dgx-h100:1
shardsim program scenarios/programs/megatron.mlir --platform dgx-h100:2 --report reshards --rows 3
shardsim program scenarios/programs/fsdp-loop.mlir --platform tpu-v4:2x2x2 --report collectives
# Changes of layout on the way: by the compiler's planner, by another one, without a platform.
cat >"$TMPDIR/turned.mlir" <<'END'
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = stablehlo.tanh %a : tensor<4096x4096xf32> loc("turned/tanh")
  %1 = "stablehlo.custom_call"(%0) {call_target_name = "unknown"} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32> loc("turned/unknown")
  return %1 : tensor<4096x4096xf32>
}
END
turned() {
	shardsim program "$TMPDIR/turned.mlir" "$@" 2>&1 | sed "s,$TMPDIR/,,"
}
turned --platform dgx-h100:1 --report reshards
turned --platform dgx-h100:1 --planner gather --report reshards
turned --planner best --report reshards
turned --platform dgx-h100:1 --partitioner as-is --report collectives
turned --platform dgx-h100:1 --format json | sed -n '/"reshards"/,/\]/p'
# XLA's choices: here the same sums; elsewhere not.
shardsim program scenarios/programs/megatron.mlir --partitioner xla --report collectives
shardsim program scenarios/programs/fsdp-loop.mlir --partitioner xla --report collectives
shardsim program scenarios/programs/fsdp-loop.mlir --partitioner xla --raw --report collectives
# The text with all shardings in it.
shardsim program scenarios/programs/mlp-sharded.mlir --emit sdy | sed -n '5,12p'
