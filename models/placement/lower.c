#include "placement/lower.h"

#include "collective/device_ring.h"

#include <string.h>

void reduction_of(struct reduction *out, struct arena *a, const struct space *s,
                  const struct program *p)
{
	double share = 1;

	*out = (struct reduction){.n = p->n};
	for (int i = 0; i < p->n; i++) {
		struct groups g = slice_groups(&s->tree, p->step[i].slice, a);

		out->step[i] = (struct reduction_step){
			.op = p->step[i].op,
			.groups = space_groups(s, g, a),
			.share = share,
		};
		if (p->step[i].op == OP_REDUCE_SCATTER)
			share /= g.size;
		else if (p->step[i].op == OP_ALL_GATHER)
			share *= g.size;
	}
}

/*
 * Returns the time to add up what is received: two reads and a write per byte, as for
 * all reductions, on the slowest memory.
 */
static double local_s(const struct machine *m, const struct reduction_step *step,
                      double held_bytes)
{
	double received_bytes = 0, s_per_byte = 0;
	const struct groups *g = &step->groups;

	if (step->op != OP_ALL_GATHER && step->op != OP_BROADCAST)
		received_bytes = device_ring_hop_bytes(step->op, g->size, held_bytes);
	for (int64_t i = 0; i < (int64_t)g->ngroups * g->size; i++) {
		double memory_Bps = m->device[g->ids[i]].memory_Bps;

		if (memory_Bps > 0 && 1 / memory_Bps > s_per_byte)
			s_per_byte = 1 / memory_Bps;
	}
	return 3 * received_bytes * s_per_byte;
}

struct groups reduction_groups(const struct groups *g, struct arena *a)
{
	struct groups ring = device_ring_order(g, a);
	int64_t n = (int64_t)g->ngroups * g->size;
	int32_t *ids = arena_alloc(a, (size_t)n, sizeof(*ids)), end = 0, *group,
		*next = ids;

	for (int32_t i = 0; i < g->ngroups; i++)
		if (ring.ids[(int64_t)i * g->size] >= end)
			end = ring.ids[(int64_t)i * g->size] + 1;
	group = arena_alloc(a, (size_t)end, sizeof(*group)); /* by root, from 1 */
	for (int32_t i = 0; i < g->ngroups; i++)
		group[ring.ids[(int64_t)i * g->size]] = i + 1;
	for (int32_t root = 0; root < end; root++) {
		if (!group[root])
			continue;
		memcpy(next, ring.ids + (int64_t)(group[root] - 1) * g->size,
		       (size_t)g->size * sizeof(*next));
		next += g->size;
	}
	ring.ids = ids;
	return ring;
}

bool reduction_lower(struct lowered *out, struct arena *a, const struct machine *m,
                     const struct reduction_step *step, double held_bytes,
                     struct text *why)
{
	const struct groups *g = &step->groups;
	int64_t n = (int64_t)g->ngroups * g->size;

	for (int64_t i = 0; i < n; i++)
		if (g->ids[i] >= m->ndevices) {
			text_printf(why, "%s has no device %d", m->name, (int)g->ids[i]);
			return false;
		}
	if (!lower_collective(out, a, m, step->op, reduction_groups(g, a), held_bytes,
	                      why))
		return false;
	out->local_s = local_s(m, step, held_bytes);
	return true;
}

static bool lower_reduction_step(const void *self, struct lowered *out, struct arena *a,
                                 int step, struct text *why)
{
	const struct reduction_steps *r = self;
	const struct reduction_step *s = &r->reduction->step[step];

	return reduction_lower(out, a, r->machine, s, s->share * r->payload_bytes, why);
}

struct steps steps_of_reduction(const struct reduction_steps *r)
{
	return (struct steps){r->reduction->n, lower_reduction_step, r};
}
