/* A search on one mesh in one place, and the better of two. */
#ifndef SHARDSIM_SIM_AUTOMAP_TRY_H
#define SHARDSIM_SIM_AUTOMAP_TRY_H

#include "automap/run.h"
#include "automap/tariff.h"

/*
 * Stores a mesh with its axes of several devices, or the first one where there are none; false: they
 * are too many.
 */
bool automap_large_axes(struct mesh *out, const struct mesh *from);

/*
 * Returns the name of an axis that is split off, which tactics may name although not all meshes have
 * it: `expert` where there are experts, else `split`; NULL where the mesh is given.
 */
const char *automap_split_axis(const struct automap_ask *ask);

/* Returns how often a step goes through its passes. */
double automap_micro_batches(const struct automap_ask *ask);

/* An evaluator of a mesh in its place, with the prices of the machine. */
struct automap_evaluator {
	struct evaluator evaluator;
	struct cut_prices prices;
	struct machine_tariff *of; /* NULL: there is no machine; else the caller frees it */
};

/* All else is the arena's. `planner` of changes of layout, NULL: as automap/reshard.h does. */
void automap_evaluator_start(struct automap_evaluator *out, struct arena *a,
                             const struct automap_ask *ask,
                             const struct automap_found *f,
                             const struct planner *planner);

/*
 * Searches on the mesh of `f` on its devices, and fills in the rest of it. `seed`: actions to start
 * from; NULL: none.
 */
enum status automap_try(struct automap_answer *out, struct automap_found *f,
                        struct arena *a, const struct automap_ask *ask, int64_t budget,
                        const struct actions *seed, struct error *e);

/* Prices the answer anew with its changes of layout planned, where the search did not do so. */
void automap_plan(struct automap_found *f, struct arena *a,
                  const struct automap_ask *ask);

/* Returns < 0 if x is better. */
int automap_compare(const struct automap_ask *ask, const struct automap_found *x,
                    const struct automap_found *y);

/* Puts it in as the best or the second. */
void automap_keep(struct automap_answer *out, const struct automap_ask *ask,
                  const struct automap_found *f);

#endif
