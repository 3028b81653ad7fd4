/*
 * Which algorithm when (models/README.md, "Collectives"). They are listed from the most
 * special to the most general, so the first that applies is the one:
 *
 *   bidir-ring  a full wrapped axis: both directions, every link busy
 *   line        a contiguous part of an axis: no wrap, both directions
 *   torus       a product of such runs: all axes busy in every phase
 *   two-level   several nodes with equally many members: the slow fabric carries only
 *               what must leave the node
 *   ring        any group: all-gather, reduce-scatter, all-reduce
 *   direct      one switch, or a torus with missing links: all-to-all without rounds
 *   pairwise    any group: all-to-all
 *   chain       any group: broadcast, reduce
 *
 * Only the geometry of the fabrics counts, and for direct their profile, which is what
 * `applies` looks at. Where a torus lacks cables, the time of each that applies counts.
 */
#include "base/assert.h"
#include "collective/collective.h"
#include "collective/joined.h"
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
	struct level level[TWO_LEVEL_MOST];
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

/*
 * Returns the seconds of the rounds, of each the larger of what its slowest task takes
 * alone and of the busiest link with the least latency of a task.
 */
static double rounds_s(const struct schedule *s, struct nccl_wire *wire)
{
	double total_s = 0;

	for (int64_t r = 0; r < s->nrounds; r++) {
		const struct task *t = &s->task[s->round[r].first];
		struct task all = {.first = t->first};
		double slowest_s = 0, least_s = INFINITY, wire_s, route_s;

		for (int64_t i = 0; i < s->round[r].ntasks; i++, t++) {
			nccl_wire_task(&wire_s, &route_s, wire, s, t);
			slowest_s = fmax(slowest_s, wire_s + t->repeats * route_s);
			least_s = fmin(least_s, t->repeats * route_s);
			all.nmessages += t->nmessages;
		}
		nccl_wire_task(&wire_s, &route_s, wire, s, &all);
		total_s += fmax(slowest_s, wire_s + least_s);
	}
	return total_s;
}

/* Returns whether the first group is on a torus that lacks cables. */
static bool lacks_cables(const struct machine *m, const struct groups *g)
{
	int f = g->ngroups ? fabric_of_all(m, g->ids, g->size) : -1;

	return f >= 0 && m->fabric[f].geometry == GEOMETRY_GRAPH && m->fabric[f].naxes;
}

const struct algorithm *algorithm_fastest(struct arena *a, const struct machine *m,
                                          enum op op, const struct groups *g,
                                          double bytes)
{
	const struct algorithm *fastest = NULL;
	struct nccl_wire *wire;
	double least_s = INFINITY;

	if (op == OP_ALL_TO_ALL || !lacks_cables(m, g))
		return algorithm_choose(m, op, g);
	wire = nccl_wire_new(a, m);
	for (int i = 0; algorithms[i]; i++) {
		struct schedule s = {.arena = a};
		double time_s;

		if (!algorithms[i]->applies(m, op, g))
			continue;
		algorithms[i]->build(&s, m, op, g, bytes);
		time_s = rounds_s(&s, wire);
		if (time_s < least_s) {
			least_s = time_s;
			fastest = algorithms[i];
		}
	}
	return fastest;
}
