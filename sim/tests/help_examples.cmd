# Every command has a page, and every example on it does what it says, in a folder of its
# own that has the suites and timings of the tree.
ln -s "$PWD/scenarios" "$PWD/platforms" "$TMPDIR" && cd "$TMPDIR" || exit 9
for command in $(shardsim --help | awk '/^  [a-z]/ { print $1 }'); do
	shardsim help "$command" >page || exit 9
	head -n 1 page
	awk '/^ +\$ / { sub(/^ +\$ /, ""); inside = 1 }
		inside { print }
		!/\\$/ { inside = 0 }' page >examples
	grep -c '^shardsim' examples
	sh -e examples >out 2>err || { tail -n 5 examples err; exit 9; }
done
ls *.json *.xml *.yaml
