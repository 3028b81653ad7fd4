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
};

/* Hands the shardings on; false if there is no mesh of several devices to partition over. */
enum status annotated_propagate(struct annotated *out, bool *sharded, struct arena *a,
                                struct program *p, enum propagation by, struct error *e);

/* Partitions the program after that; all is the arena's. */
enum status annotated_partition(struct annotated *out, struct arena *a,
                                const struct program *p, const struct annotated_ask *ask,
                                struct error *e);

#endif
