# The wording of 2025. What XLA prints is a shard, 48x96, of two and one tiles: 96x96.
cat >"$TMPDIR/log" <<'END'
I1015 18:20:08.000000 something else
W1015 18:20:08.668874 spmd_partitioner.cc:645] [SPMD] Involuntary full rematerialization. The compiler cannot go from sharding {devices=[2,1,4]<=[8] last_tile_dim_replicate} to {devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate} efficiently for HLO operation %param = f32[48,96]{1,0} parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}, metadata={op_name="x"}. As the last resort, SPMD will replicate the tensor and then partition it to obtain the target sharding.
END
shardsim plan --explain --xla-warning "@$TMPDIR/log" | sed -n '1p; /^note/p; /^what/,/^$/p'
# Before 2024-08 it tells no shape.
shardsim plan --array 'f32[96,96]' --planner xla --xla-warning - <<'END'
2022-09-16 03:44:56: E spmd_partitioner.cc:509] [spmd] Involuntary full rematerialization.
The compiled was not able to go from sharding {devices=[4,1]0,1,2,3} to
{devices=[2,2]0,1,2,3} without doing a full rematerialization of the tensor.
END
# Neither rematerializes: two all-to-alls' worth of bytes, without a gather.
shardsim plan --array 'f32[64,64]' --planner xla,xla-2021 --format json --xla-warning - <<'END' | tr '"' '\n' | grep -e '^neither' -e '^full_rem'
[SPMD] Involuntary full rematerialization. The compiler was not able to go from sharding {devices=[4,2]<=[8]} to {devices=[2,4]<=[8]} without doing a full rematerialization of the tensor for HLO operation: %d = f32[64,64]{1,0} add(%a, %b).
END
