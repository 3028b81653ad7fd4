/* Programs in a text with the shardings of all their values. */
#ifndef SHARDSIM_TESTS_PROPAGATE_HELP_H
#define SHARDSIM_TESTS_PROPAGATE_HELP_H

#include "program/propagate.h"

struct propagated {
	struct program p;
	struct shardings s;
	struct arena *arena;
};

/* Reads the text, which has to be right, and hands its shardings on. */
struct propagated propagated(struct arena *a, const char *text, enum propagation by);

/* Returns a layout as JAX spells it. */
const char *propagated_text(const struct propagated *r, struct layout l);

/* The layout of the first value of an op or argument, and as JAX spells it. */
struct layout propagated_layout(const struct propagated *r, const char *name);
const char *propagated_of(const struct propagated *r, const char *name);

#endif
