/* How much of the gap between a compiler and `best-portable` advice closes, over suites. */
#ifndef SHARDSIM_SIM_TESTS_ADVISE_GAP_H
#define SHARDSIM_SIM_TESTS_ADVISE_GAP_H

#include "planner/advise/advise.h"

#include <stdint.h>

struct gap_suite {
	const char *path;
	const char *platform; /* of the scenario's size, family:{n} */
	const char *compiler;
	uint32_t one_of; /* one scenario of so many is taken, by a seed; 1 for all */
};

/*
 * Over the scenarios that both the compiler and `best-portable` have a plan for; by the
 * clock `model`.
 */
struct gap {
	int n, left_out;
	double log_gap; /* sum of log(compiler / best-portable) */
	/* Sums of log(compiler / chain) over the cheapest chains of at most so many layouts. */
	double log_advised[ADVISE_MOST + 1];
	int dearer; /* chains dearer than the compiler alone: there should be none */
	int wrong; /* chains with a hop that does not pass its check, or that do not join */
	int rescued; /* left out, as the compiler alone has no plan that fits, but advised */
	int small; /* scenarios of at most 7 prime digits, and what advising on them took */
	double small_s, most_s;
};

struct gap gap_measure(const struct gap_suite *of);

/* Returns the part of the gap that chains of at most n layouts close. */
double gap_closed(const struct gap *g, int n);

#endif
