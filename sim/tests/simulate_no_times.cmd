# Nodes without a network between them: the plan is shown, its times are not.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
shardsim platform dgx-a100:2 | sed '/<cluster id="net"/,/<.cluster>/d' >apart.xml
shardsim simulate --array 'f32[64,64]' --mesh x=4,y=4 --from "P('x', None)" \
	--to "P(None, 'y')" --platform ./apart.xml
