shardsim plan --array 'f32[7,8]' --mesh 'x=2,y=2' --from "P('x', 'y')" --to "P('y', 'x')" --planner direct --emit jax-p2p
