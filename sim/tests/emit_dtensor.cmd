shardsim plan --array 'f32[16,8]' --mesh 'x=2,y=4' --from "P('x', 'y')" --to "P('y')" --planner shardy --emit dtensor
shardsim plan --array 'f32[16,8]' --mesh 'x=2,y=4' --from "P('x', 'y')" --to "P('y')" --planner synth --platform dgx-h100:1 --emit dtensor
# A program of PyTorch is timed as PyTorch calls, and of MPI as MPI does; said otherwise, as said.
emitted() {
	shardsim plan --array 'f32[16,8]' --mesh x=2,y=4 --from "P('x', 'y')" --to "P('y')" "$@" |
		sed -n 's/.*by shardsim [0-9.]*: //p'
}
emitted --emit torch --platform dgx-h100:1
emitted --emit mpi --platform dgx-a100:1
emitted --emit jax --platform dgx-h100:1
emitted --emit torch --platform dgx-h100:1 --launch xla
emitted --emit torch --platform tpu-v4:2x2x2
