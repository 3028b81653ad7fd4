/* Making a graph: what its files share. Private to graph*.c. */
#ifndef SHARDSIM_AUTOMAP_GRAPH_BUILD_H
#define SHARDSIM_AUTOMAP_GRAPH_BUILD_H

#include "automap/graph.h"
#include "program/rules.h"

struct graph_build {
	struct graph *g;
	struct arena *a;
	const struct program *p;
	const struct flat *flat;
	struct repeats r;
};

/* The factors of a known attention kernel (program/custom.h); false of other ops. */
bool graph_attention_rule(struct op_rule *out, struct arena *a, const struct program *p,
                          const struct instruction *op);

/* Finds the kernels, what they read, and when each value is read last. */
void graph_kernels(struct graph_build *b);

/* Puts arguments into groups. */
enum status graph_groups(struct graph_build *b, const char *const *like, int nlike,
                         struct error *e);

/* Says what role each group has, and which rule said so. */
void graph_roles(struct graph *g, struct arena *a);

/*
 * Marks those of n arguments (NULL: the first n) whose names an option's regular expression matches;
 * it is an error if there are none.
 */
enum status graph_matches(bool *out, const struct program *p, const int32_t *argument,
                          int64_t n, const char *option, const char *text,
                          struct error *e);

#endif
