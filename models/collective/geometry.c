/*
 * Which algorithm when (design 6). From the most special to the most general, so the
 * first that applies is the one:
 *
 *   bidir-ring  a full wrapped axis: both directions, every link busy
 *   line        a contiguous part of an axis: no wrap, both directions
 *   torus       a product of such runs: all axes busy in every phase
 *   two-level   several nodes with equally many members: the slow fabric carries only
 *               what must leave the node
 *   ring        any group: all-gather, reduce-scatter, all-reduce
 *   direct      a torus with missing links: all-to-all, whose messages need no rounds
 *   pairwise    any group: all-to-all
 *   chain       any group: broadcast, reduce
 *
 * Only the geometry of the fabrics counts, and for direct their profile, which is what
 * `applies` looks at.
 */
#include "collective/collective.h"

extern const struct algorithm algorithm_bidir_ring, algorithm_line, algorithm_torus,
	algorithm_two_level, algorithm_ring, algorithm_direct, algorithm_pairwise,
	algorithm_chain;

const struct algorithm *const algorithms[] = {
	&algorithm_bidir_ring, &algorithm_line,  &algorithm_torus,
	&algorithm_two_level,  &algorithm_ring,  &algorithm_direct,
	&algorithm_pairwise,   &algorithm_chain, NULL,
};

const struct algorithm *algorithm_choose(const struct machine *m, enum op op,
                                         const struct groups *g)
{
	for (int i = 0; algorithms[i]; i++)
		if (algorithms[i]->applies(m, op, g))
			return algorithms[i];
	return NULL;
}
