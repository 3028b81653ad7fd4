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
# Attention of 128 sequences of 4,096 tokens, 32 heads of 128 and 8 of keys, causal, in 8 parts of 16: by
# hand 2 * 16 * 32 * 4096^2 * 256 / 2 flops and 16 * 4096 * (32 + 8) * 256 * 2 bytes on a device, whichever
# of its dimensions is split.
for tiles in 8,1,1,1 1,1,8,1; do
	cat >"$TMPDIR/attention.hlo" <<END
HloModule attention
ENTRY %main {
  %q = bf16[128,4096,32,128] parameter(0), sharding={devices=[$tiles]<=[8]}
  %k = bf16[128,4096,8,128] parameter(1), sharding={devices=[$tiles]<=[8]}
  %v = bf16[128,4096,8,128] parameter(2), sharding={devices=[$tiles]<=[8]}
  ROOT %o = bf16[128,4096,32,128] custom-call(%q, %k, %v), custom_call_target="te_fused_attn_forward_ffi", backend_config={mask_type = 2 : i64, num_gqa_groups = 8 : i64}, sharding={devices=[$tiles]<=[8]}
}
END
	shardsim program "$TMPDIR/attention.hlo" --platform dgx-h100:1 --report kernels | sed 1d
done
