#loc = loc("mlp.py":0:0)
module @jit_mlp attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>, tf.aliasing_output = 1 : i32}, %arg2: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>, jax.buffer_donor = true} loc("w2")) -> (tensor<f32> {jax.result_info = "loss"}, tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<1024x256xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e-02> : tensor<f32>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x256xf32>, tensor<256x1024xf32>) -> tensor<64x1024xf32> loc(#loc1)
    %1 = call @relu(%0) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"data"}, {"model"}]> : tensor<64x1024xf32>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, tensor<1024x256xf32>) -> tensor<64x256xf32> loc(#loc2)
    %4 = stablehlo.multiply %3, %3 : tensor<64x256xf32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x256xf32>, tensor<f32>) -> tensor<f32>
    %6 = stablehlo.add %3, %3 : tensor<64x256xf32>
    %7 = stablehlo.dot_general %2, %6, contracting_dims = [0] x [0] : (tensor<64x1024xf32>, tensor<64x256xf32>) -> tensor<1024x256xf32>
    %8 = stablehlo.dot_general %6, %arg2, contracting_dims = [1] x [1] : (tensor<64x256xf32>, tensor<1024x256xf32>) -> tensor<64x1024xf32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x1024xf32>
    %10 = stablehlo.compare GT, %0, %9, FLOAT : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xi1>
    %11 = stablehlo.select %10, %8, %9 : tensor<64x1024xi1>, tensor<64x1024xf32>
    %12 = stablehlo.dot_general %arg0, %11, contracting_dims = [0] x [0] : (tensor<64x256xf32>, tensor<64x1024xf32>) -> tensor<256x1024xf32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<256x1024xf32>
    %15 = stablehlo.subtract %arg1, %14 : tensor<256x1024xf32>
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %17 = stablehlo.multiply %7, %16 : tensor<1024x256xf32>
    %18 = stablehlo.subtract %arg2, %17 : tensor<1024x256xf32>
    return %5, %15, %18 : tensor<f32>, tensor<256x1024xf32>, tensor<1024x256xf32>
  }
  func.func private @relu(%arg0: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x1024xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<64x1024xf32>
    return %1 : tensor<64x1024xf32>
  }
}
#loc1 = loc("jit(mlp)/up"(#loc3))
#loc2 = loc("jit(mlp)/down"("mlp.py":12:9))
#loc3 = loc("mlp.py":10:4)
