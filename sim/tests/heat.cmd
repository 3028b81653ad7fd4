# HeAT's resplit on three ranks, whose tiles of 10 rows are 4, 4 and 2, and of 7 columns 3, 3, 1: who
# sends how much to whom, from rows to columns, to whole arrays, and back without traffic.
for ends in "P('split', None):P(None, 'split')" "P('split', None):P()" "P():P(None, 'split')"; do
	shardsim plan --array 'f64[10,7]' --mesh split=3 --from "${ends%:*}" --to "${ends#*:}" \
		--planner direct --messages
done
