# The examples of the manual page run, and it tells every option there is.
page=$PWD/sim/doc/shardsim.1
export SHARDSIM_DATA="$PWD/platforms"
ln -s "$PWD/scenarios" "$TMPDIR/scenarios"
cd "$TMPDIR" || exit 9
sed -n '/^\.Bd/,/^\.Ed/p' "$page" | sed '/^\./d; s/\\e$/\\/' >examples.sh
sed -n 's/^\(shardsim [a-z]*\).*/\1/p' examples.sh
sh -e examples.sh >output && echo done
for command in plan simulate advise sweep report perf program step move validate fit place \
		platform list; do
	shardsim $command --help | grep -o '^ .*  --[a-z-]*' | sed 's/.*--//'
done | sort -u >options
while read -r option; do
	sed 's/\\-/-/g' "$page" | grep -Eq -e "(Fl|,) -$option( |\$)" || echo "no --$option"
done <options
wc -l <options
