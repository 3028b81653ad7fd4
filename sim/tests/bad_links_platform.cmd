shardsim plan --array 'f32[8,8]' --mesh x=4 --from "P('x')" --to "P(None, 'x')" --links
