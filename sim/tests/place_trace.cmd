shardsim place --hierarchy 2 --axes 2 --reduce 0 --bytes 9MB --platform tpu-v5e:1x2 \
	--clock fluid --trace "$TMPDIR/trace.json"
cat "$TMPDIR/trace.json"
