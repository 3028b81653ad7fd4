export SHARDSIM_DATA="$PWD/platforms"
top=$PWD
cd "$TMPDIR" || exit 9
printf '\177ELF\002\001\000\377\376<platform>' >garbage.xml
shardsim simulate --array 'f32[64,64]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P(None, 'y')" --platform garbage.xml --clock model,fluid
