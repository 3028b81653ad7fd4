/* A problem on a platform with both clocks, for the tests of links and traces. */
#ifndef SHARDSIM_SIM_TESTS_TRACE_CASE_H
#define SHARDSIM_SIM_TESTS_TRACE_CASE_H

#include "cost/fluid.h"
#include "measure/measure.h"
#include "platform/platform.h"

struct trace_text {
	const char *platform, *array, *mesh, *from, *to;
	const char *set; /* one setting, or NULL */
};

struct trace_case {
	struct arena *arena;
	struct problem problem;
	struct platform *platform;
	struct fluid *fluid;
	struct bench bench;
};

/* Makes a case; a process takes one platform, so a test that Check forks makes one. */
void trace_case_make(struct trace_case *out, const struct trace_text *text);
void trace_case_free(struct trace_case *c);

/* Plans the problem and times the plan by both clocks. */
void trace_case_measure(struct measurement *out, struct trace_case *c,
                        const char *planner);

#endif
