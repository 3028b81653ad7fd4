# A file of another SimGrid program, as its manual has them. By hand: hosts of
# 125 MB/s, 50 us up and 50 us down, gather 6 MB from one other, 48.1 ms, then 12 MB from
# another, 96.1 ms. What is assumed of the file is said on standard error.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >mycluster.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="bob" prefix="node-" suffix=".simgrid.org" radical="0-99" speed="1Gf"
           bw="125MBps" lat="50us"/>
</platform>
END
shardsim simulate --array 'u8[24000000]' --mesh x=4 --from "P('x')" --to 'P()' \
	--platform mycluster.xml --clock model,fluid,simgrid
