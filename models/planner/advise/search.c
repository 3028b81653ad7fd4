#include "planner/advise/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The parts of the work after which no one and no two layouts are tried any more. With 0.3
 * and 0.6, or 0.8 and 0.95, the part of the gap that is closed (hops.c) is within 0.2 points.
 */
static const double ONE_SHARE = 0.4, TWO_SHARE = 0.7;

/* The most layouts of a plan that are taken from it. */
enum { GUIDED_MAX = 8 };

/* --- chains ------------------------------------------------------------------------ */

static const int *stop_of(const struct chain *c, int i)
{
	static const int from = STOP_FROM, to = STOP_TO;

	return i < 0 ? &from : i == c->n ? &to : &c->stop[i];
}

/* Prices a chain; returns false if the compiler cannot do one of its hops. */
static bool price_chain(struct search *s, struct chain *c)
{
	c->price = (struct price){0};
	for (int i = 0; i <= c->n; i++) {
		const struct hop *hop =
			hops_price(s->hops, *stop_of(c, i - 1), *stop_of(c, i));

		if (!hop->can)
			return false;
		c->price = price_add(c->price, hop->price);
	}
	return true;
}

static int count_sub_axes(const struct search *s, const struct chain *c)
{
	int count = 0;

	for (int i = 0; i < c->n; i++)
		count += s->hops->stop[c->stop[i]].sub_axes;
	return count;
}

static int64_t live_bytes(struct search *s, const struct chain *c)
{
	int64_t most = 0;

	for (int i = 0; i <= c->n; i++) {
		const struct hop *hop =
			hops_price(s->hops, *stop_of(c, i - 1), *stop_of(c, i));

		most = hop->peak_live_bytes > most ? hop->peak_live_bytes : most;
	}
	return most;
}

bool chain_before(struct search *s, const struct chain *a, const struct chain *b)
{
	int order = price_compare(a->price, b->price);

	if (order == 0)
		order = a->n - b->n;
	if (order == 0)
		order = count_sub_axes(s, a) - count_sub_axes(s, b);
	if (order == 0) {
		int64_t x = live_bytes(s, a), y = live_bytes(s, b);

		order = (x > y) - (x < y);
	}
	return order < 0;
}

/* Takes a chain that is cheaper than those of as many layouts. */
static void offer(struct search *s, const int *stop, int n)
{
	struct chain c = {.found = true, .n = n};

	for (int i = 0; i < n; i++)
		c.stop[i] = stop[i];
	if (price_chain(s, &c) && (!s->best[n].found || chain_before(s, &c, &s->best[n])))
		s->best[n] = c;
}

/* Returns what a chain of n layouts must not exceed. */
static double most_of(const struct search *s, int n)
{
	double most = INFINITY;

	for (int i = 0; i <= n; i++)
		if (s->best[i].found)
			most = fmin(most, s->best[i].price.cost);
	return most;
}

static bool is_over(const struct search *s, double share)
{
	return (double)s->hops->work >= share * (double)s->hops->most;
}

/* --- open stops -------------------------------------------------------------------- */

static bool is_nearer(const void *context, int32_t a, int32_t b)
{
	const struct stop *stop = ((const struct search *)context)->hops->stop;
	double x = stop[a].least_in + stop[a].least_out;
	double y = stop[b].least_in + stop[b].least_out;

	return x != y ? x < y : a < b;
}

static void open_stop(void *self, int stop)
{
	struct search *s = self;
	struct stop *at = &s->hops->stop[stop];

	at->least_in = hops_least(s->hops, STOP_FROM, stop);
	at->least_out = hops_least(s->hops, stop, STOP_TO);
	heap_queue(&s->open, is_nearer, s, stop, at->least_in + at->least_out);
}

/* --- one layout -------------------------------------------------------------------- */

static double cost_of(struct search *s, int from, int to)
{
	const struct hop *hop = hops_price(s->hops, from, to);

	return hop->can ? hop->price.cost : INFINITY;
}

static void price_stop(struct search *s, int number)
{
	struct stop *stop = &s->hops->stop[number];

	stop->in = cost_of(s, STOP_FROM, number);
	stop->out = cost_of(s, number, STOP_TO);
	if (stop->in + stop->out <= most_of(s, 1) * (1 + HEAP_MARGIN))
		offer(s, &number, 1);
}

/* --- layouts of plans -------------------------------------------------------------- */

/* Offers all chains of the guide's layouts, in their order, that go on from `chain`. */
static void offer_guided(struct search *s, const int *guided, int n, int first,
                         int *chain, int length)
{
	for (int i = first; i < n; i++) {
		chain[length] = guided[i];
		offer(s, chain, length + 1);
		if (length + 1 < ADVISE_MOST)
			offer_guided(s, guided, n, i + 1, chain, length + 1);
	}
}

static void follow(struct search *s, const struct plan *plan)
{
	const struct problem *p = s->hops->problem;
	int guided[GUIDED_MAX], chain[ADVISE_MOST], n = 0;

	for (int i = 0; i < plan->nsteps - 1 && n < GUIDED_MAX; i++) {
		const struct step *step = &plan->step[i];
		int side = mesh_equal(step->mesh, &p->mesh) ? 0 : 1, stop;
		bool fresh;

		if (plan->view || step->after.kind != LAYOUT_AXES ||
		    step->after.nunreduced > 0 || (side && !s->hops->two_sides))
			continue;
		stop = hops_stop(s->hops, &step->after, side, &fresh);
		if (stop < STOP_FIRST_BETWEEN)
			continue;
		if (fresh)
			price_stop(s, stop);
		guided[n++] = stop;
	}
	offer_guided(s, guided, n, 0, chain, 0);
}

static void try_ones(struct search *s)
{
	struct hops *h = s->hops;

	hops_look_around(h, STOP_FROM, open_stop, s);
	hops_look_around(h, STOP_TO, open_stop, s);
	for (int i;
	     !is_over(s, ONE_SHARE) && (i = heap_take(&s->open, is_nearer, s)) >= 0;) {
		if (h->stop[i].least_in + h->stop[i].least_out > most_of(s, 1))
			break;
		hops_look_around(h, i, open_stop, s);
		price_stop(s, i);
	}
}

/* --- two and three ----------------------------------------------------------------- */

/* Stops in a row, the last of a chain, and what it may cost. */
struct way {
	double least;
	int first, second;
};

static int compare_ways(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (x->least != y->least)
		return x->least < y->least ? -1 : 1;
	return x->first != y->first ? x->first - y->first : x->second - y->second;
}

/*
 * Tries chains that come to stop i for the cost in[i] and go on to the target by one more
 * stop, the least first.
 */
static void try_ways(struct search *s, const double *in, int n, double share,
                     void (*price)(struct search *s, int first, int second))
{
	struct hops *h = s->hops;
	LIST(struct way) ways = {0};

	for (int i = STOP_FIRST_BETWEEN; i < h->nstops; i++)
		for (int k = STOP_FIRST_BETWEEN; k < h->nstops; k++) {
			struct way way = {in[i] + h->stop[k].out, i, k};

			if (i == k || !(way.least < most_of(s, n)))
				continue;
			way.least += hops_least(h, i, k);
			if (way.least < most_of(s, n))
				*list_add(&ways, h->arena) = way;
		}
	if (ways.n > 1)
		qsort(ways.at, (size_t)ways.n, sizeof(*ways.at), compare_ways);
	for (int64_t i = 0; i < ways.n && !is_over(s, share); i++)
		if (ways.at[i].least < most_of(s, n))
			price(s, ways.at[i].first, ways.at[i].second);
}

static void price_two(struct search *s, int first, int second)
{
	double cost = s->hops->stop[first].in + cost_of(s, first, second);

	if (cost < s->in_by_one[second]) {
		s->in_by_one[second] = cost;
		s->by[second] = first;
	}
	offer(s, (const int[]){first, second}, 2);
}

static void price_three(struct search *s, int second, int third)
{
	offer(s, (const int[]){s->by[second], second, third}, 3);
}

void search_chains(struct search *s, const struct plan *const *guide)
{
	double in[STOPS_MAX];

	for (int i = 0; i < STOPS_MAX; i++)
		s->in_by_one[i] = INFINITY;
	offer(s, NULL, 0);
	for (; *guide; guide++)
		follow(s, *guide);
	try_ones(s);
	for (int i = 0; i < s->hops->nstops; i++)
		in[i] = s->hops->stop[i].in;
	try_ways(s, in, 2, TWO_SHARE, price_two);
	try_ways(s, s->in_by_one, 3, 1, price_three);
}
