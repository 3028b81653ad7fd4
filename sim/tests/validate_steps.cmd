# Published training steps against step: of a table, and what is wrong with others.
shardsim validate sim/tests/steps.csv
shardsim validate sim/tests/steps.csv --format csv
exec 2>&1
ln -s "$PWD/scenarios" "$TMPDIR/scenarios"
for change in 's/,11.72,/,-1,/;s/,1.42,/,none,/' 's/dgx-a100:1,tensor=8/,tensor=8/' \
	's/tensor=8/tensors=8/' 's/tensor=8/tensor=7/' 's/,full,/,all,/' 's/megatron-22b/no_model/' \
	's/measured_s/seconds/' 's/zero/xero/' 's/,bf16,eager/,bf17,eager/' 's/data=8,expert=8/data=8,data=8/' \
	's/dgx-a100:1,tensor=8/dgx-a10:1,tensor=8/' \
	's/,yes$/,si/' 's/dgx-a100:1,tensor=8/dgx-a100:1,tensor=16/' 's/,math,1,,/,math,1,3,/'; do
	sed "$change;s|../../scenarios|scenarios|" sim/tests/steps.csv >"$TMPDIR/steps.csv"
	shardsim validate "$TMPDIR/steps.csv" 2>&1 | grep -v '^|' | sed "s|$TMPDIR/||"
done
shardsim validate sim/tests/steps.csv --platform dgx-h100:1
shardsim validate sim/tests/steps.csv sim/tests/steps.csv
