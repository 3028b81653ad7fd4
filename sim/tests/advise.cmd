# The example of models/README.md, "Advice": 16 GiB on 256 chips. XLA gathers all of it; by
# way of columns over all chips it does what best does, an all-to-all and an all-gather.
shardsim advise --array 'bf16[65536,131072]' --platform tpu-v5p:4x8x8 \
	--from '{devices=[256,1]<=[256]}' \
	--to '{devices=[1,64,4]<=[256] last_tile_dim_replicate}'
# In bytes, by hand: 2 * 48 * 40 = 3,840 B, of which XLA gathers 3/4; over x and y a tile
# is 480 B, and each device receives the three others of its column.
shardsim advise --array 'bf16[48,40]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P(None, 'y')"
# Parts of an axis: JAX needs a mesh of them, DTensor has none.
shardsim advise --array 'f32[64,64]' --mesh x=8 --from '[{"x"}, {}]' \
	--to '[{}, {"x":(1)4}]' --platform tpu-v4:2x2x2 | sed -n '/^advice/,$p'
# An all-to-all is all there is to do.
shardsim advise --array 'f32[64,64]' --mesh x=8 --from "P('x')" --to "P(None, 'x')" \
	--compiler shardy --platform dgx-h100:1
# XLA's copy of all does not fit; with a layout between it does.
shardsim advise --array 'bf16[48,40]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P(None, 'y')" --memory-limit 3KiB | sed -n '/alone/p; /^  [0-9]/p'
# Between different devices no compiler reshards.
shardsim advise --array 'f32[8,8]' --mesh x=4 --to-mesh y=4 --to-devices 4-7 \
	--from "P('x')" --to "P('y')" | tail -n 3
# The same as an object: 3/4 of 48x20 numbers of 2 bytes, of XLA alone 3/4 of 48x40.
shardsim advise --format json --array 'bf16[48,40]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P(None, 'y')" --platform dgx-a100:1 | python3 -c '
import json, sys
a = json.load(sys.stdin)
print(a["compiler"], a["chain"], a["recv_bytes"], a["without_recv_bytes"], a["best_recv_bytes"])
print(a["time_s"] < a["without_s"], a["time_s"] == a["best_s"])
print(*[c["chain"] for c in a["chains"]], *[h["plan"] for h in a["hops"]], sep="\n")
print(a["text"]["jax"], a["text_missing"]["jax"])
'
