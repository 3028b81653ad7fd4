/* What tests of flows share: machines without latency that take schedules, and flows. */
#ifndef SHARDSIM_TESTS_FLOW_HELP_H
#define SHARDSIM_TESTS_FLOW_HELP_H

#include "flow/forest.h"

/* Makes a machine that takes schedules, with links of no latency where that is asked. */
struct machine *flow_machine(struct arena *a, struct machine *m, bool latency);

/* A torus that wraps on all axes, of links of 45 GB/s and 1 us. */
struct machine *flow_torus(struct arena *a, int naxes, const int32_t *shape);

/* 0 to n - 1. */
const int32_t *flow_identity(struct arena *a, int32_t n);

struct found {
	struct network network;
	struct demand demand;
	struct symmetry symmetry;
	struct forest forest;
	struct flows flows;
};

/* Finds the flows of a problem, of a sum turned around; false where there are none. */
bool flow_find(struct found *out, const struct problem *p, const struct machine *m,
               const int32_t *platform, enum flow_reach reach, struct arena *a);

#endif
