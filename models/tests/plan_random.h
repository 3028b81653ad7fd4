/*
 * Random meshes, layouts, problems and valid plans for tests: sizes 2 to 6, sub-axes in
 * any order of their digits, and arrays that end in padding.
 */
#ifndef SHARDSIM_TESTS_PLAN_RANDOM_H
#define SHARDSIM_TESTS_PLAN_RANDOM_H

#include "base/rng.h"
#include "plan/plan.h"

#include <jansson.h>

/* A mesh of 1 to 3 axes `x`, `y`, `z` of 2 to 6, at most `most` devices. */
struct mesh random_mesh(struct rng *r, int32_t most);

/* A layout of rank `rank`: some digits of the axes, shuffled over the dimensions. */
struct layout random_layout(struct rng *r, const struct mesh *m, int rank);

/* Any order of the devices of a mesh; the arena's. */
const int32_t *random_order(struct rng *r, int32_t ndevices, struct arena *a);

/*
 * A problem between two random layouts of an array of rank 1 to 3 that every axis
 * divides; one in three real shapes is shorter where the padded extents agree.
 */
struct problem *random_problem(struct rng *r, struct arena *a, int32_t most_devices);

/*
 * A problem between two HLO sharding texts without a mesh; every second one lists its
 * devices in no order.
 */
struct problem *random_listed_problem(struct rng *r, struct arena *a,
                                      int32_t most_devices);

/*
 * The k-th of plans of all kinds: of every planner of the registry on problems of both
 * kinds above, and random ones, some with their groups in another order. Where the
 * planner has no plan a random one stands in.
 */
struct plan *plan_of_any_kind(struct rng *r, struct arena *a, int k);

/* Do the boxes of all steps follow from the layouts? */
bool plan_implies_boxes(const struct plan *p);

/*
 * Are two plans equal as JSON? Of strided tiles, what is said over digits may differ: a
 * plan that was read may have more of them.
 */
bool same_plan_json(const json_t *a, const json_t *b);

/* Assert that two plans of one problem do and cost the same. */
void check_same_plan(const struct plan *a, const struct plan *b, const char *text);

/*
 * A finished plan of `steps` random legal steps or fewer, and its problem, which ends
 * where the plan does. One in two real shapes is shorter than the padded one. All
 * arrays have at most 20,000 elements for up to 16 devices.
 */
struct plan *random_plan(struct rng *r, struct arena *a, int32_t most_devices,
                         int steps);

#endif
