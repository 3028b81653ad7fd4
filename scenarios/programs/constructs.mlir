module @jit_constructs attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
  sdy.mesh @one = <[], device_ids=[3]>
  func.func public @main(%arg0: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}, %arg1: tensor<16x4xbf16>, %arg2: tensor<i32>, %arg3: tensor<2x5x6x4xf32>, %arg4: tensor<3x3x2x8xf32>, %arg5: tensor<8x1xi32>) -> (tensor<8x16xf32> {jax.result_info = ""}, tensor<f32>) {
    // Loops whose regions use what is around them.
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_3 = %arg0) : tensor<i32>, tensor<8x16xf32>
     cond {
      %60 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %60 : tensor<i1>
    } do {
      %60 = func.call @scale(%iterArg_3) : (tensor<8x16xf32>) -> tensor<8x16xf32>
      %61 = stablehlo.add %60, %arg0 : tensor<8x16xf32>
      %62 = stablehlo.add %iterArg, %c_1 : tensor<i32>
      stablehlo.return %62, %61 : tensor<i32>, tensor<8x16xf32>
    }
    %1 = "stablehlo.case"(%arg2) ({
      stablehlo.return %0#1 : tensor<8x16xf32>
    }, {
      %60 = stablehlo.tanh %0#1 : tensor<8x16xf32>
      stablehlo.return %60 : tensor<8x16xf32>
    }) : (tensor<i32>) -> tensor<8x16xf32>
    %2 = stablehlo.convert %arg1 : (tensor<16x4xbf16>) -> tensor<16x4xf32>
    %3 = stablehlo.dot %1, %2 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %4 = "stablehlo.dot_general"(%1, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8xf32>
    %5 = stablehlo.convolution(%arg3, %arg4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x6x4xf32>, tensor<3x3x2x8xf32>) -> tensor<2x3x6x8xf32>
    %6 = "stablehlo.reduce_window"(%5, %cst) <{padding = dense<[[0, 0], [1, 0], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 1, 2, 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %60 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %60 : tensor<f32>
    }) : (tensor<2x3x6x8xf32>, tensor<f32>) -> tensor<2x3x3x8xf32>
    %7 = stablehlo.reduce(%6 init: %cst) across dimensions = [0, 1, 2, 3] : (tensor<2x3x3x8xf32>, tensor<f32>) -> tensor<f32>
     reducer(%arg6: tensor<f32>, %arg7: tensor<f32>)  {
      %60 = stablehlo.maximum %arg6, %arg7 : tensor<f32>
      stablehlo.return %60 : tensor<f32>
    }
    %8 = "stablehlo.gather"(%1, %arg5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<8x16xf32>, tensor<8x1xi32>) -> tensor<8x16xf32>
    %9 = "stablehlo.scatter"(%1, %arg5, %8) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %60 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %60 : tensor<f32>
    }) : (tensor<8x16xf32>, tensor<8x1xi32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %10 = stablehlo.iota dim = 1 : tensor<8x16xi32>
    %11:2 = "stablehlo.sort"(%9, %10) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>, %arg8: tensor<i32>, %arg9: tensor<i32>):
      %60 = stablehlo.compare LT, %arg6, %arg7, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %60 : tensor<i1>
    }) : (tensor<8x16xf32>, tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xi32>)
    %12 = stablehlo.slice %11#0 [0:4, 1:9:2] : (tensor<8x16xf32>) -> tensor<4x4xf32>
    %13 = stablehlo.dynamic_slice %11#0, %c, %c, sizes = [4, 4] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
    %14 = stablehlo.dynamic_update_slice %11#0, %12, %c, %c_1 : (tensor<8x16xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    %15 = stablehlo.pad %14, %cst, low = [1, -1], high = [1, 10], interior = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<10x40xf32>
    %16 = stablehlo.transpose %15, dims = [1, 0] : (tensor<10x40xf32>) -> tensor<40x10xf32>
    %17 = stablehlo.reverse %16, dims = [0] : tensor<40x10xf32>
    %18 = stablehlo.concatenate %16, %17, dim = 0 : (tensor<40x10xf32>, tensor<40x10xf32>) -> tensor<80x10xf32>
    %19 = stablehlo.reshape %18 : (tensor<80x10xf32>) -> tensor<800xf32>
    %20:2 = stablehlo.optimization_barrier %19, %cst : tensor<800xf32>, tensor<f32>
    %21 = stablehlo.reduce_precision %20#0, format = e8m7 : tensor<800xf32>
    %22 = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
    %23, %24 = stablehlo.rng_bit_generator %22, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x16xui32>)
    %25 = stablehlo.custom_call @Sharding(%14) {backend_config = "", mhlo.sharding = "{devices=[1,4]<=[4]}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %26 = stablehlo.custom_call @my_kernel(%25) {api_version = 4 : i32, backend_config = {a = "}", b = 3 : i64}} : (tensor<8x16xf32>) -> tensor<8x16xf32> loc("kernel"("k.py":7:1))
    %27 = sdy.manual_computation(%26) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%arg6: tensor<4x8xf32>) {
      %70 = "stablehlo.all_gather"(%arg6) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
      %71 = "stablehlo.all_reduce"(%70) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %74 = stablehlo.add %arg7, %arg8 : tensor<f32>
        stablehlo.return %74 : tensor<f32>
      }) : (tensor<4x16xf32>) -> tensor<4x16xf32>
      %72 = "stablehlo.collective_permute"(%71) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
      %73 = "stablehlo.all_to_all"(%72) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
      sdy.return %73 : tensor<4x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %28 = sdy.named_computation<"block">(%27) (%arg6: tensor<8x16xf32>) {
      %60 = stablehlo.exponential %arg6 : tensor<8x16xf32>
      sdy.return %60 : tensor<8x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %29 = sdy.reshard %28 <@mesh, [{"x", "y"}, {?}]> : tensor<8x16xf32>
    %30 = sdy.propagation_barrier %29 allowed_direction=FORWARD : tensor<8x16xf32>
    sdy.sharding_group %30 group_id=0 : tensor<8x16xf32>
    %31 = sdy.all_gather [{"x"}, {}] %30 out_sharding=<@mesh, [{"y"}, {?}]> : tensor<8x16xf32>
    %32 = stablehlo.tuple %31, %7 : tuple<tensor<8x16xf32>, tensor<f32>>
    %33 = stablehlo.get_tuple_element %32[0] : (tuple<tensor<8x16xf32>, tensor<f32>>) -> tensor<8x16xf32>
    %34 = stablehlo.clamp %cst, %33, %7 : (tensor<f32>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
    %35 = "chlo.frobnicate"(%34) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %35, %7 : tensor<8x16xf32>, tensor<f32>
  }
  func.func private @scale(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
}
