# A case that flow refuses is no time by flow, with the reason; the others still have theirs.
shardsim place --hierarchy 1024 --axes 1024 --reduce 0 --platform tpu-v4:8x8x16 --clock model,flow
shardsim place --hierarchy 1024 --axes 1024 --reduce 0 --platform tpu-v4:8x8x16 --clock flow,model --format json | tr ',' '\n' | grep -E 'flow|"message"'
shardsim place --with sim/tests/place_flow_large.yaml --hierarchy 2048 --platform tpu-v4:8x16x16 --clock model,flow
shardsim place --with sim/tests/place_flow_large.yaml --hierarchy 2048 --platform tpu-v4:8x16x16 --clock model,flow --format json | tr ',' '\n' | grep -E 'flow|"message"'
