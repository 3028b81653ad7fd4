// A training step of two layers: forward, backward, a step down the gradient. Only the batch
// and the first weights say how they are sharded; the rest follows.
module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]>
  func.func public @main(%x: tensor<512x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %t: tensor<512x64xf32>, %w1: tensor<128x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %w2: tensor<256x64xf32>) -> (tensor<f32>, tensor<128x256xf32>, tensor<256x64xf32>) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %rate = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<512x128xf32>, tensor<128x256xf32>) -> tensor<512x256xf32> loc("jit(step)/up/dot_general")
    %1 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<512x256xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<512x256xf32> loc("jit(step)/relu")
    %3 = stablehlo.dot_general %2, %w2, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x64xf32>) -> tensor<512x64xf32> loc("jit(step)/down/dot_general")
    %4 = stablehlo.subtract %3, %t : tensor<512x64xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<512x64xf32>
    %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x64xf32>, tensor<f32>) -> tensor<f32> loc("jit(step)/loss/reduce_sum")
    %7 = stablehlo.add %4, %4 : tensor<512x64xf32>
    %8 = stablehlo.dot_general %2, %7, contracting_dims = [0] x [0] : (tensor<512x256xf32>, tensor<512x64xf32>) -> tensor<256x64xf32> loc("jit(step)/transpose(down)/dw")
    %9 = stablehlo.dot_general %7, %w2, contracting_dims = [1] x [1] : (tensor<512x64xf32>, tensor<256x64xf32>) -> tensor<512x256xf32> loc("jit(step)/transpose(down)/dx")
    %10 = stablehlo.compare GT, %0, %1, FLOAT : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xi1>
    %11 = stablehlo.select %10, %9, %1 : tensor<512x256xi1>, tensor<512x256xf32>
    %12 = stablehlo.dot_general %x, %11, contracting_dims = [0] x [0] : (tensor<512x128xf32>, tensor<512x256xf32>) -> tensor<128x256xf32> loc("jit(step)/transpose(up)/dw")
    %13 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<128x256xf32>
    %15 = stablehlo.subtract %w1, %14 : tensor<128x256xf32>
    %16 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %17 = stablehlo.multiply %8, %16 : tensor<256x64xf32>
    %18 = stablehlo.subtract %w2, %17 : tensor<256x64xf32>
    return %6, %15, %18 : tensor<f32>, tensor<128x256xf32>, tensor<256x64xf32>
  }
}
