# Three devices of eight have no element of the five: of tiles of one row. With a second
# axis of two, twice as many. Tiles of two: three of the four have some, 2 + 2 + 1.
shardsim plan --array 'f32[5,4]' --mesh x=8 --from "P('x')" --to "P()" --planner direct
shardsim plan --array 'f32[5,4]' --mesh x=8,y=2 --from "P()" --to "P('x')" --planner direct |
	head -n 3
shardsim plan --array 'f32[5,4]' --mesh x=4 --from "P('x')" --to "P('x')" --planner direct \
	--format json | python3 -c 'import json, sys; print(json.load(sys.stdin)["notes"])'
# All have some: nothing is said.
shardsim plan --array 'f32[7,4]' --mesh x=4 --from "P('x')" --to "P()" --planner direct \
	--format json | grep -c notes || true
