// Four layers in a loop, forward, backward in a second loop, a step down the gradient. Weights and
// batch are both split over "data" (FSDP): each weight is gathered once in either loop, each
// gradient summed and split again.
module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=8]>
  func.func public @main(%x0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w1: tensor<4x64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {}]>}, %w2: tensor<4x256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"data"}]>}) -> (tensor<4x64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {}]>}, tensor<4x256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"data"}]>}) {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %layers = stablehlo.constant dense<4> : tensor<i32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %rate = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %acts = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %zw1 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %zw2 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x256x64xf32>
    %f:5 = stablehlo.while(%i = %c0, %x = %x0, %as = %acts, %u1 = %w1, %u2 = %w2) : tensor<i32>, tensor<64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x256xf32>, tensor<4x256x64xf32> cond {
      %more = stablehlo.compare LT, %i, %layers, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %as23 = stablehlo.reshape %x : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
      %as2 = stablehlo.dynamic_update_slice %as, %as23, %i, %c0, %c0 : (tensor<4x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x64xf32>
      %a13 = stablehlo.dynamic_slice %u1, %i, %c0, %c0, sizes = [1, 64, 256] : (tensor<4x64x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x256xf32>
      %a1 = stablehlo.reshape %a13 : (tensor<1x64x256xf32>) -> tensor<64x256xf32>
      %a23 = stablehlo.dynamic_slice %u2, %i, %c0, %c0, sizes = [1, 256, 64] : (tensor<4x256x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x64xf32>
      %a2 = stablehlo.reshape %a23 : (tensor<1x256x64xf32>) -> tensor<256x64xf32>
      %up = stablehlo.dot_general %x, %a1, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32> loc("jit(step)/layer/up")
      %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
      %r = stablehlo.maximum %up, %z : tensor<64x256xf32>
      %down = stablehlo.dot_general %r, %a2, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32> loc("jit(step)/layer/down")
      %y = stablehlo.add %x, %down : tensor<64x64xf32>
      %i2 = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %i2, %y, %as2, %u1, %u2 : tensor<i32>, tensor<64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x256xf32>, tensor<4x256x64xf32>
    }
    %g:7 = stablehlo.while(%j = %c0, %d = %f#1, %bs = %f#2, %v1 = %w1, %v2 = %w2, %g1 = %zw1, %g2 = %zw2) : tensor<i32>, tensor<64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x256xf32>, tensor<4x256x64xf32>, tensor<4x64x256xf32>, tensor<4x256x64xf32> cond {
      %more = stablehlo.compare LT, %j, %layers, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %left = stablehlo.subtract %layers, %j : tensor<i32>
      %k = stablehlo.subtract %left, %c1 : tensor<i32>
      %x3 = stablehlo.dynamic_slice %bs, %k, %c0, %c0, sizes = [1, 64, 64] : (tensor<4x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
      %x = stablehlo.reshape %x3 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
      %b13 = stablehlo.dynamic_slice %v1, %k, %c0, %c0, sizes = [1, 64, 256] : (tensor<4x64x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x256xf32>
      %b1 = stablehlo.reshape %b13 : (tensor<1x64x256xf32>) -> tensor<64x256xf32>
      %b23 = stablehlo.dynamic_slice %v2, %k, %c0, %c0, sizes = [1, 256, 64] : (tensor<4x256x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x64xf32>
      %b2 = stablehlo.reshape %b23 : (tensor<1x256x64xf32>) -> tensor<256x64xf32>
      %up = stablehlo.dot_general %x, %b1, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32> loc("jit(step)/transpose(layer)/up_again")
      %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
      %r = stablehlo.maximum %up, %z : tensor<64x256xf32>
      %n2 = stablehlo.dot_general %r, %d, contracting_dims = [0] x [0] : (tensor<64x256xf32>, tensor<64x64xf32>) -> tensor<256x64xf32> loc("jit(step)/transpose(layer)/down_w")
      %dr = stablehlo.dot_general %d, %b2, contracting_dims = [1] x [1] : (tensor<64x64xf32>, tensor<256x64xf32>) -> tensor<64x256xf32> loc("jit(step)/transpose(layer)/down_x")
      %gt = stablehlo.compare GT, %up, %z, FLOAT : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xi1>
      %du = stablehlo.select %gt, %dr, %z : tensor<64x256xi1>, tensor<64x256xf32>
      %n1 = stablehlo.dot_general %x, %du, contracting_dims = [0] x [0] : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32> loc("jit(step)/transpose(layer)/up_w")
      %dx = stablehlo.dot_general %du, %b1, contracting_dims = [1] x [1] : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x64xf32> loc("jit(step)/transpose(layer)/up_x")
      %e = stablehlo.add %d, %dx : tensor<64x64xf32>
      %h13 = stablehlo.reshape %n1 : (tensor<64x256xf32>) -> tensor<1x64x256xf32>
      %h1 = stablehlo.dynamic_update_slice %g1, %h13, %k, %c0, %c0 : (tensor<4x64x256xf32>, tensor<1x64x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x256xf32>
      %h23 = stablehlo.reshape %n2 : (tensor<256x64xf32>) -> tensor<1x256x64xf32>
      %h2 = stablehlo.dynamic_update_slice %g2, %h23, %k, %c0, %c0 : (tensor<4x256x64xf32>, tensor<1x256x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x256x64xf32>
      %j2 = stablehlo.add %j, %c1 : tensor<i32>
      stablehlo.return %j2, %e, %bs, %v1, %v2, %h1, %h2 : tensor<i32>, tensor<64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x256xf32>, tensor<4x256x64xf32>, tensor<4x64x256xf32>, tensor<4x256x64xf32>
    }
    %s1 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %t1 = stablehlo.multiply %g#5, %s1 : tensor<4x64x256xf32>
    %o1 = stablehlo.subtract %w1, %t1 : tensor<4x64x256xf32>
    %s2 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<4x256x64xf32>
    %t2 = stablehlo.multiply %g#6, %s2 : tensor<4x256x64xf32>
    %o2 = stablehlo.subtract %w2, %t2 : tensor<4x256x64xf32>
    return %o1, %o2 : tensor<4x64x256xf32>, tensor<4x256x64xf32>
  }
}
