# The tables of a program: tiles of 2 x 4 become tiles of 4 x 2. Units are of 2 elements, of
# which the array has 2 in each dimension, so that the check may be of the array itself.
tables() {
	sed -n '/^#define RANKS/,/^$/p; /^static const int64_t digit/,/^$/p
		/^static const struct move/,/^$/p; /^static const struct step steps/,/^};/p'
}
shardsim plan --array 'f32[4,4]' --mesh x=2 --from "P('x')" --to "P(None, 'x')" --emit mpi | tables
# A sum of two contributions in bf16, whose whole numbers are exact up to 256: values below
# 129 add up to 256 at most.
shardsim plan --array 'bf16[6]' --mesh x=2 --from "P(unreduced={'x'})" --to "P('x')" \
	--planner dtensor --emit mpi |
	sed -n '/^#define ELEMENT/,/^$/p'
# What MPI cannot add up, and what cannot be compared exactly.
for array in 'f8e4m3fn[8]' 'pred[8]' 's4[8]'; do
	shardsim plan --array "$array" --mesh x=2 --from "P(unreduced={'x'})" --to 'P()' \
		--planner dtensor --emit mpi 2>&1
done
shardsim plan --array 'bf16[1024]' --mesh x=512 --from "P(unreduced={'x'})" --to 'P()' \
	--planner dtensor --emit mpi 2>&1
