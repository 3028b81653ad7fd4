# Two logs and standard input. The first warning is there three times, once in another
# spelling; one is of a manual region, two groups of four; one is an all-to-all, for which no
# XLA rematerializes; one tells no array, and the two of standard input are cut off.
p='[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding'
cat >"$TMPDIR/one" <<END
W1015 18:20:08.668874 a.cc:645] $p {devices=[2,1,4]<=[8] last_tile_dim_replicate} to {devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate} efficiently for HLO operation %param = f32[4800,9600]{1,0} parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}, metadata={op_name="x"}. As the last resort, SPMD will replicate the tensor.
I1015 18:20:09.000000 step = f32[3]
W1015 18:20:08.668874 a.cc:645] $p {devices=[2,1,4]<=[8] last_tile_dim_replicate} to {devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate} efficiently for HLO operation %param = f32[4800,9600]{1,0} parameter(0).
END
cat >"$TMPDIR/two" <<END
W1015 18:20:08.668874 a.cc:645] $p {devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate} to {devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate} efficiently for HLO operation %q = f32[4800,9600]{1,0} parameter(0).
W1015 18:20:08.668874 a.cc:645] $p {devices=[4,1,2]<=[8] last_tile_dims={manual}} to {devices=[1,2,2,2]<=[8] last_tile_dims={replicated, manual}} efficiently for HLO operation %r = bf16[1024,8192]{1,0} parameter(0).
W1015 18:20:08.668874 a.cc:645] $p {devices=[8,1]<=[8]} to {devices=[1,8]<=[8]} efficiently for HLO operation %s = bf16[1024,8192]{1,0} parameter(0).
W1015 18:20:08.668874 a.cc:645] $p {devices=[2,2]<=[4]} to {devices=[4,1]<=[2,2]T(1,0)} without doing a full rematerialization of the tensor.
END
shardsim advise "$TMPDIR/one" "$TMPDIR/two" - --platform 'dgx-h100:{n}' --top 2 <<END | sed "s|$TMPDIR|.|"
$p {devices=[2,1,4]<=[8] last_tile_dim_rep
$p
END
# What the last warning lacks is given here, for it alone.
shardsim advise --xla-warning "@$TMPDIR/two" --array 'f32[8,8]' --top 0
# A text with one warning is one problem.
shardsim advise --xla-warning - <<END | head -n 5
$p {devices=[4,1,2]<=[8] last_tile_dims={manual}} to {devices=[1,4,2]<=[8] last_tile_dims={manual}} for %r = bf16[16,64] add(
END
# plan takes the first one and says that there are others.
shardsim plan --xla-warning "@$TMPDIR/two" | grep '^note'
# None at all is misuse, and so are options that fit no warning, and one array for several.
{
	echo 'nothing here' | shardsim advise -
	shardsim advise "$TMPDIR/one" --mesh x=4
	sed -n 1,3p "$TMPDIR/two" | shardsim advise - --array 'f32[64,64]'
} 2>&1 | sed "s|$TMPDIR|.|" | grep -v '^ .*\^'
# Where all tell the same array another one is taken for all of them.
shardsim advise "$TMPDIR/one" --array 'f32[64,64]' --top 0 | grep f32
# A warning of a compiler that gathers everything where no XLA of ours does is priced as that,
# and layouts between help it: of f32[64,64] on eight devices each receives 7/8 of 16 KiB; by
# two all-to-alls, over two and over four, 1/2 and 3/4 of its tile of 2 KiB.
shardsim advise - --top 1 <<END | grep -v '^note: the warning names'
$p {devices=[4,2]<=[8]} to {devices=[2,4]<=[8]} for %r = f32[16,32] add(
END
# A log of which no warning can be read is bad input: the first fault is told, and the status is 2.
for lines in 1 2; do
	head -n $lines <<END | shardsim advise - --platform dgx-h100:1 2>&1
$p {devices=[2,1,4]<=[8] last_tile_dim_rep
$p
END
	echo $?
done
