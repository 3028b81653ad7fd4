/*
 * Prices with a platform: seconds of the clock `model` with local work and launches, for
 * planners (planner.h), and seconds of a plan by any clock.
 */
#ifndef SHARDSIM_COST_PRICE_H
#define SHARDSIM_COST_PRICE_H

#include "array/machine.h"
#include "collective/lower.h"
#include "cost/model.h"
#include "planner/planner.h"

/* The cost of what the machine cannot do: no planner that has a choice takes it. */
#define PRICE_IMPOSSIBLE_S 1e30

/*
 * Prices on one machine for devices placed on it (NULL: the identity). Both are borrowed
 * and must outlive the pricer; placed devices must exist on the machine. What a user
 * forces on its collectives (m->forced) changes the seconds of a plan, but no price, and
 * so no plan. It remembers the collectives it has priced, of any problem on any mesh.
 * Not shared between threads.
 */
struct pricer;

struct pricer *pricer_new(const struct machine *m, const struct placement *place);
void pricer_free(struct pricer *p);

/* The table of prices behind it. Its `self` is the pricer. */
struct prices pricer_prices(struct pricer *p);

/* Seconds of one step of a plan, and what they are made of. */
struct step_time {
	double time_s; /* the sum of these three */
	double wire_s, local_s, launch_s;
	const char *algorithm; /* NULL if local */
};

/* Instead of the seconds of a plan: the machine cannot run one of its steps. */
#define PLAN_REFUSED_S (-3.)

/*
 * Seconds of a finished plan by a clock: the sum over its steps, which are filled into
 * `steps` ([nsteps]) unless that is NULL. PLAN_REFUSED_S, or what the clock gives
 * instead of seconds (cost/model.h), with the reason in `message` (of `size` bytes).
 */
double plan_seconds(struct step_time *steps, const struct plan *plan,
                    const struct machine *m, const struct placement *place,
                    clock_fn *clock, void *self, char *message, size_t size);

/*
 * A clock that lets steps overlap: seconds of `n` schedules that follow each other, or
 * < 0 as of a clock_fn. `wire_s` ([n]) gets what each adds to them: the span from the last
 * completion of those before it to its own, 0 if that is no later.
 */
typedef double schedules_fn(void *self, double *wire_s, const struct schedule *s, int n,
                            char *message, size_t size);

/*
 * As plan_seconds by such a clock, which gets the schedules of all steps at once. Local
 * work and launches are added to what the steps add.
 */
double plan_seconds_overlapped(struct step_time *steps, const struct plan *plan,
                               const struct machine *m, const struct placement *place,
                               schedules_fn *clock, void *self, char *message,
                               size_t size);

#endif
