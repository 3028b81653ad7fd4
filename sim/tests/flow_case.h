/* All clocks on one platform, and schedules to time, for the tests of the clock flow. */
#ifndef SHARDSIM_SIM_TESTS_FLOW_CASE_H
#define SHARDSIM_SIM_TESTS_FLOW_CASE_H

#include "clock/flow.h"
#include "cost/fluid.h"
#include "cost/model.h"

enum { FLOW_CASE_SCHEDULES = 3 };

/* One process takes one of them. */
struct flow_case {
	struct arena *arena;
	struct platform *platform;
	const struct machine *machine;
	struct flow *flow;
	struct fluid *fluid;
	struct model *model;
	struct schedule s[FLOW_CASE_SCHEDULES]; /* empty ones */
};

/* On the platform, with a setting unless that is NULL. */
struct flow_case flow_case_new(const char *spec, const char *set);
void flow_case_free(struct flow_case *c);

/* A message of the open task of schedule k, on the fabric that joins the two. */
void flow_case_message(struct flow_case *c, int k, int32_t src, int32_t dst,
                       double bytes);

/* One in a round of its own. */
void flow_case_alone(struct flow_case *c, int k, int32_t src, int32_t dst, double bytes);

/* Seconds of schedule 0, which is ended. */
double flow_case_flow_s(struct flow_case *c);
double flow_case_fluid_s(struct flow_case *c);

#endif
