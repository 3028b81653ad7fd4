# A rate without a unit is an error where its name says what it is, too.
shardsim simulate --array 'f32[64]' --mesh x=4 --from "P('x')" --to 'P()' --platform dgx-h100:1 \
	--set memory_Bps=10
