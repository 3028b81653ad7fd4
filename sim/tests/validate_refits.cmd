# Refits of weights against moves: of a table, and what is wrong with others.
shardsim validate sim/tests/refits.csv
shardsim validate sim/tests/refits.csv --format csv
exec 2>&1
for change in 's/0.02/-1/' 's/dgx-h100:2,,u8/,,u8/' 's/direct/straight/' 's/data=1,data=1,0/data=1,tp=1,0/' \
	's/u8\[1000000000\]//' 's/move_model/no_model/' 's/measured_s/seconds/' \
	's/to_devices/to_device/' 's/data=1,0,8/data=1,8,8/' 's/sends,another/se\x00nds/'; do
	sed "$change" sim/tests/refits.csv >"$TMPDIR/refits.csv"
	cp sim/tests/move_model.yaml "$TMPDIR"
	shardsim validate "$TMPDIR/refits.csv" 2>&1 | sed "s|$TMPDIR/||"
done
shardsim validate sim/tests/refits.csv --platform dgx-h100:1
