export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
# Eight hosts on a backbone that only SimGrid knows. Of an all-gather of two devices a
# million bytes each way share it: 2 ms at 1 GB/s, and 3 us over two ports and it.
{
	echo '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
	echo '<platform version="4.1"><cluster id="c" prefix="h" suffix="" radical="0-7"'
	echo 'speed="1Gf" bw="1GBps" lat="1us" bb_bw="1GBps" bb_lat="1us">'
	echo '<prop id="fabric" value="net"/><prop id="domain" value="all"/>'
	echo '<prop id="priority" value="0"/><prop id="profile" value="plain"/>'
	echo '<prop id="geometry" value="graph"/><prop id="memory_bytes" value="1e9"/>'
	echo '<prop id="memory_Bps" value="0"/><prop id="launch_s" value="0"/>'
	echo '</cluster></platform>'
} >backbone.xml
shardsim simulate --array 'u8[2000000]' --mesh x=2 --from "P('x')" --to 'P()' \
	--platform backbone.xml --clock model,fluid,flow
