# The name of a file need not be UTF-8, but JSON is.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
name=$(printf '\351t\303\251\377\342\202')
shardsim platform dgx-a100:1 >"$name.xml"
shardsim plan --array 'u8[8]' --mesh x=8 --from "P('x')" --to 'P(None)' \
	--platform "$name.xml" --format json | grep -o '"platform": "[^"]*"' | od -An -c
axis=$(printf '\351')
shardsim plan --array 'u8[8]' --mesh "'$axis'=8" --from "P('$axis')" --to 'P(None)' \
	--format json | grep -o '"mesh": [^"]*"[^"]*"\|"axes": [^"]*"[^"]*"' | od -An -c
