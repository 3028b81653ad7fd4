# 48x40 numbers of 2 bytes: a row tile is 960 B, a column tile 1,920 B, all of it 3,840 B.
# XLA gathers 3 row tiles. best needs 36 rows of 20 columns, 1,440 B, half of that; it
# holds 960 + 1,920 B where XLA holds 960 + 3,840 + 1,920 B.
shardsim plan --explain --array 'bf16[48,40]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P(None, 'y')" --planner xla-2021
# Where nothing is to be done, nothing is.
shardsim plan --explain --array 'bf16[48,40]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P('x', None)" | sed -n '/^what/,/^$/p' | grep -v -e '960 B'
