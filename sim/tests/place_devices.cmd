shardsim place --hierarchy 2,8 --axes 2,4,2 --reduce 0 --top 1 --devices-out "$TMPDIR/order"
tr '\n' ' ' <"$TMPDIR/order"
shardsim plan --array 'f32[64,64]' --mesh a=2,b=4,c=2 --from "P('a', None)" \
	--to "P(None, 'a')" --platform tpu-v5e:4x4 --devices "@$TMPDIR/order" >/dev/null &&
	echo read
