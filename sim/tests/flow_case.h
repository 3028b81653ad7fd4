/* All clocks on one platform, and schedules to time, for the tests of the clock flow. */
#ifndef SHARDSIM_SIM_TESTS_FLOW_CASE_H
#define SHARDSIM_SIM_TESTS_FLOW_CASE_H

#include "cost/flow.h"
#include "cost/fluid.h"
#include "cost/model.h"
#include "flow_replay.h"

enum { FLOW_CASE_SCHEDULES = 3 };

/* A process can have only one of them. */
struct flow_case {
	struct arena *arena;
	struct platform *platform;
	const struct machine *machine;
	struct flow *flow;
	struct flow_replay *replay;
	struct fluid *fluid;
	struct model *model;
	struct schedule s[FLOW_CASE_SCHEDULES]; /* empty ones */
};

/* Returns a case on the platform, with a setting unless that is NULL. */
struct flow_case flow_case_new(const char *spec, const char *set);
void flow_case_free(struct flow_case *c);

/*
 * Adds a message to the open task of schedule k, on the fabric that joins the two
 * devices.
 */
void flow_case_message(struct flow_case *c, int k, int32_t src, int32_t dst,
                       double bytes);

/* Adds a message in a round of its own. */
void flow_case_alone(struct flow_case *c, int k, int32_t src, int32_t dst, double bytes);

/*
 * Times schedules 0 to n - 1 by the clock flow and in SimGrid, and fails where any step's
 * end differs by more than 1e-8 of the time. Returns the seconds of the clock.
 */
double flow_case_both_s(struct flow_case *c, double *wire_s, int n);

/* End schedule 0 and return its seconds by a clock; flow is compared with SimGrid. */
double flow_case_flow_s(struct flow_case *c);
double flow_case_fluid_s(struct flow_case *c);

#endif
