#include "planner/send/send.h"

#include "planner/send/chain.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

double send_load(double *sum, const struct sending *s, const int32_t *sender)
{
	double *busy = xmalloc((size_t)s->nsenders, sizeof(*busy)), most = 0;

	for (int32_t k = 0; k < s->nsenders; k++)
		busy[k] = 0;
	for (int32_t b = 0; b < s->nboxes; b++)
		busy[sender[b]] +=
			s->elements[b] * s->price[(int64_t)b * s->nsenders + sender[b]];
	*sum = 0;
	for (int32_t k = 0; k < s->nsenders; k++) {
		*sum += busy[k];
		most = fmax(most, busy[k]);
	}
	free(busy);
	return most;
}

static int32_t busiest(const struct spreading *x)
{
	int32_t s = 0;

	for (int32_t k = 1; k < x->nsenders; k++)
		if (x->busy[k] > x->busy[s])
			s = k;
	return s;
}

/* --- the first answer ------------------------------------------------------------- */

static int by_size(const void *a, const void *b, void *elements)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	const double *size = elements;

	if (size[x] != size[y])
		return size[x] > size[y] ? -1 : 1;
	return (x > y) - (x < y);
}

static int32_t *boxes_by_size(const struct sending *s, struct arena *a)
{
	int32_t *order = arena_alloc(a, (size_t)s->nboxes, sizeof(*order));
	double *size = arena_dup(a, s->elements, (size_t)s->nboxes, sizeof(*size));

	for (int32_t b = 0; b < s->nboxes; b++)
		order[b] = b;
	qsort_r(order, (size_t)s->nboxes, sizeof(*order), by_size, size);
	return order;
}

/*
 * The cheapest sender for a box of those that stay within the limit, of equal ones the
 * least busy; where none does, the one that is done with it first.
 */
static int32_t cheapest(const struct spreading *x, int32_t b, double limit)
{
	const double *load = spreading_loads(x, b), *busy = x->busy;
	int32_t best = -1, soonest = 0;

	for (int32_t k = 0; k < x->nsenders; k++) {
		double done = busy[k] + load[k];

		if (done < busy[soonest] + load[soonest])
			soonest = k;
		if (done <= limit && (best < 0 || load[k] < load[best] ||
		                      (load[k] == load[best] && busy[k] < busy[best])))
			best = k;
	}
	return best >= 0 ? best : soonest;
}

static void fill(struct spreading *x, const int32_t *order, double limit)
{
	for (int32_t k = 0; k < x->nsenders; k++) {
		x->busy[k] = 0;
		x->first[k] = -1;
	}
	for (int32_t i = 0; i < x->nboxes; i++)
		spreading_link(x, order[i], cheapest(x, order[i], limit));
	x->work -= (int64_t)x->nboxes * x->nsenders;
}

/* Of the loads when every box has its cheapest sender; the largest of one box. */
static double bound(struct spreading *x)
{
	double least = INFINITY, most = 0;

	for (int32_t b = 0; b < x->nboxes; b++) {
		least = fmin(least, spreading_loads(x, b)[x->sender[b]]);
		most = fmax(most, spreading_loads(x, b)[x->sender[b]]);
	}
	x->least_sum = spreading_sum(x);
	x->least_most = fmax(x->least_sum / x->nsenders,
	                     ceil((double)x->nboxes / x->nsenders) * least);
	x->least_most = fmax(x->least_most, most);
	return most;
}

/* --- moves and swaps -------------------------------------------------------------- */

/* A change of the loads of two senders: one box goes, another, if any, comes back. */
struct change {
	int32_t box, back; /* -1: none */
	double most, added;
};

static void consider(struct change *best, const struct change *c)
{
	if (best->box < 0 || c->added < best->added ||
	    (c->added == best->added && c->most < best->most))
		*best = *c;
}

/* The change that takes load from `from` and adds least, both staying below the limit. */
static struct change least_change(struct spreading *x, int32_t from, int32_t to,
                                  double limit)
{
	struct change best = {.box = -1};

	for (int32_t b = x->first[from]; b >= 0; b = x->next[b]) {
		const double *load = spreading_loads(x, b);
		double left = x->busy[from] - load[from], grown = x->busy[to] + load[to];
		double added = load[to] - load[from];

		x->work--;
		if (grown < limit)
			consider(&best,
			         &(struct change){b, -1, fmax(left, grown), added});
		for (int32_t c = x->first[to]; c >= 0; c = x->next[c]) {
			const double *back = spreading_loads(x, c);
			double a = left + back[from], z = grown - back[to];

			x->work--;
			if (a < limit && z < limit)
				consider(&best, &(struct change){b, c, fmax(a, z),
				                                 added + back[from] -
				                                         back[to]});
		}
	}
	return best;
}

static void sort_senders(struct spreading *x)
{
	for (int32_t i = 1; i < x->nsenders; i++) {
		int32_t k = x->rank[i], at = i;

		for (; at > 0 && x->busy[x->rank[at - 1]] > x->busy[k]; at--)
			x->rank[at] = x->rank[at - 1];
		x->rank[at] = k;
		x->work -= 1 + i - at;
	}
}

/* Make the busiest sender less busy, by a change with the least busy one that helps. */
static bool level(struct spreading *x)
{
	int32_t from = busiest(x);
	double limit = x->busy[from] * (1 - SPREADING_SLACK);

	x->work -= x->nsenders;
	if (x->busy[from] <= x->least_most * (1 + SPREADING_SLACK))
		return false;
	sort_senders(x);
	for (int32_t i = 0; i < x->nsenders && x->work > 0; i++) {
		int32_t to = x->rank[i];
		struct change c;

		if (x->busy[to] >= limit)
			break;
		c = least_change(x, from, to, limit);
		if (c.box < 0)
			continue;
		spreading_give(x, c.box, to);
		if (c.back >= 0)
			spreading_give(x, c.back, from);
		return true;
	}
	return false;
}

/* Does it lower the sum, with no sender as busy as the busiest that was not before? */
static bool is_cheaper(const struct spreading *x, int32_t a, int32_t z, double add_a,
                       double add_z, double most)
{
	double new_a = x->busy[a] + add_a, new_z = x->busy[z] + add_z;

	return add_a + add_z < -SPREADING_SLACK * most &&
	       (add_a <= 0 || new_a < most) && (add_z <= 0 || new_z < most);
}

static bool try_cheaper(struct spreading *x, int32_t b, double most)
{
	const double *load = spreading_loads(x, b);

	x->work -= x->nsenders + x->nboxes - b;
	for (int32_t k = 0; k < x->nsenders; k++) {
		int32_t from = x->sender[b];

		if (k != from && is_cheaper(x, from, k, -load[from], load[k], most)) {
			spreading_give(x, b, k);
			return true;
		}
	}
	for (int32_t c = b + 1; c < x->nboxes; c++) {
		const double *back = spreading_loads(x, c);
		int32_t from = x->sender[b], k = x->sender[c];

		if (k != from && is_cheaper(x, from, k, back[from] - load[from],
		                            load[k] - back[k], most)) {
			spreading_give(x, b, k);
			spreading_give(x, c, from);
			return true;
		}
	}
	return false;
}

/* One move or swap for each box that lowers the sum. */
static bool lower(struct spreading *x)
{
	double most = spreading_most(x) * (1 - SPREADING_SLACK);
	bool changed = false;

	if (spreading_sum(x) <= x->least_sum * (1 + SPREADING_SLACK))
		return false;
	for (int32_t b = 0; b < x->nboxes && x->work > 0; b++)
		changed = try_cheaper(x, b, most) || changed;
	return changed;
}

/* Each change lowers the busiest load, how many have it, or else the sum: it ends. */
static void improve(struct spreading *x)
{
	do {
		while (x->work > 0 && level(x))
			;
	} while (x->work > 0 && lower(x));
}

/* --- all of it -------------------------------------------------------------------- */

static struct spreading spreading_make(const struct sending *s, int32_t *sender,
                                       int64_t work, struct arena *a)
{
	size_t boxes = (size_t)s->nboxes, senders = (size_t)s->nsenders;
	double *load = arena_alloc(a, boxes, senders * sizeof(*load));
	struct spreading x = {.nboxes = s->nboxes,
	                      .nsenders = s->nsenders,
	                      .load = load,
	                      .sender = sender,
	                      .work = work - (int64_t)(boxes * senders)};

	for (int32_t b = 0; b < s->nboxes; b++)
		for (int32_t k = 0; k < s->nsenders; k++)
			*load++ =
				s->elements[b] * s->price[(int64_t)b * s->nsenders + k];
	x.busy = arena_alloc(a, senders, sizeof(*x.busy));
	x.rank = arena_alloc(a, senders, sizeof(*x.rank));
	x.first = arena_alloc(a, senders, sizeof(*x.first));
	x.next = arena_alloc(a, boxes, sizeof(*x.next));
	x.before = arena_alloc(a, boxes, sizeof(*x.before));
	for (int32_t k = 0; k < s->nsenders; k++)
		x.rank[k] = k;
	return x;
}

void send_spread(int32_t *sender, const struct sending *s, int64_t *work)
{
	struct arena *a = arena_new();
	struct spreading x = spreading_make(s, sender, *work, a);
	const int32_t *order = boxes_by_size(s, a);
	double largest_box;

	fill(&x, order, INFINITY);
	largest_box = bound(&x);
	/* A third of the work is for what comes after. */
	if (!spreading_relieve(&x, x.work / 3))
		fill(&x, order, x.least_sum / x.nsenders + largest_box / 2);
	improve(&x);
	*work = x.work;
	arena_free(a);
}
