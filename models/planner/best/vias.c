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
	bool has_keys;        /* types tell what exchanges do */
	bool has_all;         /* all types there are were looked at */
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

/* Looks at a type that was not looked at yet. */
static void look_at_fresh(void *self, const struct type *type)
{
	struct vias *vias = self;
	struct via *via = &vias->via[vias->n];

	if (vias->n == VIAS_MAX || memcmp(type, &vias->types.from, sizeof(*type)) == 0 ||
	    memcmp(type, &vias->types.to, sizeof(*type)) == 0)
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

/* Looks at all types there are, or else at those around both ends. */
static void look_at_first(struct vias *vias)
{
	vias->has_all = type_all(&vias->types, VIAS_MAX, look_at_fresh, vias);
	if (vias->has_all)
		return;
	type_neighbours(&vias->types, &vias->types.from, look_at, vias);
	type_neighbours(&vias->types, &vias->types.to, look_at, vias);
}

/* --- steps ------------------------------------------------------------------------ */

/* Returns the seconds of a step from a layout, INFINITY if they are not known. */
static double step_s(struct vias *vias, const struct layout *from,
                     const struct script_step *step)
{
	struct script *s = &vias->script;
	struct price price;

	s->from = *from;
	s->to = step->after;
	s->n = 1;
	s->step[0] = *step;
	vias->pool->work += LEG_WORK;
	if (!step_prices_script(&price, vias->pool->steps, s, NULL))
		return INFINITY;
	return price.cost;
}

/* A step between two types, which is written where its price is not known. */
struct leg {
	const struct type *before, *after;
	struct layout from;
	struct script_step step; /* the collective, or an exchange */
	bool written;
};

static void write_leg(struct leg *leg, struct vias *vias)
{
	const struct types_between *t = &vias->types;

	if (!leg->written) {
		layout_of_type(&leg->from, leg->before, &t->pieces, &t->problem->mesh);
		type_step(&leg->step, t, leg->before, leg->after, true, vias->arena);
	}
	leg->written = true;
}

/* What legs are known by, told from steps of scripts by `tag`. */
enum { TAG_EXCHANGE = UINT8_MAX, TAG_COLLECTIVE };
struct leg_key {
	uint32_t senders, tag;
	uint8_t types[TYPE_KEY_MAX > 2 * sizeof(struct type) ? TYPE_KEY_MAX
	                                                     : 2 * sizeof(struct type)];
};

static struct price_note *note_of(struct vias *vias, const struct leg_key *key,
                                  size_t size)
{
	const struct prices *prices = vias->pool->best->prices;

	return prices->note(prices->self, key, offsetof(struct leg_key, types) + size);
}

static double build_exchange_s(struct vias *vias, struct leg *leg)
{
	struct script_step exchange = {.op = OP_EXCHANGE, .senders = vias->senders};

	write_leg(leg, vias);
	exchange.after = leg->step.after;
	return step_s(vias, &leg->from, &exchange);
}

/* Returns the seconds of a leg as an exchange, INFINITY if they are not known. */
static double exchange_s(struct vias *vias, struct leg *leg)
{
	struct leg_key key = {.senders = vias->senders, .tag = TAG_EXCHANGE};
	struct price_note *note;

	if (!vias->has_keys)
		return build_exchange_s(vias, leg);
	note = note_of(vias, &key,
	               type_key(key.types, &vias->types, leg->before, leg->after));
	vias->pool->work += LOOK_WORK;
	if (!note->priced) {
		note->price.cost = build_exchange_s(vias, leg);
		note->priced = isfinite(note->price.cost);
	}
	return note->price.cost;
}

/* Returns the seconds of a leg as one collective, INFINITY if there is none. */
static double collective_s(struct vias *vias, struct leg *leg)
{
	struct leg_key key = {.tag = TAG_COLLECTIVE};
	struct price_note *note;

	if (type_op(leg->before, leg->after) == OP_EXCHANGE)
		return INFINITY;
	memcpy(key.types, leg->before, sizeof(struct type));
	memcpy(key.types + sizeof(struct type), leg->after, sizeof(struct type));
	note = note_of(vias, &key, 2 * sizeof(struct type));
	vias->pool->work += LOOK_WORK;
	if (!note->priced) {
		write_leg(leg, vias);
		note->price.cost = leg->step.op == OP_EXCHANGE
		                           ? INFINITY
		                           : step_s(vias, &leg->from, &leg->step);
		note->priced = true;
	}
	return note->price.cost;
}

/*
 * Returns the seconds of the step between two types as a collective, if there is one, or
 * as an exchange, and says which it is; INFINITY if they are `most` or more.
 */
static double cheaper_s(struct vias *vias, const struct type *before,
                        const struct type *after, double most, bool *collective)
{
	struct leg leg = {.before = before, .after = after};
	double one_s, sent_s = INFINITY;

	*collective = false;
	if (!(most > 0))
		return INFINITY;
	one_s = collective_s(vias, &leg);
	if (type_op(before, after) != OP_SLICE &&
	    vias->types.problem->vocabulary != VOCABULARY_PORTABLE)
		sent_s = exchange_s(vias, &leg);
	*collective = isfinite(one_s) && one_s <= sent_s;
	return fmin(sent_s, one_s) < most ? fmin(sent_s, one_s) : INFINITY;
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

		if (!vias->has_all)
			type_neighbours(&vias->types, &via->type, look_at, vias);
		if (via->least_in_s + via->least_out_s < most_s(vias))
			price_via(vias, via);
	}
	find_ways(vias);
	pool->most = (int64_t)(TWO_SHARE * (double)pool->most_of_all);
	for (int64_t i = 0; i < vias->way.n && !best_pool_is_over(pool); i++)
		if (vias->way.at[i].least_s < most_s(vias))
			price_way(vias, &vias->way.at[i]);
}

/* Returns whether the sizes of all axes are powers of primes. */
static bool has_prime_axes(const struct mesh *m)
{
	for (int x = 0; x < m->naxes; x++) {
		int32_t size = m->axis[x].size, prime = 2;

		while (size > 1 && size % prime)
			prime++;
		while (size > 1 && size % prime == 0)
			size /= prime;
		if (size > 1)
			return false;
	}
	return true;
}

void best_add_vias(struct best_pool *pool)
{
	const struct problem *problem = pool->best->problem;
	struct vias *vias = xmalloc(1, sizeof(*vias));

	memset(vias, 0, offsetof(struct vias, via));
	vias->pool = pool;
	if (!pool->steps || problem->from.nunreduced > 0 || problem->to.nunreduced > 0 ||
	    !types_between(&vias->types, problem) || !vias->types.even) {
		xfree(vias);
		return;
	}
	vias->arena = arena_new();
	vias->known.arena = vias->arena;
	vias->senders =
		problem->ndevices <= PATHS_DEVICES ? SENDERS_PATHS : SENDERS_RULE;
	/* that senders go by numbers may hang on how axes are cut (key.c) */
	vias->has_keys =
		vias->senders == SENDERS_PATHS || has_prime_axes(&problem->mesh);
	script_begin(&vias->script, problem);
	vias->script.view.shape = problem->array.shape;
	for (int i = 0; i < vias->script.view.shape.rank; i++)
		vias->script.view.dim[i] = (uint8_t)i;
	add_script(vias, (const struct type *[]){&vias->types.from, &vias->types.to},
	           (const bool[]){false}, 1);
	find_slack(vias);
	look_at_first(vias);
	price_all(vias);
	heap_free(&vias->open);
	arena_free(vias->arena);
	xfree(vias);
}
