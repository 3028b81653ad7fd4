/*
 * Prices with a platform: seconds of the clock `model` with local work and launches, for
 * planners (planner.h), and seconds of a plan by any clock.
 */
#ifndef SHARDSIM_PRICE_PRICE_H
#define SHARDSIM_PRICE_PRICE_H

#include "array/machine.h"
#include "cost/steps.h"
#include "planner/planner.h"

/*
 * The cost of a step that the machine cannot do: no planner that has a choice takes it.
 */
#define PRICE_IMPOSSIBLE_S 1e30

/*
 * Prices on one machine for devices placed on it (NULL: the identity). Both are
 * borrowed and must outlive the pricer; placed devices must exist on the machine. What
 * a user forces on its collectives (m->forced) changes the seconds of a plan, but no
 * price, and so no plan. The pricer remembers the collectives it has priced, of any
 * problem on any mesh. Threads do not share it.
 */
struct pricer;

struct pricer *pricer_new(const struct machine *m, const struct placement *place);
void pricer_free(struct pricer *p);

/* Returns the table of its prices. Its `self` is the pricer. */
struct prices pricer_prices(struct pricer *p);

/*
 * The steps of a finished plan on a machine, for devices placed on it (NULL: the
 * identity). All are borrowed.
 */
struct plan_steps {
	const struct plan *plan;
	const struct machine *machine;
	const struct placement *place;
};
struct steps steps_of_plan(const struct plan_steps *p);

/* Returns the steps_seconds() of a plan's steps. */
double plan_seconds(struct step_time *steps, const struct plan *plan,
                    const struct machine *m, const struct placement *place,
                    clock_fn *clock, void *self, char *message, size_t size);

#endif
