# Device lists without a mesh, which XLA's own propagation hands on: rows of images over 8 devices,
# of which each takes one from either side for a kernel of 3; nothing is gathered.
cat >"$TMPDIR/rows.hlo" <<'END'
HloModule rows, num_partitions=8

ENTRY main {
  x = f32[64,224,224,64]{3,2,1,0} parameter(0), sharding={devices=[1,8,1,1]<=[8]}
  k = f32[3,3,64,64]{3,2,1,0} parameter(1), sharding={replicated}
  c = f32[64,224,224,64]{3,2,1,0} convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, metadata={op_name="conv"}
  ROOT r = f32[64,224,224,64]{3,2,1,0} tanh(c)
}
END
tiles() {
	file=$1
	shift
	shardsim program "$TMPDIR/$file" "$@" 2>&1 | sed "s,$TMPDIR/,,"
}
tiles rows.hlo --report shardings
tiles rows.hlo --platform dgx-h100:1
# Of an embedding over 8 devices each looks up what it has; the sum of all is what was asked for.
# Its gradient stays where the embedding is.
cat >"$TMPDIR/embedding.mlir" <<'END'
sdy.mesh @mesh = <["x"=8]>
func.func @main(%e: tensor<32768x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<4096xi32>, %z: tensor<32768x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4096x1024xf32>, tensor<32768x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.gather"(%e, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1024>}> : (tensor<32768x1024xf32>, tensor<4096xi32>) -> tensor<4096x1024xf32> loc("embed/gather")
  %1 = "stablehlo.scatter"(%z, %i, %0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<32768x1024xf32>, tensor<4096xi32>, tensor<4096x1024xf32>) -> tensor<32768x1024xf32> loc("embed/scatter")
  return %0, %1 : tensor<4096x1024xf32>, tensor<32768x1024xf32>
}
END
tiles embedding.mlir --platform dgx-h100:1 --partitioner xla
tiles embedding.mlir --platform dgx-h100:1 --partitioner shardy --report collectives
