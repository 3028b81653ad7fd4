shardsim plan --array 'f32[16,8]' --mesh 'x=2,y=4' --from "P('x', 'y')" --to "P('y')" --planner shardy --emit torch-p2p
shardsim plan --array 'f32[10]' --mesh 'x=4' --to-mesh 'z=2' --devices 0-3 --to-devices 4,5 --from "P('x')" --to "P('z')" --planner direct --emit torch-p2p
