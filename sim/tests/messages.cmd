# Who sends what to whom. Four chips in a line, 4 KiB each: in an all-gather every block
# goes to both neighbours, and on to the end of the line, so that rounds have 6, 4 and 2
# messages and each chip is sent its 12 KiB.
shardsim simulate --array 'f32[64,64]' --mesh x=4 --from "P('x')" --to 'P()' \
	--platform tpu-v4:1x1x4 --messages
# Without a platform all members send at once what the others need: of a tile of 2 x 6
# elements half, 24 bytes. A sum of 48 bytes is first scattered, then gathered.
shardsim plan --array 'f32[4,6]' --mesh x=2 --from "P('x')" --to "P(None, 'x')" --messages
shardsim plan --array 'f32[2,6]' --mesh x=2 --from "P(unreduced={'x'})" --to 'P()' \
	--planner dtensor --messages
# An exchange sends its boxes: devices 1 and 2 swap their elements of 4 bytes.
shardsim plan --array 'f32[4]' --mesh x=2,y=2 --from "P(('x', 'y'))" --to "P(('y', 'x'))" \
	--planner direct --messages --format json
