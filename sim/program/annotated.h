/*
 * An annotated program on its way to a price: its shardings handed on (program/propagate.h), the
 * program partitioned (program/partition/), its changes of layout priced.
 */
#ifndef SHARDSIM_SIM_PROGRAM_ANNOTATED_H
#define SHARDSIM_SIM_PROGRAM_ANNOTATED_H

#include "program/propagate.h"
#include "program/reshards.h"

struct annotated {
	struct shardings shardings;
	struct partitioned partitioned;
	struct reshard_costs costs;
};

struct annotated_ask {
	enum partitioner partitioner;
	const struct planner *planner; /* NULL: the one that stands for the partitioner */
	const struct machine *machine; /* NULL: bytes are the price of plans */
	const int32_t *devices;        /* platform device of each of the mesh's */
	bool best, advise;             /* as struct reshard_ask has it */
	/*
	 * The least MiB of what a windowed einsum of XLA's spares gathering or summing; 0: there
	 * are none; < 0: XLA's own threshold on such a machine (annotated_ring_mib()).
	 */
	double ring_mib;
};

/*
 * Returns XLA's threshold of windowed einsums: 256 MiB, the partitioner's own
 * (spmd_partitioner.h, SpmdPartitionerOptions), where collectives are those of TPUs; on GPUs,
 * whose compiler sets it to 100000 (xla/debug_options_flags.cc), and without a machine 0: none.
 */
double annotated_ring_mib(const struct machine *m);

/* Hands the shardings on; false if there is no mesh of several devices to partition over. */
enum status annotated_propagate(struct annotated *out, bool *sharded, struct arena *a,
                                struct program *p, enum propagation by, struct error *e);

/* Partitions the program after that; all is the arena's. */
enum status annotated_partition(struct annotated *out, struct arena *a,
                                const struct program *p,
                                const struct annotated_ask *ask, struct error *e);

#endif
