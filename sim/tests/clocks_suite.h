/* The clocks fluid and simgrid on the plans of whole suites. */
#ifndef SHARDSIM_SIM_TESTS_CLOCKS_SUITE_H
#define SHARDSIM_SIM_TESTS_CLOCKS_SUITE_H

#include <stdint.h>

struct clocks_suite {
	const char *path, *platform;
	uint32_t one_of; /* one scenario of so many is taken, by a seed; 1 for all */
};

/* Steps that send anything: those timed by both clocks, and those that one refused. */
struct clocks_compared {
	int64_t steps, refused, differ; /* differ: by more than 1e-9 of the time */
	double worst;                   /* the largest difference, of the time */
};

/*
 * Plans the scenarios of the suite that fit the platform by all planners and times
 * every different plan of a scenario by both clocks. Steps that differ are listed on
 * stderr. It can be called once per process, because that takes one platform.
 */
struct clocks_compared clocks_suite_compare(const struct clocks_suite *c);

#endif
