shardsim plan --array 'f32[64,64]' --from "P('x', None)" --to "P(None, 'y')"
