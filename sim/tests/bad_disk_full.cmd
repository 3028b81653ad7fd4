# Also where argp ends the program.
for command in 'help plan' 'plan --help' '--version' 'list planners'; do
	shardsim $command >/dev/full
	echo $command: $?
done
shardsim list planners >/dev/full
