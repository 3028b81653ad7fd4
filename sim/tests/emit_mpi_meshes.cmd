# A broadcast between two meshes as a schedule: chips relay what one has to the others, in rounds
# of which each is a step, and a pad makes the tiles. The first chip sends what is in its tile
# (-1), others what they hold beside theirs.
broadcast() {
	shardsim plan --array 'f32[8192,512]' --mesh x=1 --from "P()" --to-mesh y=4 --to "P()" \
		--devices 0 --to-devices 0-3 --platform 'tpu-v5e:2x2{scheduled=1}' --planner direct --emit $1
}
broadcast mpi | sed -n 's/.*op = \([A-Z]*\), \.nboxes = \([0-9]*\).*/\1 of \2 boxes/p; s/.*op = \(PAD\).*/\1/p'
broadcast mpi | sed -n 's/^\t{\([0-9]\), \([0-9]\), \(-\{0,1\}\)[0-9]*, {.*/\1 to \2 \3/p' |
	sed 's/ -/ from its tile/; s/ $/ held/' | sort | uniq -c
# GOAL has the messages as the clocks see them, relays and all.
broadcast goal | awk '/^rank/ {r = $2} /send/ {sum[r " to " $5] += $3} END {for (p in sum) print p, sum[p]}' | sort
