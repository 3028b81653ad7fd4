# -h and -V are read everywhere, and no two of them differ.
shardsim version | sed 's/sources .*/sources ...)/'
for version in -V --version 'plan -V' 'sweep merge --version' 'version -V' 'list -V'; do
	shardsim $version
done | sort -u | sed 's/sources .*/sources ...)/'
shardsim -h | sort >"$TMPDIR/all"
shardsim --help | sort | cmp - "$TMPDIR/all" && shardsim help | sort | cmp - "$TMPDIR/all" && wc -l <"$TMPDIR/all"
for command in plan simulate sweep 'sweep plan' 'sweep run' 'sweep submit' 'sweep merge' \
	'sweep status' report place perf step move advise program validate fit platform list \
	help version; do
	shardsim $command -h >"$TMPDIR/short" || echo "$command: $?"
	shardsim $command --help | cmp - "$TMPDIR/short"
done
shardsim perf all-gather -b 1K -h | head -n 1
