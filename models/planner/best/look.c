#include "planner/best/look.h"

#include <math.h>
#include <string.h>

/* The work of looking at a layout. */
enum { LOOK_WORK = 10 };

/*
 * Received bytes bound a step from below, but steps take several times as long where
 * links are shared. A step is taken to need this part of what the cheapest plan needs over
 * its own bound, and at most so many times its bound. With three times for all, 175 of
 * 2,352 pairs stay open on a torus of 2x2x2, where bounds are near, and 2 with this.
 */
static const double SLACK_PART = 0.5, SLACK_PART_FEW = 0.7, SLACK_MAX = 3;

double vias_least_s(const struct via *via)
{
	return via->in.least_s + via->out.least_s;
}

static bool is_nearer(const void *context, int32_t a, int32_t b)
{
	const struct via *via = ((const struct vias *)context)->via;
	double a_s = vias_least_s(&via[a]), b_s = vias_least_s(&via[b]);

	if (a_s != b_s)
		return a_s < b_s;
	return via[a].rank != via[b].rank ? via[a].rank < via[b].rank : a < b;
}

double vias_lacks_bytes(const struct vias *vias, const struct type *before,
                        const struct type *after)
{
	int64_t lacks = type_lacks(&vias->types, before, after);

	return (double)dtype_bytes(vias->pool->best->problem->array.dtype, lacks);
}

double vias_bytes_s(const struct vias *vias, double bytes)
{
	const struct best *b = vias->pool->best;

	return b->prices->least(b->prices->self, b->problem, bytes).cost;
}

double vias_most_s(const struct vias *vias)
{
	const struct best *b = vias->pool->best;

	return b->plan ? b->price.cost : INFINITY;
}

double vias_far_s(const struct vias *vias)
{
	return best_pool_is_small(vias->pool) ? INFINITY : vias_most_s(vias);
}

void vias_find_slack(struct vias *vias)
{
	double bound_s, most = vias_most_s(vias);
	double part = best_pool_is_small(vias->pool) ? SLACK_PART_FEW : SLACK_PART;

	vias->slack = 1;
	bound_s = vias_bytes_s(
		vias, vias_lacks_bytes(vias, &vias->types.from, &vias->types.to));
	if (isfinite(most))
		vias->slack = fmin(SLACK_MAX, fmax(1, part * most / bound_s));
}

/* --- layouts ---------------------------------------------------------------------- */

uint64_t vias_rank(struct vias *vias, struct via *via)
{
	const struct types_between *t = &vias->types;
	uint8_t key[2 * TYPE_KEY_MAX];
	size_t size;

	if (via->rank)
		return via->rank;
	size = type_key(key, t, &t->from, &via->type);
	size += type_key(key + size, t, &via->type, &t->to);
	via->rank = UINT64_C(0xcbf29ce484222325);
	/* FNV-1a, as plans must be the same on every machine */
	for (size_t i = 0; i < size; i++)
		via->rank = (via->rank ^ key[i]) * UINT64_C(0x100000001b3);
	via->rank |= 1;
	return via->rank;
}

/*
 * Stores what a step may be taken to need. Where all layouts there are are looked at, the
 * prices of collectives are found at once: those of slices are exact bounds, and others may
 * use more links than bytes alone suggest.
 */
static void begin_leg(struct leg_of_via *leg, struct vias *vias,
                      const struct type *before, const struct type *after)
{
	leg->hop = (struct hop){.seconds = INFINITY, .collective = true};
	leg->least_s = vias_bytes_s(vias, vias->slack * leg->lacks_bytes);
	if (!vias->has_all)
		return;
	leg->hop.seconds =
		hop_collective_s(&vias->hops, before, after, vias_far_s(vias));
	if (vias->portable || leg->hop.seconds < leg->least_s)
		leg->least_s = leg->hop.seconds;
}

/* Looks at a type that was not looked at yet. */
static void look_at_fresh(void *self, const struct type *type)
{
	struct vias *vias = self;
	const struct types_between *t = &vias->types;
	struct via *via = &vias->via[vias->n];

	if (vias->n == VIAS_MAX || memcmp(type, &t->from, sizeof(*type)) == 0 ||
	    memcmp(type, &t->to, sizeof(*type)) == 0)
		return;
	vias->pool->work += LOOK_WORK;
	via->type = *type;
	via->in.lacks_bytes = vias_lacks_bytes(vias, &t->from, type);
	via->out.lacks_bytes = vias_lacks_bytes(vias, type, &t->to);
	if (vias_bytes_s(vias, via->in.lacks_bytes) +
	            vias_bytes_s(vias, via->out.lacks_bytes) >=
	    vias_most_s(vias))
		return;
	begin_leg(&via->in, vias, &t->from, type);
	begin_leg(&via->out, vias, type, &t->to);
	via->rank = 0;
	if (vias->has_all)
		vias->n++;
	if (vias_least_s(via) >= vias_most_s(vias))
		return;
	vias_rank(vias, via);
	heap_queue(&vias->open, is_nearer, vias, (int32_t)(via - vias->via),
	           vias_least_s(via));
	if (!vias->has_all)
		vias->n++;
}

static void look_at(void *self, const struct type *type)
{
	struct vias *vias = self;
	bool fresh;

	if (vias->n == VIAS_MAX)
		return;
	keys_add(&vias->known, type, sizeof(*type), &fresh);
	if (fresh)
		look_at_fresh(vias, type);
}

void vias_look_first(struct vias *vias)
{
	vias->has_all = true;
	vias->has_all = type_all(&vias->types, VIAS_MAX, look_at_fresh, vias);
	if (vias->has_all || vias->only_all)
		return;
	type_neighbours(&vias->types, &vias->types.from, look_at, vias);
	type_neighbours(&vias->types, &vias->types.to, look_at, vias);
}

struct via *vias_next(struct vias *vias)
{
	int32_t i = heap_take(&vias->open, is_nearer, vias);

	if (i < 0)
		return NULL;
	if (!vias->has_all)
		type_neighbours(&vias->types, &vias->via[i].type, look_at, vias);
	return &vias->via[i];
}
