{
	echo 'sdy.mesh @mesh = <["x"=2]>'
	echo 'func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) {'
	echo ' return'
	echo '}'
} >"$TMPDIR/bad.mlir"
shardsim program "$TMPDIR/bad.mlir" --report shardings 2>&1 | sed "s,$TMPDIR/,,"
shardsim program scenarios/programs/mlp.mlir --report shardings --format json
