# What a module says in its head of how many devices run it, and the mesh of its shardings: of fewer
# devices that is told and those are taken; of more it is wrong; where nothing is said the mesh counts.
exec 2>&1
cd "$TMPDIR" || exit 9
run() {
	printf 'HloModule m%s\nENTRY e {\n p = f32[16,16] parameter(0), sharding={devices=[%s,1]<=[%s]}\n ROOT n = f32[16,16] negate(p)\n}\n' \
		"$1" "$2" "$2" >m.hlo
	shardsim program m.hlo | head -n 1
}
run ', num_partitions=8' 8
run ', num_partitions=8' 4
run ', num_partitions=8' 16
run '' 4
run ', replica_count=2, num_partitions=4' 4
cat >m.mlir <<'END'
module @m attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
    return %arg0 : tensor<16xf32>
  }
}
END
shardsim program m.mlir --format json | grep -A 1 -e '"devices"' -e warnings
