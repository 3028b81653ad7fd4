/* Programs, graphs and searches for tests of models/automap. */
#ifndef SHARDSIM_TESTS_AUTOMAP_HELP_H
#define SHARDSIM_TESTS_AUTOMAP_HELP_H

#include "automap/search.h"
#include "automap/tactic.h"
#include "base/rng.h"
#include "program/model.h"

/* The model of scenarios/models/NAME.yaml; it must be right. */
struct architecture automap_model(struct arena *a, const char *name);

/* The graph of its training step, or of a program's text. */
const struct graph *automap_train(struct arena *a, const struct architecture *m,
                                  bool fold);
const struct graph *automap_graph(struct arena *a, const char *text, bool fold);

/* A cutting of it over axes of these sizes. */
struct cutting *automap_cutting(struct arena *a, const struct graph *g, int naxes,
                                const int32_t *size);

/* Applies a tactic by its name on an axis; returns how many arrays it cut. */
int automap_tactic(struct cutting *c, const char *name, int axis);

/* Cuts a dimension of the argument of that name, and propagates. */
void automap_cut(struct cutting *c, const char *name, int32_t dim, int axis);

/* Returns "AG AR RS A2A" of the cuts as they are, without prices. */
const char *automap_counts(struct arena *a, const struct cutting *c);

/*
 * A machine of closed forms: rings on links of so many bytes per second for each axis, kernels
 * at a rate of flops and of memory.
 */
struct plain_machine {
	double link_Bps[CUT_AXES], latency_s, flops, memory_Bps;
	int32_t size[CUT_AXES];
};
struct cut_prices automap_tariff(struct plain_machine *m);

enum how { EXHAUSTIVE, MCTS, STRUCTURE };

/* Runs a search, which has no more than its cutting, limits and seed, on such a machine. */
struct search automap_search(struct arena *a, enum how how, const struct graph *g,
                             struct plain_machine *m, struct search s);

/* Does an action at random, now and then one that keeps a value whole; returns whether it did any. */
bool automap_act(struct search *s, struct rng *rng);

#endif
