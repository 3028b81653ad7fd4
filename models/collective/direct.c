/*
 * direct: all-to-all of S per device in a group on one graph of TPUs, a torus with missing
 * links: all pairs at once over the real routes, S/n each. The chips send on all their
 * links alike, so nobody waits for rounds.
 *
 *   rounds  1
 *   bytes   S(n-1)/n sent and received per device; a link what its routes carry
 *   cost    latency of the longest route + S/n (routes on the busiest link) / W
 *   need    2S
 * Tori of the shapes that have better algorithms use those.
 */
#include "collective/collective.h"
#include "collective/joined.h"
#include "collective/profile.h"
#include "collective/runs.h"

/* The profile of TPUs is the one by geometry that is not plain. */
static bool direct_applies(const struct machine *m, enum op op, const struct groups *g)
{
	if (op != OP_ALL_TO_ALL || g->size < 2)
		return false;
	for (int32_t i = 0; i < g->ngroups; i++) {
		int f = fabric_of_all(m, g->ids + (int64_t)i * g->size, g->size);

		if (f < 0 || m->fabric[f].geometry != GEOMETRY_GRAPH ||
		    !profile_of_fabric(m, f)->fill)
			return false;
	}
	return true;
}

static void direct_build(struct schedule *out, const struct machine *m, enum op op,
                         const struct groups *g, double bytes)
{
	(void)op;
	schedule_round(out);
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = g->ids + (int64_t)i * g->size;

		schedule_task(out, 1);
		all_pairs(out, m, ids, g->size, bytes / g->size);
	}
	schedule_end(out);
}

const struct algorithm algorithm_direct = {
	.name = "direct",
	.help = "all pairs at once, on a torus with missing links",
	.applies = direct_applies,
	.build = direct_build,
};
