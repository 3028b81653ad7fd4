/*
 * Layers: parts of a program that repeat, one after another, found from the ops
 * themselves.
 *
 * A run is a stretch of steps in which step i and step i + period are alike (the same op
 * on the same shapes) throughout: `n` instances. Longest runs are looked for first.
 * Arguments that instances of a run read at the same place for the first time are alike,
 * and form a group: a search decides on them together.
 *
 * Instances are folded where they are also joined alike: between the first and the last
 * one all are as the second, reading what it reads of the instance next to it (forward),
 * or of the instance of another run that mirrors it (backward). Of a folded run the
 * first, second and last instance are kept, and the second counts as often as there are
 * instances between.
 */
#ifndef SHARDSIM_AUTOMAP_REPEAT_H
#define SHARDSIM_AUTOMAP_REPEAT_H

#include "program/flat.h"

struct repeat_run {
	int32_t first, period, n; /* steps first .. first + n * period - 1 */
	bool folded;
};

struct repeats {
	LIST(struct repeat_run) run;
	int32_t *run_of; /* [steps]: -1 is in none */
	/*
	 * [flat values]: the value that stands for it, itself unless it was folded; and
	 * of those that stay how many they are.
	 */
	int32_t *stands;
	double *weight;
	bool *kept;          /* [steps] */
	double *step_weight; /* [steps] */
	int32_t *group;      /* [arguments] */
	int32_t ngroups;
};

/* Finds them; all is the arena's. With `fold` false nothing is folded. */
void repeats_find(struct repeats *out, struct arena *a, const struct program *p,
                  const struct flat *f, bool fold);

/* Returns which instance of its run a step is in; 0 of none. */
static inline int32_t repeat_instance(const struct repeats *r, int32_t step)
{
	const struct repeat_run *run;

	if (r->run_of[step] < 0)
		return 0;
	run = &r->run.at[r->run_of[step]];
	return (step - run->first) / run->period;
}

#endif
