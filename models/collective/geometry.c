/*
 * Which algorithm when (models/README.md, "Collectives"). They are listed from the most
 * special to the most general, so the first that applies is the one:
 *
 *   bidir-ring  a full wrapped axis: both directions, every link busy
 *   line        a contiguous part of an axis: no wrap, both directions
 *   torus       a product of such runs: all axes busy in every phase
 *   two-level   several nodes with equally many members: the slow fabric carries only
 *               what must leave the node
 *   ring        any group: all-gather, reduce-scatter, all-reduce; on a torus in group
 *               order or by rising number (device-ring), whichever takes less time, for a
 *               group's order follows that of the array's dimensions
 *   direct      one switch, or a torus with missing links: all-to-all without rounds
 *   pairwise    any group: all-to-all
 *   chain       any group: broadcast, reduce
 *
 * Only the geometry of the fabrics counts, and for direct their profile, which is what
 * `applies` looks at. Where a torus lacks cables, the time of each that applies counts.
 */
#include "base/assert.h"
#include "collective/collective.h"
#include "collective/device_ring.h"
#include "collective/nccl.h"
#include "collective/two_level.h"

#include <math.h>

extern const struct algorithm algorithm_bidir_ring, algorithm_line, algorithm_torus,
	algorithm_ring, algorithm_direct, algorithm_pairwise, algorithm_chain;

/*
 * Builds two-level, where each level is done as the machine does it best: a choice
 * within a choice.
 */
static void two_level_build(struct schedule *out, const struct machine *m, enum op op,
                            const struct groups *g, double bytes)
{
	struct lowered_level level[TWO_LEVEL_MOST];
	int n = two_level_split(level, out->arena, m, op, g, bytes);

	for (int i = 0; i < n; i++) {
		const struct algorithm *algorithm = algorithm_fastest(
			out->arena, m, level[i].op, &level[i].groups, level[i].bytes);

		assert(algorithm);
		algorithm->build(out, m, level[i].op, &level[i].groups, level[i].bytes);
	}
}

static const struct algorithm algorithm_two_level = {
	.name = "two-level",
	.help = "equally many devices per node: inside the nodes and across them",
	.applies = two_level_applies,
	.build = two_level_build,
};

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

/* Returns the axes of the fabric that holds the first group if it has this geometry, or 0. */
static int axes_of(const struct machine *m, const struct groups *g,
                   enum geometry geometry)
{
	int f = g->ngroups ? machine_fabric_of_all(m, g->ids, g->size) : -1;

	return f >= 0 && m->fabric[f].geometry == geometry ? m->fabric[f].naxes : 0;
}

/* Returns the one of these that applies and takes the least time, NULL if none applies. */
static const struct algorithm *fastest_of(const struct algorithm *const *list,
                                          struct arena *a, const struct machine *m,
                                          enum op op, const struct groups *g,
                                          double bytes)
{
	const struct algorithm *fastest = NULL;
	struct nccl_wire *wire = nccl_wire_new(a, m);
	double least_s = INFINITY;

	for (int i = 0; list[i]; i++) {
		struct schedule s = {.arena = a};
		double time_s;

		if (!list[i]->applies(m, op, g))
			continue;
		list[i]->build(&s, m, op, g, bytes);
		time_s = nccl_wire_rounds_s(&s, wire);
		if (time_s < least_s) {
			least_s = time_s;
			fastest = list[i];
		}
	}
	return fastest;
}

const struct algorithm *algorithm_untimed(const struct machine *m, enum op op,
                                          const struct groups *g)
{
	const struct algorithm *chosen;

	/* A torus that lacks cables is a graph with axes. */
	if (op != OP_ALL_TO_ALL && axes_of(m, g, GEOMETRY_GRAPH))
		return NULL;
	chosen = algorithm_choose(m, op, g);
	if (chosen == &algorithm_ring && axes_of(m, g, GEOMETRY_TORUS) &&
	    device_ring_differs(g))
		return NULL;
	return chosen;
}

const struct algorithm *algorithm_fastest(struct arena *a, const struct machine *m,
                                          enum op op, const struct groups *g,
                                          double bytes)
{
	static const struct algorithm *const rings[] = {&algorithm_ring,
	                                                &algorithm_device_ring, NULL};
	const struct algorithm *chosen = algorithm_untimed(m, op, g);

	return chosen ? chosen
	              : fastest_of(axes_of(m, g, GEOMETRY_TORUS) ? rings : algorithms,
	                           a, m, op, g, bytes);
}
