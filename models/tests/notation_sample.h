/*
 * Random layouts for the tests of the notations: made of digits of mesh axes, without
 * any struct layout, with the tile of every device by the coordinate formula of
 * sub-axes and the base-offset map (models/README.md, "Layouts"), and spelled anew in
 * every notation.
 */
#ifndef SHARDSIM_TESTS_NOTATION_SAMPLE_H
#define SHARDSIM_TESTS_NOTATION_SAMPLE_H

#include "array/layout.h"
#include "base/rng.h"

enum { SAMPLE_RANK = 3, SAMPLE_PARTS = 16, SAMPLE_DEVICES = 720 };

/* A random layout as the test sees it: lists of digits, no struct layout. */
struct sample {
	struct mesh mesh;
	int32_t ids[SAMPLE_DEVICES];
	struct shape shape;
	int count[SAMPLE_RANK + 1]; /* the last list: unreduced */
	struct part part[SAMPLE_RANK + 1][SAMPLE_PARTS];
	const struct part *sub; /* one that is not a whole axis */
	int32_t index[SAMPLE_DEVICES][SAMPLE_RANK];
};

/* Points into itself: not to be copied. */
void sample_make(struct sample *c, struct rng *rng);

/* Texts, the arena's. Whole axes only, but for Shardy and the device list. */
const char *sample_shardy(struct arena *a, const struct sample *c);
const char *sample_jax(struct arena *a, const struct sample *c);
const char *sample_dtensor(struct arena *a, const struct sample *c);
const char *sample_paper(struct arena *a, const struct sample *c);

/* S(0)[1,0]; NULL unless some dimension has two axes and none is unreduced. */
const char *sample_dtensor_lists(struct arena *a, const struct sample *c);

/* The device list, replicas falling; leaves unreduced axes out. */
const char *sample_hlo_list(struct arena *a, const struct sample *c);

/* <=[m]T(order), by the formula of XLA's iota lists; identity device order. */
const char *sample_hlo_iota(struct arena *a, const struct sample *c);

#endif
