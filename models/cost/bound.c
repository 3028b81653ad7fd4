#include "cost/bound.h"

#include "array/tile.h"
#include "collective/local.h"

#include <assert.h>
#include <math.h>

/* What a device can receive per second, and the least latency of a route into it. */
struct ingress {
	double bandwidth_Bps, latency_s;
};

/* Add the link from the neighbour of place `here` at `step` (+1, -1) along an axis. */
static void add_neighbour(struct ingress *in, const struct machine *m,
                          const struct fabric *f, int32_t d, int axis, int step)
{
	int32_t stride = 1, size = f->shape[axis], here = f->place[d], c, to;
	int32_t from, link;

	for (int a = f->naxes - 1; a > axis; a--)
		stride *= f->shape[a];
	if (f->port[(int64_t)d * 2 * f->naxes + 2 * axis + (step < 0)] < 0)
		return;
	c = here / stride % size;
	to = (c + step + size) % size;
	from = f->at[(int64_t)f->domain[d] * fabric_places(f) + here + (to - c) * stride];
	link = f->port[(int64_t)from * 2 * f->naxes + 2 * axis + (step > 0)];
	assert(link >= 0);
	in->bandwidth_Bps += m->link[link].bandwidth_Bps;
	in->latency_s = fmin(in->latency_s, m->link[link].latency_s);
}

/* The least latency of an up link of every domain of a switch. */
static const double *least_up(const struct machine *m, const struct fabric *f,
                              struct arena *a)
{
	double *least = arena_alloc(a, (size_t)f->ndomains, sizeof(*least));

	for (int32_t k = 0; k < f->ndomains; k++)
		least[k] = INFINITY;
	for (int32_t d = 0; d < m->ndevices; d++)
		if (f->domain[d] >= 0)
			least[f->domain[d]] =
				fmin(least[f->domain[d]],
			             m->link[f->port[2 * (int64_t)d]].latency_s);
	return least;
}

static struct ingress ingress_of(const struct machine *m, const double *const *up,
                                 int32_t d)
{
	struct ingress in = {.latency_s = INFINITY};

	for (int k = 0; k < m->nfabrics; k++) {
		const struct fabric *f = &m->fabric[k];
		const struct link *down;

		if (f->domain[d] < 0)
			continue;
		switch (f->geometry) {
		case GEOMETRY_TORUS:
			for (int axis = 0; axis < f->naxes; axis++) {
				add_neighbour(&in, m, f, d, axis, 1);
				add_neighbour(&in, m, f, d, axis, -1);
			}
			break;
		case GEOMETRY_SWITCH:
			down = &m->link[f->port[2 * (int64_t)d + 1]];
			in.bandwidth_Bps += down->bandwidth_Bps;
			in.latency_s = fmin(in.latency_s,
			                    down->latency_s + up[k][f->domain[d]]);
			break;
		case GEOMETRY_GRAPH:
			return (struct ingress){.bandwidth_Bps = INFINITY};
		}
	}
	return in;
}

double bound_s(const struct problem *p, const struct machine *m,
               const struct placement *place)
{
	const struct shape *shape = &p->array.shape;
	struct arena *a = arena_new();
	struct tilemap from = tilemap_make(&p->from, &p->mesh, shape, a);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, shape, a);
	const double *up[MACHINE_FABRICS_MAX] = {0};
	double bound = 0;

	for (int k = 0; k < m->nfabrics; k++)
		if (m->fabric[k].geometry == GEOMETRY_SWITCH)
			up[k] = least_up(m, &m->fabric[k], a);
	for (int32_t d = 0; d < to.ndevices; d++) {
		int64_t lacks = tilemap_elements(&to, shape, d) -
		                tilemap_common(&from, &to, shape, d);
		struct ingress in;

		if (lacks == 0)
			continue;
		in = ingress_of(m, up, placement_device(place, d));
		if (in.bandwidth_Bps == 0)
			continue;
		bound = fmax(bound, (double)dtype_bytes(p->array.dtype, lacks) /
		                                    in.bandwidth_Bps +
		                            in.latency_s);
	}
	arena_free(a);
	return bound;
}
