shardsim plan --array 'f32[16,8]' --mesh 'x=2,y=4' --from "P('x', 'y')" --to "P('y')" --planner shardy --emit sdy
shardsim plan --array 'f32[10,8]' --mesh 'x=4' --from "P('x')" --to "P(None, 'x')" --planner shardy --emit sdy
