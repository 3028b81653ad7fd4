shardsim plan --array 'f32[16,8]' --mesh 'x=2,y=4' --from "P('x', 'y')" --to "P('y')" --planner shardy --emit dtensor
shardsim plan --array 'f32[16,8]' --mesh 'x=2,y=4' --from "P('x', 'y')" --to "P('y')" --planner synth --platform dgx-h100:1 --emit dtensor
