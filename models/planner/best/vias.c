#include "planner/best/vias.h"

#include "base/heap.h"
#include "planner/best/hops.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * The number of layouts that are looked at, and the work of looking at one. Of 2,352 pairs
 * on x=2,y=3,z=4 no more are closed with 1,000 layouts; all are looked at where there are
 * no more, as those of 8 devices over digits.
 */
enum { VIAS_MAX = 400, LOOK_WORK = 10 };

/*
 * The parts of the work after which no layout and no two layouts are tried any more. With
 * 0.6 and 0.8 as many pairs stay open.
 */
static const double ONE_SHARE = 0.4, TWO_SHARE = 0.6;

/*
 * The same on few devices (script.h), where the cheapest ways by one layout follow that are
 * dearer than the plan there is, so many of them and up to so many times its price, within
 * another part of the work. Without these ways 16 of 2,352 pairs stay open on 24
 * GPUs, the worst by 18 %, and with them 14, by 11 %.
 */
static const double ONE_FEW = 0.33, TWO_FEW = 0.43, NEAR_SHARE = 0.2, NEAR = 1.35;
enum { NEAR_MAX = 10 };

/*
 * The same of layouts over digits, beyond the work done when all are looked at; they are
 * tried on small meshes alone. On 8 devices up to 12 of 2,352 pairs stay open without them,
 * one of them by 21 %, and as many with more work.
 */
static const double ONE_DIGITS = 0.05, TWO_DIGITS = 0.02;

/*
 * The same of layouts over prime digits of axes that both ends leave whole, where there are
 * few enough of them. Without them 26 of 7,386 pairs on 16 and 24 devices stay open, the
 * worst by 26 %, and with them 16, by 10 %.
 */
static const double ONE_PRIMES = 0.1, TWO_PRIMES = 0.05;

/*
 * Received bytes bound a step from below, but steps take several times as long where
 * links are shared. A step is taken to need this part of what the cheapest plan needs over
 * its own bound, and at most so many times its bound. With three times for all, 175 of
 * 2,352 pairs stay open on a torus of 2x2x2, where bounds are near, and 2 with this.
 */
static const double SLACK_PART = 0.5, SLACK_PART_FEW = 0.7, SLACK_MAX = 3;

/* A step from or to a layout. */
struct leg_of_via {
	double lacks_bytes; /* what some device receives in it */
	double least_s;     /* what it may be taken to need */
	struct hop hop;     /* the cheapest that is known; INFINITY: none is */
};

struct via {
	struct type type;
	struct leg_of_via in, out;
	uint64_t rank; /* rank_of() where it was asked for; else 0 */
};

/* Two layouts in a row, and what the three steps may take. */
struct way {
	double least_s;
	uint64_t rank[2]; /* of both */
	int first, second;
};

struct vias {
	struct best_pool *pool;
	struct script ends; /* an exchange from source to target */
	struct types_between types;
	struct arena *arena;
	struct keys known;
	struct heap open; /* by rising sum_least_s() */
	LIST(struct way) way;
	double slack, one_share, two_share;
	bool more;      /* these shares are of work beyond what was done before */
	int64_t before; /* the work from which they count */
	bool has_all;   /* all types there are are looked at */
	bool only_all;  /* nothing is looked at unless all are */
	bool portable;  /* there are no exchanges */
	struct hops hops;
	int n;
	struct via via[VIAS_MAX];
};

static double sum_least_s(const struct via *via)
{
	return via->in.least_s + via->out.least_s;
}

static bool is_nearer(const void *context, int32_t a, int32_t b)
{
	const struct via *via = ((const struct vias *)context)->via;
	double a_s = sum_least_s(&via[a]), b_s = sum_least_s(&via[b]);

	if (a_s != b_s)
		return a_s < b_s;
	return via[a].rank != via[b].rank ? via[a].rank < via[b].rank : a < b;
}

/* Returns what some device receives in a step between two types. */
static double lacks_bytes(const struct vias *vias, const struct type *before,
                          const struct type *after)
{
	int64_t lacks = type_lacks(&vias->types, before, after);

	return (double)dtype_bytes(vias->pool->best->problem->array.dtype, lacks);
}

/* Returns what no step is below in which some device receives so many bytes. */
static double bytes_s(const struct vias *vias, double bytes)
{
	const struct best *b = vias->pool->best;

	return b->prices->least(b->prices->self, b->problem, bytes).cost;
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
	double part = best_pool_is_small(vias->pool) ? SLACK_PART_FEW : SLACK_PART;

	vias->slack = 1;
	bound_s = bytes_s(vias,
	                  lacks_bytes(vias, &vias->types.from, &vias->types.to));
	if (isfinite(most))
		vias->slack = fmin(SLACK_MAX, fmax(1, part * most / bound_s));
}

/* --- layouts ---------------------------------------------------------------------- */

/*
 * Returns a number for the exchanges to a layout and from there, not 0. Where the work ends
 * before all layouts are tried, it shall not count in which order the dimensions are.
 */
static uint64_t rank_of(struct vias *vias, struct via *via)
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
static void begin_leg(struct leg_of_via *leg, struct vias *vias, const struct type *before,
                      const struct type *after)
{
	leg->hop = (struct hop){.seconds = INFINITY, .collective = true};
	leg->least_s = bytes_s(vias, vias->slack * leg->lacks_bytes);
	if (!vias->has_all)
		return;
	leg->hop.seconds = hop_collective_s(&vias->hops, before, after);
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
	via->in.lacks_bytes = lacks_bytes(vias, &t->from, type);
	via->out.lacks_bytes = lacks_bytes(vias, type, &t->to);
	if (bytes_s(vias, via->in.lacks_bytes) + bytes_s(vias, via->out.lacks_bytes) >=
	    most_s(vias))
		return;
	begin_leg(&via->in, vias, &t->from, type);
	begin_leg(&via->out, vias, type, &t->to);
	via->rank = 0;
	if (vias->has_all)
		vias->n++;
	if (sum_least_s(via) >= most_s(vias))
		return;
	rank_of(vias, via);
	heap_queue(&vias->open, is_nearer, vias, (int32_t)(via - vias->via),
	           sum_least_s(via));
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

/* Looks at all types there are, or else at those around both ends. */
static void look_at_first(struct vias *vias)
{
	vias->has_all = true;
	vias->has_all = type_all(&vias->types, VIAS_MAX, look_at_fresh, vias);
	if (vias->has_all || vias->only_all)
		return;
	type_neighbours(&vias->types, &vias->types.from, look_at, vias);
	type_neighbours(&vias->types, &vias->types.to, look_at, vias);
}

/* Adds the script of n steps between types. */
static void add_script(struct vias *vias, const struct type *const *type,
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
static void price_leg(struct leg_of_via *leg, struct vias *vias, const struct type *before,
                      const struct type *after, double most)
{
	struct hop sent;

	if (!vias->has_all)
		leg->hop.seconds = hop_collective_s(&vias->hops, before, after);
	if (bytes_s(vias, vias->slack * leg->lacks_bytes) >= most ||
	    bytes_s(vias, leg->lacks_bytes) >= leg->hop.seconds)
		return;
	sent = hop_exchange(&vias->hops, before, after);
	if (sent.seconds < leg->hop.seconds)
		leg->hop = sent;
}

static void price_via(struct vias *vias, struct via *via)
{
	const struct types_between *t = &vias->types;
	const struct type *const type[] = {&t->from, &via->type, &t->to};
	double most = most_s(vias);

	price_leg(&via->in, vias, &t->from, &via->type, most - via->out.least_s);
	/* where the first step is dear there may be a cheap way there by two */
	price_leg(&via->out, vias, &via->type, &t->to,
	          most - fmin(via->in.hop.seconds, via->in.least_s));
	if (via->in.hop.seconds + via->out.hop.seconds < most)
		add_script(vias, type, (const struct hop[]){via->in.hop, via->out.hop},
		           2);
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
		rank_of(vias, &vias->via[i]);
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
	double most = most_s(vias);
	int at = -1;

	if (!best_pool_is_small(vias->pool))
		return;
	for (int k = 0; k < NEAR_MAX && (at = next_near(vias, most, at)) >= 0; k++) {
		const struct via *via = &vias->via[at];
		const struct type *const type[] = {&t->from, &via->type, &t->to};

		add_script(vias, type, (const struct hop[]){via->in.hop, via->out.hop},
		           2);
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
	double most = most_s(vias), slack = vias->has_all ? 1 : vias->slack;

	for (int i = 0; i < vias->n; i++)
		for (int k = 0; k < vias->n && vias->via[i].in.hop.seconds < most; k++) {
			struct way way = {.least_s = vias->via[i].in.hop.seconds +
			                             vias->via[k].out.hop.seconds,
			                  .first = i,
			                  .second = k};

			if (i == k || way.least_s >= most)
				continue;
			way.least_s += bytes_s(
				vias,
				slack * lacks_bytes(vias, &vias->via[i].type,
			                            &vias->via[k].type));
			if (way.least_s >= most)
				continue;
			way.rank[0] = rank_of(vias, &vias->via[i]);
			way.rank[1] = rank_of(vias, &vias->via[k]);
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
	double left = most_s(vias) - first->in.hop.seconds - second->out.hop.seconds;
	struct leg_of_via middle = {lacks_bytes(vias, type[1], type[2]), 0,
	                            {.seconds = INFINITY, .collective = true}};

	middle.hop.seconds = hop_collective_s(&vias->hops, type[1], type[2]);
	price_leg(&middle, vias, type[1], type[2], left);
	if (middle.hop.seconds < left)
		add_script(vias, type,
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

static void price_all(struct vias *vias)
{
	struct best_pool *pool = vias->pool;

	vias->before = vias->more ? best_pool_work(pool) : 0;
	limit(vias, vias->one_share);
	for (int32_t i; !best_pool_is_over(pool) &&
	                (i = heap_take(&vias->open, is_nearer, vias)) >= 0;) {
		struct via *via = &vias->via[i];

		if (!vias->has_all)
			type_neighbours(&vias->types, &via->type, look_at, vias);
		if (sum_least_s(via) < most_s(vias))
			price_via(vias, via);
	}
	find_ways(vias);
	limit(vias, vias->two_share);
	for (int64_t i = 0; i < vias->way.n && !best_pool_is_over(pool); i++)
		if (vias->way.at[i].least_s < most_s(vias))
			price_way(vias, &vias->way.at[i]);
	limit(vias, vias->two_share + NEAR_SHARE);
	add_near(vias);
}

/* The layouts of a view that are looked at, and the work for that. */
struct looking {
	const struct script *ends; /* an exchange from source to target */
	uint32_t number;           /* of the view */
	bool primes;               /* every prime digit of an axis is a piece */
	bool more;                 /* the shares are beyond the work done before */
	double one_share, two_share;
};

static void add_vias(struct best_pool *pool, const struct looking *looking)
{
	struct vias *vias = xmalloc(1, sizeof(*vias));

	const struct script *s = looking->ends;
	const struct types_ends ends = {&s->problem->mesh, &s->problem->to_mesh,
	                                &s->view.shape, &s->from, &s->to,
	                                looking->primes};

	memset(vias, 0, offsetof(struct vias, via));
	vias->pool = pool;
	if (s->from.nunreduced > 0 || s->to.nunreduced > 0 ||
	    !types_between(&vias->types, &ends) || !vias->types.even) {
		xfree(vias);
		return;
	}
	vias->ends = *looking->ends;
	vias->portable = s->problem->vocabulary == VOCABULARY_PORTABLE;
	vias->more = looking->more;
	vias->only_all = looking->primes;
	vias->one_share = looking->one_share;
	vias->two_share = looking->two_share;
	vias->arena = arena_new();
	vias->known.arena = vias->arena;
	hops_begin(&vias->hops, pool, &vias->types, &vias->ends.view, looking->number,
	           vias->arena);
	add_script(vias, (const struct type *[]){&vias->types.from, &vias->types.to},
	           &(const struct hop){.senders = vias->hops.senders}, 1);
	find_slack(vias);
	look_at_first(vias);
	price_all(vias);
	heap_free(&vias->open);
	arena_free(vias->arena);
	xfree(vias);
}

void best_add_vias(struct best_pool *pool)
{
	const struct problem *p = pool->best->problem;
	bool small = best_pool_is_small(pool);
	struct looking looking = {.one_share = small ? ONE_FEW : ONE_SHARE,
	                          .two_share = small ? TWO_FEW : TWO_SHARE};
	struct script ends, fine;

	if (!pool->steps || p->from.kind != LAYOUT_AXES || p->to.kind != LAYOUT_AXES ||
	    !mesh_equal(&p->mesh, &p->to_mesh) || p->from.nunreduced > 0 ||
	    !script_divides(&p->from, &p->array.shape) ||
	    !script_divides(&p->to, &p->array.shape))
		return;
	script_begin(&ends, p);
	ends.view.shape = p->array.shape;
	for (int i = 0; i < ends.view.shape.rank; i++)
		ends.view.dim[i] = (uint8_t)i;
	ends.from = p->from;
	ends.to = p->to;
	ends.n = 1;
	ends.step[0] = (struct script_step){.op = OP_EXCHANGE, .after = p->to};
	looking.ends = &ends;
	add_vias(pool, &looking);
	if (p->vocabulary == VOCABULARY_PORTABLE || !small)
		return;
	if (!best_pool_has_few_digits(pool))
		looking = (struct looking){&ends, 1, true, true, ONE_PRIMES,
		                           ONE_PRIMES + TWO_PRIMES};
	else if (script_refine(&fine, &ends, pool->arena))
		looking = (struct looking){&fine, 1, false, true, ONE_DIGITS,
		                           ONE_DIGITS + TWO_DIGITS};
	else
		return;
	add_vias(pool, &looking);
}
