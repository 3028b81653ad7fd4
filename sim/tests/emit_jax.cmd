shardsim plan --array 'f32[16,8]' --mesh 'x=2,y=4' --from "P('x', 'y')" --to "P('y')" --planner shardy --emit jax
shardsim plan --array 'bf16[8192,10]' --mesh '<["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>' --from "P('x', None, unreduced={'y'})" --to "P(None, 'x')" --planner best-portable --emit jax
shardsim plan --array 'f32[12]' --mesh "<[\"it's\"=2]>" --from "[{\"it's\"}]" --to 'P()' --planner synth --emit jax | grep Mesh
