# Matmuls part by part: weights of 448 MiB over 8 devices go round on TPUs, and are gathered on
# GPUs and where it is asked. Sums of 512 MiB that are scattered go round likewise.
cat >"$TMPDIR/weights.mlir" <<'END'
sdy.mesh @m = <["x"=8]>
func.func @main(%a: tensor<32768x8192xbf16> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, %w: tensor<8192x28672xbf16> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> (tensor<32768x28672xbf16> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<32768x8192xbf16>, tensor<8192x28672xbf16>) -> tensor<32768x28672xbf16> loc("up")
  return %0 : tensor<32768x28672xbf16>
}
END
cat >"$TMPDIR/sums.mlir" <<'END'
sdy.mesh @m = <["x"=8]>
func.func @main(%a: tensor<32768x28672xbf16> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %w: tensor<28672x8192xbf16> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<32768x8192xbf16> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<32768x28672xbf16>, tensor<28672x8192xbf16>) -> tensor<32768x8192xbf16> loc("down")
  return %0 : tensor<32768x8192xbf16>
}
END
priced() {
	file=$1
	shift
	shardsim program "$TMPDIR/$file" --partitioner xla "$@" 2>&1 | sed "s,$TMPDIR/,,"
}
priced weights.mlir --platform tpu-v4:2x2x2
priced weights.mlir --platform tpu-v4:2x2x2 --windowed-einsum-mib off
priced weights.mlir --platform tpu-v4:2x2x2 --windowed-einsum-mib 449 --report collectives
priced weights.mlir --platform dgx-h100:1 --report collectives
priced weights.mlir --platform dgx-h100:1 --windowed-einsum-mib 448 --report collectives
priced sums.mlir --platform tpu-v4:2x2x2
priced sums.mlir --platform tpu-v4:2x2x2 --windowed-einsum-mib off
# Without a platform size alone decides, and is asked for.
priced weights.mlir --report collectives
priced weights.mlir --windowed-einsum-mib 1 --report collectives
# What there is not.
priced weights.mlir --windowed-einsum-mib 0
priced weights.mlir --windowed-einsum-mib 1x
shardsim program "$TMPDIR/weights.mlir" --windowed-einsum-mib 1 2>&1 | cat
