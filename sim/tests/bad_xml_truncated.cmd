export SHARDSIM_DATA="$PWD/platforms"
top=$PWD
cd "$TMPDIR" || exit 9
head -n 12 "$top/platforms/tpu-v4_4x4x4.xml" >half.xml
shardsim simulate --array 'f32[64,64]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P(None, 'y')" --platform half.xml --clock model,fluid
