# 14 rows: on 4 devices tiles of 4 rows, on 8 of 2 rows, 16 rows both ways. The gather adds
# 2 rows of 8 numbers of 4 bytes, 64 B. 13 rows are 16 on 4 devices, but 14 on 2: XLA moves
# tiles of 4 rows of 28 B, then one row back, gathers two tiles and cuts 8 rows to 7.
shardsim plan --array 'f32[14,8]' --mesh x=4,y=2 --from "P(('x', 'y'), None)" \
	--to "P('x', None)"
shardsim plan --array 'f32[13,7]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P('y', None)" --planner gather,synth,synth-rewrite,xla-2021 | sed 's/ (.*//'
