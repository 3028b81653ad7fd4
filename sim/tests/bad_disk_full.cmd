# Also where argp ends the program.
for command in 'help plan' 'plan --help' '--version' 'list planners'; do
	shardsim $command >/dev/full
	echo $command: $?
done
# Files that were asked for rightly; it is misuse where there is no such folder.
for output in /dev/full "$TMPDIR/none/x"; do
	shardsim platform torus:2x2 -o $output 2>/dev/null
	echo platform: $?
	shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=8 --platform dgx-h100:1 \
		-o $output >/dev/null 2>&1
	echo step: $?
done
shardsim list planners >/dev/full
