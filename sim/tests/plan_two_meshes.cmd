# Tiles of 32 MiB on both sides; device 2 x + y has the rows of x and wants the columns of
# its number mod 4, of which it has a quarter: 24 MiB are lacking. synth slices to 16 MiB,
# exchanges 3/4 of that among 4 (12 MiB), doubles it (16 MiB): 28 MiB.
shardsim plan --array 'bf16[8192,8192]' --mesh x=4,y=2 --to-mesh a=2,b=4 \
	--from "P('x', None)" --to "P(None, 'b')" --planner gather,synth
