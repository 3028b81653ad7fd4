/* What an array within a step is, in words that a reader of the model's source can follow. */
#ifndef SHARDSIM_SIM_AUTOMAP_WORDS_H
#define SHARDSIM_SIM_AUTOMAP_WORDS_H

#include "automap/run.h"

/* Values that the search keeps whole along an axis, in all layers. */
struct whole_values {
	const char *axis;
	const char *what; /* "dot with layers.*.mlp.w1, forward, of 24 layers": where it is among ops */
	const char *names; /* of their ops in the program: "v64, v77" */
};

/*
 * Lists them, all the arena's, with `together` those of the same words as one. Arguments are left
 * out, whose layouts say it.
 */
struct whole_values *automap_whole_values(int64_t *n, struct arena *a,
                                          const struct automap_found *f,
                                          const struct graph *g, bool together);

#endif
