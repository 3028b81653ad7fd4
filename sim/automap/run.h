/*
 * The search for a sharding of a whole program on a machine: over the shapes of the mesh,
 * where its axes are on the machine, and what is cut along them, all together.
 *
 * A mesh that is given stays, its axes on the devices in row-major order (or in the order
 * given). Of a number of devices alone meshes of up to three axes are tried (automap/shapes.h).
 */
#ifndef SHARDSIM_SIM_AUTOMAP_RUN_H
#define SHARDSIM_SIM_AUTOMAP_RUN_H

#include "array/machine.h"
#include "array/mesh.h"
#include "automap/search.h"
#include "automap/tactic.h"
#include "planner/planner.h"
#include "price/group_prices.h"
#include "program/sharding.h"

enum search_kind { SEARCH_NONE, SEARCH_EXHAUSTIVE, SEARCH_MCTS, SEARCH_STRUCTURE };

/* Returns the kind of that name, SEARCH_STRUCTURE of NULL, and SEARCH_NONE of "none". */
enum search_kind automap_search_of(const char *name);

struct automap_ask {
	const struct graph *graph;
	const struct shardings *given; /* decisions that the program's text has made; NULL: none */
	const struct machine *machine; /* NULL: nothing is priced */
	struct group_prices *shared;   /* automap_run() makes them */
	const struct mesh *mesh; /* at most CUT_AXES axes; NULL: shapes of `ndevices` */
	int32_t ndevices;
	const int32_t *devices; /* of the mesh's positions; NULL: in order */
	const struct planner *planner; /* of changes of layout; NULL: as automap/reshard.h does */
	int ntactics;
	const char *const *tactic; /* data:batch, or a file of rules */
	int nstart; /* tactics to start the search from; the answer is no worse than they are */
	const char *const *start;
	enum search_kind search;
	int64_t budget;
	uint64_t seed;
	double memory_limit_bytes; /* 0: none */
	int64_t micro_batches;     /* passes of a step (automap/evaluate.h); 0: 1 */
	bool recompute;            /* layers are computed again in the backward pass */
	bool overlap;              /* collectives run beside kernels */
	bool experts;              /* automap_run() finds whether there are any */
	bool whole; /* automap_run() and shapes: as struct search has it */
	/* Called with every better state; NULL: nobody is. */
	void (*better)(void *self, const struct mesh *mesh, const struct search *s);
	void *self;
	/* Once it is not 0 the answer is the best so far (system/stop.h); NULL: never. */
	const volatile sig_atomic_t *stop;
};

/* A mesh with its placement, and the best that was found there. */
struct automap_found {
	struct mesh mesh;
	const char *placement; /* the matrix as text; NULL: as given */
	const int32_t *device; /* of each position; NULL: in order */
	struct evaluation e;
	struct cutting *cutting; /* over the axes of more than one device, in order */
	struct actions way;      /* that the search took to it */
	int64_t found_at;        /* evaluations until it was found */
	const char *idle;        /* the tactics that cut nothing; NULL: all did */
	int given;               /* cuts that the program's text has made */
	int lost;                /* and that it says and cannot make */
	const struct axis *foreign; /* of the text's mesh, and not of this: nothing of it is cut */
};

struct automap_answer {
	struct automap_found best, second; /* second.cutting NULL: there is none */
	const char *why;                   /* the second is not the first */
	int64_t evaluations, tried;        /* tried: meshes and placements */
	int64_t best_at;                   /* evaluations until the best was found */
	bool complete;                     /* all states of all meshes were seen */
	bool spent;         /* the budget that was asked for ended a search */
	bool cuts_complete; /* at least those in which no value is kept whole */
	double bound_s;     /* 0: nothing is priced */
};

/* Runs the search; all is the arena's. Errors: tactics, and meshes that fit no machine. */
enum status automap_run(struct automap_answer *out, struct arena *a,
                        const struct automap_ask *ask, struct error *e);

/* Returns whether the search was asked to stop. */
static inline bool automap_stopped(const struct automap_ask *ask)
{
	return ask->stop && *ask->stop;
}

/* Returns the name of an axis of what was found: of its cutting, which has none of one device. */
const char *automap_axis(const struct automap_found *f, int axis);

/* Returns whether it fits into the limit. */
bool automap_fits(const struct automap_ask *ask, const struct evaluation *e);

/*
 * Returns whether a search was asked for and nothing that it tried fits into the limit. The best is
 * then what takes the least memory, and is no answer.
 */
bool automap_fails(const struct automap_ask *ask, const struct automap_answer *answer);

#endif
