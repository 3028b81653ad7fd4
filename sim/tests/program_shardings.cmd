# Shardings handed on from those that are given: a step of ours, and one with a call.
shardsim program scenarios/programs/mlp-sharded.mlir --report shardings
shardsim program scenarios/programs/mlp.mlir --report shardings --rows 2
