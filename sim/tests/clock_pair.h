#ifndef SHARDSIM_SIM_TESTS_CLOCK_PAIR_H
#define SHARDSIM_SIM_TESTS_CLOCK_PAIR_H

#include "clock/simgrid.h"
#include "cost/fluid.h"
#include "cost/model.h"

#include <math.h>

/*
 * The clocks fluid and simgrid, which have to agree, beside model. One process takes one
 * platform: every test, forked by Check, loads its own.
 */
struct clock_pair {
	struct arena *arena;
	struct platform *platform;
	const struct machine *machine;
	struct fluid *fluid;
	struct simgrid *simgrid;
	struct model *model;
	struct schedule s;
};

/* Both fail the test if there is no such platform; `set` is KEY=VALUE or NULL. */
struct clock_pair clock_pair_set(const char *spec, const char *const *set, int nset);
struct clock_pair clock_pair_new(const char *spec, const char *set);
void clock_pair_free(struct clock_pair *b);

/* Adds a message to the task at hand, unless it is to the device itself. */
void clock_pair_message(struct clock_pair *b, int32_t src, int32_t dst, double bytes);

/* Seconds of the schedule by fluid, which simgrid has, too. */
double clock_pair_s(struct clock_pair *b);

static inline bool close_to(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fabs(b);
}

#endif
