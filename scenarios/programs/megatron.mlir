// A transformer layer in Megatron's way, forward, backward and a step down the gradient: heads
// and the hidden array of the feed-forward layer are split over "model", the batch over "data".
// Each of attention and feed-forward layer is summed over "model" once forward and once backward
// (arXiv 1909.08053, 3), each weight's gradient over "data" once.
module @jit_layer attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%x: tensor<8x32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, %wq: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %wk: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %wv: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %wo: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %w1: tensor<128x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %w2: tensor<1024x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<f32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x1024xf32>, tensor<1024x128xf32>, tensor<8x32x128xf32>) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %low = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %rate = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %0 = stablehlo.dot_general %x, %wq, contracting_dims = [2] x [0] : (tensor<8x32x128xf32>, tensor<128x128xf32>) -> tensor<8x32x128xf32> loc("jit(step)/attention/q")
    %1 = stablehlo.reshape %0 : (tensor<8x32x128xf32>) -> tensor<8x32x8x16xf32>
    %2 = stablehlo.dot_general %x, %wk, contracting_dims = [2] x [0] : (tensor<8x32x128xf32>, tensor<128x128xf32>) -> tensor<8x32x128xf32> loc("jit(step)/attention/k")
    %3 = stablehlo.reshape %2 : (tensor<8x32x128xf32>) -> tensor<8x32x8x16xf32>
    %4 = stablehlo.dot_general %x, %wv, contracting_dims = [2] x [0] : (tensor<8x32x128xf32>, tensor<128x128xf32>) -> tensor<8x32x128xf32> loc("jit(step)/attention/v")
    %5 = stablehlo.reshape %4 : (tensor<8x32x128xf32>) -> tensor<8x32x8x16xf32>
    %6 = stablehlo.dot_general %1, %3, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<8x32x8x16xf32>, tensor<8x32x8x16xf32>) -> tensor<8x8x32x32xf32> loc("jit(step)/attention/scores")
    %7 = stablehlo.reduce(%6 init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %9 = stablehlo.subtract %6, %8 : tensor<8x8x32x32xf32>
    %10 = stablehlo.exponential %9 : tensor<8x8x32x32xf32>
    %11 = stablehlo.reduce(%10 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %13 = stablehlo.divide %10, %12 : tensor<8x8x32x32xf32>
    %14 = stablehlo.dot_general %13, %5, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<8x8x32x32xf32>, tensor<8x32x8x16xf32>) -> tensor<8x8x32x16xf32> loc("jit(step)/attention/values")
    %15 = stablehlo.transpose %14, dims = [0, 2, 1, 3] : (tensor<8x8x32x16xf32>) -> tensor<8x32x8x16xf32>
    %16 = stablehlo.reshape %15 : (tensor<8x32x8x16xf32>) -> tensor<8x32x128xf32>
    %17 = stablehlo.dot_general %16, %wo, contracting_dims = [2] x [0] : (tensor<8x32x128xf32>, tensor<128x128xf32>) -> tensor<8x32x128xf32> loc("jit(step)/attention/out")
    %18 = stablehlo.add %x, %17 : tensor<8x32x128xf32>
    %19 = stablehlo.dot_general %18, %w1, contracting_dims = [2] x [0] : (tensor<8x32x128xf32>, tensor<128x1024xf32>) -> tensor<8x32x1024xf32> loc("jit(step)/mlp/up")
    %20 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x32x1024xf32>
    %21 = stablehlo.maximum %19, %20 : tensor<8x32x1024xf32>
    %22 = stablehlo.dot_general %21, %w2, contracting_dims = [2] x [0] : (tensor<8x32x1024xf32>, tensor<1024x128xf32>) -> tensor<8x32x128xf32> loc("jit(step)/mlp/down")
    %23 = stablehlo.add %18, %22 : tensor<8x32x128xf32>
    %24 = stablehlo.multiply %23, %23 : tensor<8x32x128xf32>
    %25 = stablehlo.reduce(%24 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x32x128xf32>, tensor<f32>) -> tensor<f32>
    %26 = stablehlo.dot_general %21, %23, contracting_dims = [0, 1] x [0, 1] : (tensor<8x32x1024xf32>, tensor<8x32x128xf32>) -> tensor<1024x128xf32> loc("jit(step)/transpose(mlp)/down_w")
    %27 = stablehlo.dot_general %23, %w2, contracting_dims = [2] x [1] : (tensor<8x32x128xf32>, tensor<1024x128xf32>) -> tensor<8x32x1024xf32> loc("jit(step)/transpose(mlp)/down_x")
    %28 = stablehlo.compare GT, %19, %20, FLOAT : (tensor<8x32x1024xf32>, tensor<8x32x1024xf32>) -> tensor<8x32x1024xi1>
    %29 = stablehlo.select %28, %27, %20 : tensor<8x32x1024xi1>, tensor<8x32x1024xf32>
    %30 = stablehlo.dot_general %18, %29, contracting_dims = [0, 1] x [0, 1] : (tensor<8x32x128xf32>, tensor<8x32x1024xf32>) -> tensor<128x1024xf32> loc("jit(step)/transpose(mlp)/up_w")
    %31 = stablehlo.dot_general %29, %w1, contracting_dims = [2] x [1] : (tensor<8x32x1024xf32>, tensor<128x1024xf32>) -> tensor<8x32x128xf32> loc("jit(step)/transpose(mlp)/up_x")
    %32 = stablehlo.add %23, %31 : tensor<8x32x128xf32>
    %33 = stablehlo.dot_general %16, %32, contracting_dims = [0, 1] x [0, 1] : (tensor<8x32x128xf32>, tensor<8x32x128xf32>) -> tensor<128x128xf32> loc("jit(step)/transpose(attention)/out_w")
    %34 = stablehlo.dot_general %32, %wo, contracting_dims = [2] x [1] : (tensor<8x32x128xf32>, tensor<128x128xf32>) -> tensor<8x32x128xf32> loc("jit(step)/transpose(attention)/out_x")
    %35 = stablehlo.reshape %34 : (tensor<8x32x128xf32>) -> tensor<8x32x8x16xf32>
    %36 = stablehlo.dot_general %35, %5, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<8x32x8x16xf32>, tensor<8x32x8x16xf32>) -> tensor<8x8x32x32xf32> loc("jit(step)/transpose(attention)/probs")
    %37 = stablehlo.dot_general %13, %35, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<8x8x32x32xf32>, tensor<8x32x8x16xf32>) -> tensor<8x8x32x16xf32> loc("jit(step)/transpose(attention)/values")
    %38 = stablehlo.transpose %37, dims = [0, 2, 1, 3] : (tensor<8x8x32x16xf32>) -> tensor<8x32x8x16xf32>
    %39 = stablehlo.reshape %38 : (tensor<8x32x8x16xf32>) -> tensor<8x32x128xf32>
    %40 = stablehlo.multiply %36, %13 : tensor<8x8x32x32xf32>
    %41 = stablehlo.reduce(%40 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %43 = stablehlo.subtract %36, %42 : tensor<8x8x32x32xf32>
    %44 = stablehlo.multiply %13, %43 : tensor<8x8x32x32xf32>
    %45 = stablehlo.dot_general %44, %3, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<8x8x32x32xf32>, tensor<8x32x8x16xf32>) -> tensor<8x8x32x16xf32> loc("jit(step)/transpose(attention)/q")
    %46 = stablehlo.transpose %45, dims = [0, 2, 1, 3] : (tensor<8x8x32x16xf32>) -> tensor<8x32x8x16xf32>
    %47 = stablehlo.reshape %46 : (tensor<8x32x8x16xf32>) -> tensor<8x32x128xf32>
    %48 = stablehlo.dot_general %44, %1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<8x8x32x32xf32>, tensor<8x32x8x16xf32>) -> tensor<8x8x32x16xf32> loc("jit(step)/transpose(attention)/k")
    %49 = stablehlo.transpose %48, dims = [0, 2, 1, 3] : (tensor<8x8x32x16xf32>) -> tensor<8x32x8x16xf32>
    %50 = stablehlo.reshape %49 : (tensor<8x32x8x16xf32>) -> tensor<8x32x128xf32>
    %51 = stablehlo.dot_general %x, %47, contracting_dims = [0, 1] x [0, 1] : (tensor<8x32x128xf32>, tensor<8x32x128xf32>) -> tensor<128x128xf32> loc("jit(step)/transpose(attention)/q_w")
    %52 = stablehlo.dot_general %47, %wq, contracting_dims = [2] x [1] : (tensor<8x32x128xf32>, tensor<128x128xf32>) -> tensor<8x32x128xf32> loc("jit(step)/transpose(attention)/q_x")
    %53 = stablehlo.dot_general %x, %50, contracting_dims = [0, 1] x [0, 1] : (tensor<8x32x128xf32>, tensor<8x32x128xf32>) -> tensor<128x128xf32> loc("jit(step)/transpose(attention)/k_w")
    %54 = stablehlo.dot_general %50, %wk, contracting_dims = [2] x [1] : (tensor<8x32x128xf32>, tensor<128x128xf32>) -> tensor<8x32x128xf32> loc("jit(step)/transpose(attention)/k_x")
    %55 = stablehlo.add %52, %54 : tensor<8x32x128xf32>
    %56 = stablehlo.dot_general %x, %39, contracting_dims = [0, 1] x [0, 1] : (tensor<8x32x128xf32>, tensor<8x32x128xf32>) -> tensor<128x128xf32> loc("jit(step)/transpose(attention)/v_w")
    %57 = stablehlo.dot_general %39, %wv, contracting_dims = [2] x [1] : (tensor<8x32x128xf32>, tensor<128x128xf32>) -> tensor<8x32x128xf32> loc("jit(step)/transpose(attention)/v_x")
    %58 = stablehlo.add %55, %57 : tensor<8x32x128xf32>
    %59 = stablehlo.add %58, %32 : tensor<8x32x128xf32>
    %60 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %61 = stablehlo.multiply %51, %60 : tensor<128x128xf32>
    %62 = stablehlo.subtract %wq, %61 : tensor<128x128xf32>
    %63 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %64 = stablehlo.multiply %53, %63 : tensor<128x128xf32>
    %65 = stablehlo.subtract %wk, %64 : tensor<128x128xf32>
    %66 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %67 = stablehlo.multiply %56, %66 : tensor<128x128xf32>
    %68 = stablehlo.subtract %wv, %67 : tensor<128x128xf32>
    %69 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %70 = stablehlo.multiply %33, %69 : tensor<128x128xf32>
    %71 = stablehlo.subtract %wo, %70 : tensor<128x128xf32>
    %72 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<128x1024xf32>
    %73 = stablehlo.multiply %30, %72 : tensor<128x1024xf32>
    %74 = stablehlo.subtract %w1, %73 : tensor<128x1024xf32>
    %75 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<1024x128xf32>
    %76 = stablehlo.multiply %26, %75 : tensor<1024x128xf32>
    %77 = stablehlo.subtract %w2, %76 : tensor<1024x128xf32>
    return %25, %62, %65, %68, %71, %74, %77, %59 : tensor<f32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x1024xf32>, tensor<1024x128xf32>, tensor<8x32x128xf32>
  }
}
