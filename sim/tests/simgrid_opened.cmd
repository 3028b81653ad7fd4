# SimGrid's library is opened by the first replay of the clock simgrid, and by nothing else.
opened() {
	LD_DEBUG=files LD_DEBUG_OUTPUT="$TMPDIR/files" "$@" >/dev/null
	echo "$(grep -l 'file=libsimgrid' "$TMPDIR"/files.* | wc -l): $*" | cut -d ' ' -f 1-3,9-
	rm "$TMPDIR"/files.*
}
problem="--array f32[48,64] --mesh x=4"
opened shardsim plan $problem --from "P('x')" --to "P(None,'x')" --planner all
opened shardsim plan $problem --from "P('x')" --to "P(None,'x')" --platform tpu-v5e:2x2
opened shardsim simulate $problem --from "P('x')" --to "P(None,'x')" --platform tpu-v5e:2x2 \
	--planner all --clock model,fluid
opened shardsim simulate $problem --from "P()" --to "P('x')" --platform tpu-v5e:2x2 \
	--planner all --clock simgrid
opened shardsim simulate $problem --from "P('x')" --to "P(None,'x')" --platform tpu-v5e:2x2 \
	--planner all --clock simgrid
