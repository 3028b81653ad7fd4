# A program that times a collective needs no machine; sizes are cut to whole elements when
# it runs, by the number of ranks that it then has.
shardsim perf all-gather -b 1K -e 16K -f 4 --emit mpi | grep -A 12 '^/\* shardsim'
try() {
	shardsim perf "$@" 2>&1 | grep -v '^Try'
	shardsim perf "$@" >"$TMPDIR/out" 2>/dev/null
	echo "status $?, $(wc -c <"$TMPDIR/out") bytes"
}
try all-gather --emit goal
try scatter --emit mpi
try all-gather --emit mpi -o "$TMPDIR/nowhere/bench.c" | sed "s|$TMPDIR|.|"
try all-gather --emit mpi --measured platforms/measured.csv
try all-gather --emit mpi -b 2K -e 1K
# With one, the table is printed beside the file.
shardsim perf all-gather --platform dgx-a100:1 -b 1M -e 1M --emit mpi -o "$TMPDIR/bench.c" |
	tail -n 1
grep -c MPI_Allgather "$TMPDIR/bench.c"
