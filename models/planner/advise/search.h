/* The search for chains. Private to models/planner/advise/. */
#ifndef SHARDSIM_PLANNER_ADVISE_SEARCH_H
#define SHARDSIM_PLANNER_ADVISE_SEARCH_H

#include "base/heap.h"
#include "planner/advise/hops.h"

/* The layouts between that a chain goes by, as numbers of stops. */
struct chain {
	bool found;
	int n;
	int stop[ADVISE_MOST];
	struct price price;
};

struct search {
	struct hops *hops;
	struct heap open; /* stops between that are not priced yet, the least first */
	struct chain best[ADVISE_MOST + 1]; /* of exactly so many layouts */
	/* What it costs to come to a stop by one other, and by which. */
	double in_by_one[STOPS_MAX];
	int by[STOPS_MAX];
};

/* Finds the cheapest chains of each number of layouts among those that it tries. */
void search_chains(struct search *s, const struct plan *const *guide);

/*
 * Returns whether chain `a` comes before `b`: the cheaper one, then the one of fewer
 * layouts, of fewer parts of axes, of less memory.
 */
bool chain_before(struct search *s, const struct chain *a, const struct chain *b);

#endif
