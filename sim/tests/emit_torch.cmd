shardsim plan --array 'f32[16,8]' --mesh 'x=2,y=4' --from "P('x', 'y')" --to "P('y')" --planner shardy --emit torch
shardsim plan --array 'bf16[8192,10]' --mesh '<["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>' --from "P('x', None, unreduced={'y'})" --to "P(None, 'x')" --planner best-portable --emit torch
shardsim plan --array 'f32[10]' --mesh 'x=4' --from "P('x')" --to "P()" --planner direct --emit torch || echo "exit $?"
