/* Problems between layouts that have digits in common or not, and digit plans of them. */
#ifndef SHARDSIM_TESTS_DIGIT_CASE_H
#define SHARDSIM_TESTS_DIGIT_CASE_H

#include "base/rng.h"
#include "plan/plan.h"

/*
 * f32 of rank 1 to 3 on 1 to 3 axes of 2 to 6, at most `most` devices: layouts of prime
 * digits in any order. `uneven`: real extents below the padded ones, where these agree.
 */
struct problem *digit_problem(struct rng *r, struct arena *a, int32_t most, bool uneven);

/*
 * Is some digit bound by different atoms in source and target? Just then their values
 * differ on some device, which has nothing of its target tile (of the padded array).
 */
bool digit_changes_owner(const struct problem *p);

/* A problem of texts that must be right; ends the test otherwise. */
struct problem *digit_texts(struct arena *a, const char *array, const char *mesh,
                            const char *from, const char *to);

/* A plan as it prints, and whether it is proven, with the reason if not; the arena's. */
const char *digit_printed(const struct plan *p, struct arena *a);
bool digit_proven(const struct plan *p, struct arena *a, const char **reason);

/*
 * A plan with steps of the digit planner, by any of its ways to change owners, of a
 * random problem as above; NULL where it has none.
 */
struct plan *digit_random_plan(struct rng *r, struct arena *a, bool uneven);

#endif
