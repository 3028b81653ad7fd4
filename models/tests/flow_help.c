#include "flow_help.h"

#include "bound_machine.h"

struct machine *flow_machine(struct arena *a, struct machine *m, bool latency)
{
	struct link *link = arena_dup(a, m->link, (size_t)m->nlinks, sizeof(*link));

	for (int32_t l = 0; l < m->nlinks && !latency; l++)
		link[l].latency_s = 0;
	m->link = link;
	m->tuning = tuning_default;
	m->tuning.value[TUNING_SCHEDULED] = 1;
	return m;
}

struct machine *flow_torus(struct arena *a, int naxes, const int32_t *shape)
{
	static const bool wrap[] = {true, true, true};

	return machine_torus(a, naxes, shape, wrap, bound_ici, bound_device);
}

const int32_t *flow_identity(struct arena *a, int32_t n)
{
	int32_t *out = arena_alloc(a, (size_t)n, sizeof(*out));

	for (int32_t d = 0; d < n; d++)
		out[d] = d;
	return out;
}

bool flow_find(struct found *out, const struct problem *p, const struct machine *m,
               const int32_t *platform, enum flow_reach reach, struct arena *a)
{
	if (!network_make(&out->network, m, platform, p->ndevices, reach, a) ||
	    !demand_make(&out->demand, p, a) ||
	    (out->demand.sums && !network_turn(&out->network, a)))
		return false;
	symmetry_find(&out->symmetry, &out->network, &out->demand, &p->mesh, a);
	if (!forest_make(&out->forest, &out->network, &out->demand, &out->symmetry,
	                 false, a))
		return false;
	return flows_of_forest(&out->flows, &out->forest, &out->network, &out->symmetry,
	                       a);
}
