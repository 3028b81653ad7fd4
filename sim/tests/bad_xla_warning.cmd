shardsim plan --xla-warning 'go from sharding {replicated} to {devices=[3]<=[3]} without'
shardsim plan --xla-warning 'go from sharding {devices=[3,1]<=[3]} to {replicated} for %p = f32[9] add('
shardsim plan --xla-warning 'go from sharding {replicated to {devices=[3]<=[3]}'
shardsim plan --xla-warning 'go from sharding {replicated} to {devices=[3,1]<=[3]} for %p = f32[9] add('
shardsim plan --xla-warning 'from here' --from 'P()'
shardsim plan --xla-warning @/nowhere/log
