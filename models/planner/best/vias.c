#include "planner/best/vias.h"

#include "base/heap.h"
#include "planner/best/types.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * The number of layouts that are looked at, and the work of looking at one and of finding
 * a step that may be priced already. Of 2,352 pairs on x=2,y=3,z=4 no more are closed with
 * 1,000 layouts.
 */
enum { VIAS_MAX = 256, LOOK_WORK = 10, LEG_WORK = 20 };

/*
 * On more devices senders go by numbers alone: assignments take longer than their messages
 * say, so that plans took 1.4 times as long on 512. Without paths 150 to 200 more of 2,352
 * pairs stay open on 24 devices whose axes do not lie along those of the machine.
 */
enum { PATHS_DEVICES = 128 };

/*
 * The parts of the work after which no layout and no two layouts are tried any more. With
 * 0.6 and 0.8 as many pairs stay open.
 */
static const double ONE_SHARE = 0.4, TWO_SHARE = 0.6;

/*
 * Received bytes bound a step from below, but steps take several times as long where
 * links are shared. A step is taken to need this part of what the cheapest plan needs over
 * its own bound, and at most so many times its bound. With three times for all, 175 of
 * 2,352 pairs stay open on a torus of 2x2x2, where bounds are near, and 2 with this.
 */
static const double SLACK_PART = 0.5, SLACK_MAX = 3;

struct via {
	struct type type;
	double least_in_s, least_out_s; /* what steps there and from there may take */
	double in_s, out_s;             /* what they take; INFINITY: too much */
	bool in_collective, out_collective;
};

/* Two layouts in a row, and what the three steps may take. */
struct way {
	double least_s;
	int first, second;
};

struct vias {
	struct best_pool *pool;
	struct types_between types;
	struct arena *arena;
	struct keys known;
	struct heap open; /* by rising least_in_s + least_out_s */
	LIST(struct way) way;
	double slack;
	uint32_t senders;     /* of exchanges */
	struct script script; /* of one step that is priced, or of all that are added */
	int n;
	struct via via[VIAS_MAX];
};

static bool is_nearer(const void *context, int32_t a, int32_t b)
{
	const struct via *via = ((const struct vias *)context)->via;
	double a_s = via[a].least_in_s + via[a].least_out_s;
	double b_s = via[b].least_in_s + via[b].least_out_s;

	return a_s != b_s ? a_s < b_s : a < b;
}

/* Returns what a step between two types may be taken to need. */
static double least_s(const struct vias *vias, const struct type *before,
                      const struct type *after)
{
	const struct best *b = vias->pool->best;
	int64_t lacks = type_lacks(&vias->types, before, after);
	double bytes = (double)dtype_bytes(b->problem->array.dtype, lacks);

	return b->prices->least(b->prices->self, b->problem, vias->slack * bytes).cost;
}

/* Returns what a plan must be cheaper than. */
static double most_s(const struct vias *vias)
{
	const struct best *b = vias->pool->best;

	return b->plan ? b->price.cost : INFINITY;
}

static void find_slack(struct vias *vias)
{
	double bound_s, most = most_s(vias);

	vias->slack = 1;
	bound_s = least_s(vias, &vias->types.from, &vias->types.to);
	if (isfinite(most))
		vias->slack = fmin(SLACK_MAX, fmax(1, SLACK_PART * most / bound_s));
}

/* --- layouts ---------------------------------------------------------------------- */

static void look_at(void *self, const struct type *type)
{
	struct vias *vias = self;
	struct via *via = &vias->via[vias->n];
	bool fresh;

	if (vias->n == VIAS_MAX)
		return;
	keys_add(&vias->known, type, sizeof(*type), &fresh);
	if (!fresh)
		return;
	vias->pool->work += LOOK_WORK;
	via->type = *type;
	via->in_s = via->out_s = INFINITY;
	via->least_in_s = least_s(vias, &vias->types.from, type);
	via->least_out_s = least_s(vias, type, &vias->types.to);
	if (via->least_in_s + via->least_out_s < most_s(vias))
		heap_queue(&vias->open, is_nearer, vias, vias->n++,
		           via->least_in_s + via->least_out_s);
}

static void look_around(struct vias *vias, const struct type *type)
{
	type_neighbours(&vias->types, type, look_at, vias);
}

/* --- steps ------------------------------------------------------------------------ */

/* Returns the seconds of a step from a layout, INFINITY if they are `most` or more. */
static double step_s(struct vias *vias, const struct layout *from,
                     const struct script_step *step, double most)
{
	struct script *s = &vias->script;
	const struct price limit = {.cost = most};
	struct price price;

	s->from = *from;
	s->to = step->after;
	s->n = 1;
	s->step[0] = *step;
	vias->pool->work += LEG_WORK;
	if (!step_prices_script(&price, vias->pool->steps, s, &limit))
		return INFINITY;
	return price.cost;
}

/*
 * Returns the seconds of the step between two types as a collective, if there is one, or
 * as an exchange, and says which it is; INFINITY if they are `most` or more.
 */
static double cheaper_s(struct vias *vias, const struct type *before,
                        const struct type *after, double most, bool *collective)
{
	const struct types_between *t = &vias->types;
	enum op op = type_op(t, before, after);
	bool exchanges = op != OP_SLICE && t->problem->vocabulary != VOCABULARY_PORTABLE;
	double collective_s = INFINITY, exchange_s = INFINITY;
	struct script_step step;
	struct layout from;

	*collective = false;
	if (!(most > 0) || (op == OP_EXCHANGE && !exchanges))
		return INFINITY;
	layout_of_type(&from, before, &t->pieces, &t->problem->mesh);
	type_step(&step, t, before, after, true, vias->arena);
	if (step.op != OP_EXCHANGE)
		collective_s = step_s(vias, &from, &step, most);
	if (exchanges && fmin(most, collective_s) > 0) {
		const struct script_step exchange = {.op = OP_EXCHANGE,
		                                     .after = step.after,
		                                     .senders = vias->senders};

		exchange_s = step_s(vias, &from, &exchange, fmin(most, collective_s));
	}
	*collective = step.op != OP_EXCHANGE && !(exchange_s < collective_s);
	return fmin(exchange_s, collective_s);
}

/* Adds the script of steps between n + 1 types. */
static void add_script(struct vias *vias, const struct type *const *type,
                       const bool *collective, int n)
{
	struct script *s = &vias->script;

	s->from = vias->pool->best->problem->from;
	s->to = vias->pool->best->problem->to;
	s->n = n;
	for (int i = 0; i < n; i++) {
		type_step(&s->step[i], &vias->types, type[i], type[i + 1],
		          collective[i], vias->pool->arena);
		s->step[i].senders = vias->senders;
	}
	best_pool_add(vias->pool, s);
}

/* --- one layout, and two ---------------------------------------------------------- */

static void price_via(struct vias *vias, struct via *via)
{
	const struct types_between *t = &vias->types;
	const struct type *const type[] = {&t->from, &via->type, &t->to};
	double most = most_s(vias);

	via->in_s = cheaper_s(vias, &t->from, &via->type, most - via->least_out_s,
	                      &via->in_collective);
	/* where the first step is dear there may be a cheap way there by two */
	via->out_s = cheaper_s(vias, &via->type, &t->to,
	                       most - fmin(via->in_s, via->least_in_s),
	                       &via->out_collective);
	if (via->in_s + via->out_s < most)
		add_script(vias, type,
		           (const bool[]){via->in_collective, via->out_collective}, 2);
}

static int compare_ways(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (x->least_s != y->least_s)
		return x->least_s < y->least_s ? -1 : 1;
	return x->first != y->first ? x->first - y->first : x->second - y->second;
}

/* Finds the ways whose ends are priced, the least first. */
static void find_ways(struct vias *vias)
{
	double most = most_s(vias);

	for (int i = 0; i < vias->n; i++)
		for (int k = 0; k < vias->n && vias->via[i].in_s < most; k++) {
			struct way way = {vias->via[i].in_s + vias->via[k].out_s, i, k};

			if (i == k || way.least_s >= most)
				continue;
			way.least_s +=
				least_s(vias, &vias->via[i].type, &vias->via[k].type);
			if (way.least_s < most)
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
	double left = most_s(vias) - first->in_s - second->out_s;
	bool collective;

	if (cheaper_s(vias, &first->type, &second->type, left, &collective) < left)
		add_script(vias, type,
		           (const bool[]){first->in_collective, collective,
		                          second->out_collective},
		           3);
}

static void price_all(struct vias *vias)
{
	struct best_pool *pool = vias->pool;

	pool->most = (int64_t)(ONE_SHARE * (double)pool->most_of_all);
	for (int32_t i; !best_pool_is_over(pool) &&
	                (i = heap_take(&vias->open, is_nearer, vias)) >= 0;) {
		struct via *via = &vias->via[i];

		look_around(vias, &via->type);
		if (via->least_in_s + via->least_out_s < most_s(vias))
			price_via(vias, via);
	}
	find_ways(vias);
	pool->most = (int64_t)(TWO_SHARE * (double)pool->most_of_all);
	for (int64_t i = 0; i < vias->way.n && !best_pool_is_over(pool); i++)
		if (vias->way.at[i].least_s < most_s(vias))
			price_way(vias, &vias->way.at[i]);
}

void best_add_vias(struct best_pool *pool)
{
	struct vias *vias = xmalloc(1, sizeof(*vias));
	bool fresh;

	memset(vias, 0, offsetof(struct vias, via));
	vias->pool = pool;
	if (!pool->steps || !types_between(&vias->types, pool->best->problem)) {
		xfree(vias);
		return;
	}
	vias->arena = arena_new();
	vias->known.arena = vias->arena;
	vias->senders = pool->best->problem->ndevices <= PATHS_DEVICES ? SENDERS_PATHS
	                                                               : SENDERS_RULE;
	script_begin(&vias->script, pool->best->problem);
	vias->script.view.shape = pool->best->problem->array.shape;
	for (int i = 0; i < vias->script.view.shape.rank; i++)
		vias->script.view.dim[i] = (uint8_t)i;
	keys_add(&vias->known, &vias->types.from, sizeof(struct type), &fresh);
	keys_add(&vias->known, &vias->types.to, sizeof(struct type), &fresh);
	add_script(vias, (const struct type *[]){&vias->types.from, &vias->types.to},
	           (const bool[]){false}, 1);
	find_slack(vias);
	look_around(vias, &vias->types.from);
	look_around(vias, &vias->types.to);
	price_all(vias);
	heap_free(&vias->open);
	arena_free(vias->arena);
	xfree(vias);
}
