/*
 * Steps that follow each other, lowered one by one, and their seconds by any clock: those
 * of a plan (cost/price.h) or of a reduction program (placement/lower.h).
 */
#ifndef SHARDSIM_COST_STEPS_H
#define SHARDSIM_COST_STEPS_H

#include "collective/lower.h"
#include "cost/model.h"

/*
 * A sequence of `n` steps. lower() makes the schedule of one of them in the arena, and
 * returns true, or false with the reason in `why`. `self` is borrowed.
 */
struct steps {
	int n;
	bool (*lower)(const void *self, struct lowered *out, struct arena *a, int step,
	              struct text *why);
	const void *self;
};

/* Seconds of one step, and what they are made of. */
struct step_time {
	double time_s; /* the sum of these three */
	double wire_s, local_s, launch_s;
	const char *algorithm; /* NULL if local */
};

/* What stands in place of the seconds where the machine cannot run one of the steps. */
#define STEPS_REFUSED_S (-3.)

/*
 * Returns the seconds of all steps by a clock: the sum over them, each of which is
 * filled into `times` ([n]) unless that is NULL. Returns STEPS_REFUSED_S, or what the
 * clock returns in place of seconds (cost/model.h), with the reason in `message` (of
 * `size` bytes).
 */
double steps_seconds(struct step_time *times, const struct steps *s, clock_fn *clock,
                     void *self, char *message, size_t size);

/*
 * A clock that takes all steps at once: it returns the seconds of `n` schedules that
 * follow each other, or < 0 as a clock_fn does. `wire_s` ([n]) gets what each schedule
 * adds. Where schedules overlap, that is the span from the last completion of those
 * before it to its own, or 0 if that is no later.
 */
typedef double schedules_fn(void *self, double *wire_s, const struct schedule *s, int n,
                            char *message, size_t size);

/*
 * Returns what steps_seconds() does, by a clock that takes all steps at once. Local
 * work and launches are added to what the steps add.
 */
double steps_seconds_together(struct step_time *times, const struct steps *s,
                              schedules_fn *clock, void *self, char *message,
                              size_t size);

#endif
