#include "planner/best/ways.h"

#include <math.h>
#include <stdlib.h>

/*
 * On few devices the cheapest ways by one layout follow that are dearer than the plan there
 * is, so many of them and up to so many times its price, within another part of the work.
 * Without these ways 16 of 2,352 pairs stay open on 24 GPUs, the worst by 18 %, and with
 * them 14, by 11 %.
 */
static const double NEAR_SHARE = 0.2, NEAR = 1.35;
enum { NEAR_MAX = 10 };

void vias_add_script(struct vias *vias, const struct type *const *type,
                     const struct hop *hop, int n)
{
	struct script *s = &vias->hops.script;

	s->from = vias->ends.from;
	s->to = vias->ends.to;
	s->n = n;
	for (int i = 0; i < n; i++) {
		type_step(&s->step[i], &vias->types, type[i], type[i + 1],
		          hop[i].collective, vias->pool->arena);
		s->step[i].senders =
			hop[i].collective ? vias->hops.senders : hop[i].senders;
	}
	best_pool_add(vias->pool, s);
}

/* --- one layout, and two ---------------------------------------------------------- */

/*
 * Finds the price of a step that must need less than `most`. An exchange is priced where it
 * may be cheaper than the collective.
 */
static void price_leg(struct leg_of_via *leg, struct vias *vias,
                      const struct type *before, const struct type *after, double most)
{
	struct hop sent;

	if (!vias->has_all)
		leg->hop.seconds =
			hop_collective_s(&vias->hops, before, after, vias_far_s(vias));
	if (vias_bytes_s(vias, vias->slack * leg->lacks_bytes) >= most ||
	    vias_bytes_s(vias, leg->lacks_bytes) >= leg->hop.seconds)
		return;
	sent = hop_exchange(&vias->hops, before, after, vias_far_s(vias));
	if (sent.seconds < leg->hop.seconds)
		leg->hop = sent;
}

static void price_via(struct vias *vias, struct via *via)
{
	const struct types_between *t = &vias->types;
	const struct type *const type[] = {&t->from, &via->type, &t->to};
	double most = vias_most_s(vias);

	price_leg(&via->in, vias, &t->from, &via->type, most - via->out.least_s);
	/* where the first step is dear there may be a cheap way there by two */
	price_leg(&via->out, vias, &via->type, &t->to,
	          most - fmin(via->in.hop.seconds, via->in.least_s));
	if (via->in.hop.seconds + via->out.hop.seconds < most)
		vias_add_script(vias, type,
		                (const struct hop[]){via->in.hop, via->out.hop}, 2);
}

/* --- what is cheaper once it is rewritten ----------------------------------------- */

static double sum_s(const struct via *via)
{
	return via->in.hop.seconds + via->out.hop.seconds;
}

/* Returns whether one layout comes before another, by what the steps by way of it take. */
static bool is_cheaper(const struct vias *vias, int a, int b)
{
	const struct via *x = &vias->via[a], *y = &vias->via[b];

	if (sum_s(x) != sum_s(y))
		return sum_s(x) < sum_s(y);
	return x->rank != y->rank ? x->rank < y->rank : a < b;
}

/* Returns the layout behind `last` (-1: the first) that is no cheaper than `most_s`, or -1. */
static int next_near(struct vias *vias, double most_s, int last)
{
	int next = -1;

	for (int i = 0; i < vias->n; i++) {
		double s = sum_s(&vias->via[i]);

		if (s < most_s || s >= NEAR * most_s)
			continue;
		vias_rank(vias, &vias->via[i]);
		if (last >= 0 && !is_cheaper(vias, last, i))
			continue;
		if (next < 0 || is_cheaper(vias, i, next))
			next = i;
	}
	return next;
}

/*
 * Adds the cheapest ways by one layout that are dearer than the plan there is, for their
 * steps may be done otherwise.
 */
static void add_near(struct vias *vias)
{
	const struct types_between *t = &vias->types;
	double most = vias_most_s(vias);
	int at = -1;

	if (!best_pool_is_small(vias->pool))
		return;
	for (int k = 0; k < NEAR_MAX && (at = next_near(vias, most, at)) >= 0; k++) {
		const struct via *via = &vias->via[at];
		const struct type *const type[] = {&t->from, &via->type, &t->to};

		vias_add_script(vias, type,
		                (const struct hop[]){via->in.hop, via->out.hop}, 2);
	}
}

static int compare_ways(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (x->least_s != y->least_s)
		return x->least_s < y->least_s ? -1 : 1;
	for (int i = 0; i < 2; i++)
		if (x->rank[i] != y->rank[i])
			return x->rank[i] < y->rank[i] ? -1 : 1;
	return x->first != y->first ? x->first - y->first : x->second - y->second;
}

/* Finds the ways whose ends are priced, the least first. */
static void find_ways(struct vias *vias)
{
	double most = vias_most_s(vias), slack = vias->has_all ? 1 : vias->slack;

	for (int i = 0; i < vias->n; i++)
		for (int k = 0; k < vias->n && vias->via[i].in.hop.seconds < most; k++) {
			struct way way = {.least_s = vias->via[i].in.hop.seconds +
			                             vias->via[k].out.hop.seconds,
			                  .first = i,
			                  .second = k};

			if (i == k || way.least_s >= most)
				continue;
			way.least_s += vias_bytes_s(
				vias, slack * vias_lacks_bytes(vias, &vias->via[i].type,
			                                       &vias->via[k].type));
			if (way.least_s >= most)
				continue;
			way.rank[0] = vias_rank(vias, &vias->via[i]);
			way.rank[1] = vias_rank(vias, &vias->via[k]);
			*list_add(&vias->way, vias->arena) = way;
		}
	if (vias->way.n > 1)
		qsort(vias->way.at, (size_t)vias->way.n, sizeof(*vias->way.at),
		      compare_ways);
}

static void price_way(struct vias *vias, const struct way *way)
{
	const struct types_between *t = &vias->types;
	const struct via *first = &vias->via[way->first];
	const struct via *second = &vias->via[way->second];
	const struct type *const type[] = {&t->from, &first->type, &second->type,
	                                   &t->to};
	double left =
		vias_most_s(vias) - first->in.hop.seconds - second->out.hop.seconds;
	struct leg_of_via middle = {vias_lacks_bytes(vias, type[1], type[2]),
	                            0,
	                            {.seconds = INFINITY, .collective = true}};

	middle.hop.seconds =
		hop_collective_s(&vias->hops, type[1], type[2], vias_far_s(vias));
	price_leg(&middle, vias, type[1], type[2], left);
	if (middle.hop.seconds < left)
		vias_add_script(vias, type,
		                (const struct hop[]){first->in.hop, middle.hop,
		                                     second->out.hop},
		                3);
}

/* Lets work be done up to a share of all, counted from where the layouts began. */
static void limit(struct vias *vias, double share)
{
	struct best_pool *pool = vias->pool;

	pool->most = vias->before + (int64_t)(share * (double)pool->most_of_all);
}

void vias_price_all(struct vias *vias)
{
	struct best_pool *pool = vias->pool;

	vias->before = vias->more ? best_pool_work(pool) : 0;
	limit(vias, vias->one_share);
	for (struct via *via; !best_pool_is_over(pool) && (via = vias_next(vias));)
		if (vias_least_s(via) < vias_most_s(vias))
			price_via(vias, via);
	find_ways(vias);
	limit(vias, vias->two_share);
	for (int64_t i = 0; i < vias->way.n && !best_pool_is_over(pool); i++)
		if (vias->way.at[i].least_s < vias_most_s(vias))
			price_way(vias, &vias->way.at[i]);
	limit(vias, vias->two_share + NEAR_SHARE);
	add_near(vias);
}
