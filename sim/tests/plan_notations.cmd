# One layout in five notations: the plans are the same to the byte. Numbers: plan_remat.
plan() {
	shardsim plan --array 'bf16[8192,8192]' --mesh x=4,y=2 --from "$1" --to "$2" \
		--planner synth,xla-2021
}
plan "P('x', None)" "P(None, 'y')" | tee "$TMPDIR/jax"
same() {
	plan "$1" "$2" | cmp - "$TMPDIR/jax" && echo "same: $1 -> $2"
}
same "PartitionSpec('x',)" "P(None, ('y',))"
same '{devices=[4,1,2]<=[8] last_tile_dim_replicate}' \
	'{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}'
same '{devices=[4,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}' \
	'{devices=[1,2,4]0,2,4,6,1,3,5,7 last_tile_dim_replicate}'
same '[{"x"}, {}]' '[{}, {"y"}]'
same '#sdy.sharding<@mesh, [{"x"}, {?}]>' '#sdy.sharding<@mesh, [{}, {"y"}p1]>'
same '[Shard(0), Replicate()]' '[Replicate(), Shard(1)]'
same 'S(0)R' 'RS(1)'
same '[2048{x}8192, 8192{}8192]' '[8192{}8192, 4096{y}8192]'
