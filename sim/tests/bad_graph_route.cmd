export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
# Five hosts in a line whose last hop is missing: the file is at fault for every clock.
{
	echo '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
	echo '<platform version="4.1"><zone id="z" routing="DijkstraCache">'
	for d in 0 1 2 3 4; do
		echo "<host id=\"h$d\" speed=\"1Gf\"><prop id=\"fabric\" value=\"net\"/>"
		echo '<prop id="domain" value="all"/><prop id="priority" value="0"/>'
		echo '<prop id="profile" value="nccl"/><prop id="geometry" value="graph"/>'
		echo '<prop id="memory_bytes" value="1e9"/><prop id="memory_Bps" value="0"/>'
		echo '<prop id="launch_s" value="0"/></host>'
		echo "<link id=\"l$d\" bandwidth=\"1GBps\" latency=\"2us\"/>"
	done
	for d in 0 1 2; do
		echo "<route src=\"h$d\" dst=\"h$((d + 1))\"><link_ctn id=\"l$d\"/></route>"
	done
	echo '</zone></platform>'
} >graph.xml
for clock in model fluid model,fluid; do
	shardsim simulate --array 'f32[15,25]' --mesh x=5 --from "P('x', None)" \
		--to "P(None, 'x')" --platform graph.xml --planner all --clock $clock
	status=$?
	echo $clock: $status
done
exit $status
