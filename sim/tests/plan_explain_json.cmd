# What plan --explain says, as an object: 1440 B are lacked and received, by xla too.
shardsim plan --explain --format json --array 'bf16[48,40]' --mesh x=4,y=2 \
	--from "P('x', None)" --to "P(None, 'y')" --platform dgx-a100:1 | python3 -c '
import json, sys
e = json.load(sys.stdin)["explanation"]
print(*e["moves"], sep="\n")
print(e["baseline"], e["clock"], len(e["costs"]), len(e["rules"]))
for cost in e["costs"]:
    print(cost["planner"], cost["status"], cost["recv_bytes"], cost["time_s"] is None)
print(*e["instead"][:2], sep="\n")
'
