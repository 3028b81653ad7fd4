shardsim plan --array 'f32[64,64' --mesh x=4,y=2 --from 'P()' --to 'P()'
