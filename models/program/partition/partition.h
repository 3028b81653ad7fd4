/*
 * An annotated program, whose shardings are known, as the program that each device runs: what
 * a compiler makes of it. Shapes become those of one device's tiles, and collectives stand
 * where arrays are needed in other layouts than they have, or are sums of all devices' parts.
 * The result is a partitioned program as a dump of one is, and is priced as such.
 *
 * Ops run on tiles along the factors of their rules (program/rules.h): which axes each factor
 * is split over is the compiler's choice (choose.h). Every change of layout is a redistribution
 * problem, which a planner solves; its plan's steps become ops. Ops without a rule run whole on
 * every device, and of their results each keeps its tile; where that makes a sharded array whole
 * it is a full rematerialization, of which the new program warns.
 *
 * What is made of constants alone is made in every layout in which it is used. Slices, padding,
 * reversals, windows and convolutions along a sharded dimension take the borders of their
 * tiles from neighbours, as XLA does; where these would be as much as all there is, between
 * elements of padding and along a dilated array the dimension is whole. The masks in front of a
 * reduction over a dimension that does not divide are not made, and cost nothing.
 */
#ifndef SHARDSIM_PROGRAM_PARTITION_PARTITION_H
#define SHARDSIM_PROGRAM_PARTITION_PARTITION_H

#include "planner/planner.h"
#include "program/sharding.h"

enum partitioner { PARTITIONER_SHARDY, PARTITIONER_XLA };

struct partition_ask {
	enum partitioner partitioner;
	const struct planner *planner; /* of reshards */
	const struct prices *prices;   /* that it plans by */
	const int32_t *devices; /* platform device of each of the mesh's; NULL: the identity */
	/*
	 * XLA's threshold of windowed einsums: the least bytes of what is gathered or summed. 0:
	 * there are none.
	 */
	double ring_bytes;
	const struct machine *machine; /* whose kernels are weighed against gathers; or NULL */
};

/* A place where an array changes its layout, or is summed up. */
struct reshard {
	int32_t op; /* of the annotated program: which needs or makes the array so */
	struct array array;
	struct layout from, to; /* axes to be summed over are unreduced in `from` */
	const struct plan *plan;
	int32_t region; /* of the partitioned program, in which it runs */
	double count;   /* in a step */
	/*
	 * The array is whole on every device though neither end is: by the plan, or for an op
	 * that runs whole between sharded arrays.
	 */
	bool full_remat;
	bool live; /* its result is used */
};

struct partitioned {
	struct program program;
	LIST(struct reshard) reshard;
	/* [program.op.n]: the reshard that an op is a step of and which step; -1: of none. */
	LIST(int32_t) of, step;
	LIST(int32_t)
	source; /* [program.op.n]: the annotated program's op that it is for */
};

/*
 * Partitions a program; all is the arena's, and texts stay those of `p`. Where the planner
 * does not apply to a change of layout, `best` plans it, and a warning of the new program says
 * so. Errors: replicas beside the mesh, asynchronous ops.
 */
enum status partition(struct partitioned *out, struct arena *a, const struct program *p,
                      const struct shardings *s, const struct partition_ask *ask,
                      struct error *e);

/* Returns what a step of a plan is as an op of a program. */
enum opcode partition_opcode(enum op op);

#endif
