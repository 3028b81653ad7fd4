/*
 * The changes of layout in a program that was partitioned here (program/partition/): what each
 * takes by the planner's plan, and what it would by that of `best`. Times are those of plans,
 * local passes included, as `shardsim simulate` gives them for the same problem.
 */
#ifndef SHARDSIM_SIM_PROGRAM_RESHARDS_H
#define SHARDSIM_SIM_PROGRAM_RESHARDS_H

#include "array/machine.h"
#include "program/partition/partition.h"

#include <jansson.h>

/* One of them, `count` times in a step; seconds are those of one run, NaN: not known. */
struct reshard_cost {
	const struct reshard *is;
	double count, time_s, best_s;
	/*
	 * Of the dearest ones that lose most against `best`: layouts on the way by which the
	 * same planner loses less (planner/advise/); else NULL.
	 */
	const char *by;
	double by_s;
};

struct reshard_costs {
	const struct program *annotated; /* whose ops they are for */
	const struct mesh *mesh;
	LIST(struct reshard_cost)
	row; /* those that send something, the longest first */
	int64_t full_rematerializations;
};

struct reshard_ask {
	int64_t n;
	const struct reshard *reshard; /* [n]; borrowed */
	const struct program *annotated;
	const struct mesh *mesh;
	const struct machine *machine; /* NULL: nothing is timed */
	const int32_t *devices;        /* platform device of each of the mesh's */
	const struct planner *planner; /* that planned them */
	bool best, advise;             /* ask `best`, and for layouts on the way */
};

/* All is the arena's. */
void reshards_price(struct reshard_costs *out, struct arena *a,
                    const struct reshard_ask *ask);

/* Prints a table of at most `most` rows. */
void program_show_reshards(struct text *out, struct arena *a,
                           const struct reshard_costs *costs, int64_t most);

/* Returns an array of them all (sim/README.md, JSON). */
json_t *reshards_json(const struct reshard_costs *costs, struct arena *a);

#endif
