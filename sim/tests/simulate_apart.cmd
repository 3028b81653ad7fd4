# Two nodes without a network: an answer, for all devices; inside a node there is a plan.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
shardsim platform dgx-a100:2 | sed '/<cluster id="net"/,/<\/cluster>/d' >apart.xml
for mesh in x=16 x=8; do
	shardsim simulate --array 'u8[48,48]' --mesh $mesh --from "P('x', None)" \
		--to "P(None, 'x')" --planner gather,synth,xla-2021,best,direct \
		--platform apart.xml --clock model,fluid | grep -v '^  '
	echo
done
shardsim simulate --array 'u8[48,48]' --mesh x=3 --from "P('x', None)" \
	--to "P(None, 'x')" --devices 9,15,2 --platform apart.xml | grep -v '^  '
