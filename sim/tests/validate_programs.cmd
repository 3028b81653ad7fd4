# Measured programs against program: of a table by hand, of what ships, and what is wrong with others.
shardsim validate sim/tests/programs.csv
shardsim validate sim/tests/programs.csv --format csv
shardsim validate sim/tests/programs.csv --programs scenarios/programs --format json | grep -A24 mlp.mlir
# The text of a program beside kernels that are not its own.
cp sim/tests/programs.csv sim/tests/programs-kernels.csv "$TMPDIR"
cp scenarios/programs/mlp.mlir "$TMPDIR/passes.hlo"
shardsim validate "$TMPDIR/programs.csv" | sed -n 3,8p
rm "$TMPDIR/passes.hlo"
shardsim validate platforms/program-times.csv | sed -n '3,32p'
shardsim program scenarios/programs/mlp.mlir --partitioner as-is --report kernels
exec 2>&1
for change in 's/,0.0106,/,-1,/' 's/,training,1,/,training,1.5,/' 's/^passes.hlo,/,/' 's/mi355x:1/mi356x:1/' \
	's/measured_s/seconds/' 's/outlier/outlyer/'; do
	sed "$change" sim/tests/programs.csv >"$TMPDIR/programs.csv"
	shardsim validate "$TMPDIR/programs.csv" 2>&1 | grep -v '^|' | sed "s|$TMPDIR/||"
done
cp sim/tests/programs.csv "$TMPDIR"
for change in 's/memory/memories/' 's/,f32,/,f33,/' 's/,f32,/,,/' 's/48e6/-48e6/' 's/48e6/1e999/' 's/flops/flop/'; do
	sed "$change" sim/tests/programs-kernels.csv >"$TMPDIR/programs-kernels.csv"
	shardsim validate "$TMPDIR/programs.csv" 2>&1 | grep -v '^|' | sed "s|$TMPDIR/||"
done
shardsim validate sim/tests/programs.csv --platform dgx-h100:1
shardsim validate sim/tests/steps.csv --programs .
shardsim validate sim/tests/programs.csv --programs no/such/folder
