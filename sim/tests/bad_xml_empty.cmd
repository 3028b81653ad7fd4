export SHARDSIM_DATA="$PWD/platforms"
top=$PWD
cd "$TMPDIR" || exit 9
: >empty.xml
shardsim simulate --array 'f32[64,64]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P(None, 'y')" --platform empty.xml --clock model,fluid
