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
	xfree(busy);
	return most;
}

static int32_t busiest(const struct spreading *spread)
{
	int32_t s = 0;

	for (int32_t k = 1; k < spread->nsenders; k++)
		if (spread->busy[k] > spread->busy[s])
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
 * Returns the cheapest sender for a box among those that stay within the limit, and the
 * least busy of equal ones. Where none stays within it, returns the one that is done
 * with the box first.
 */
static int32_t cheapest_sender(const struct spreading *spread, int32_t b, double limit)
{
	const double *load = spreading_loads(spread, b), *busy = spread->busy;
	int32_t best = -1, soonest = 0;

	for (int32_t k = 0; k < spread->nsenders; k++) {
		double done = busy[k] + load[k];

		if (done < busy[soonest] + load[soonest])
			soonest = k;
		if (done <= limit && (best < 0 || load[k] < load[best] ||
		                      (load[k] == load[best] && busy[k] < busy[best])))
			best = k;
	}
	return best >= 0 ? best : soonest;
}

static void fill_senders(struct spreading *spread, const int32_t *order, double limit)
{
	for (int32_t k = 0; k < spread->nsenders; k++) {
		spread->busy[k] = 0;
		spread->first[k] = -1;
	}
	for (int32_t i = 0; i < spread->nboxes; i++)
		spreading_link(spread, order[i],
		               cheapest_sender(spread, order[i], limit));
	spread->work -= (int64_t)spread->nboxes * spread->nsenders;
}

/*
 * Finds the bounds from the loads when every box has its cheapest sender. Returns the
 * largest load of one box.
 */
static double bound(struct spreading *spread)
{
	double least = INFINITY, most = 0;

	for (int32_t b = 0; b < spread->nboxes; b++) {
		least = fmin(least, spreading_loads(spread, b)[spread->sender[b]]);
		most = fmax(most, spreading_loads(spread, b)[spread->sender[b]]);
	}
	spread->least_sum = spreading_sum(spread);
	spread->least_most =
		fmax(spread->least_sum / spread->nsenders,
	             ceil((double)spread->nboxes / spread->nsenders) * least);
	spread->least_most = fmax(spread->least_most, most);
	return most;
}

/* --- moves and swaps -------------------------------------------------------------- */

/* A change of the loads of two senders: one box goes, another, if any, comes back. */
struct change {
	int32_t box, back; /* -1: none */
	double most, added;
};

static void consider_change(struct change *best, const struct change *c)
{
	if (best->box < 0 || c->added < best->added ||
	    (c->added == best->added && c->most < best->most))
		*best = *c;
}

/*
 * Returns the change that takes load from `from` and adds least, where both stay below
 * the limit.
 */
static struct change least_change(struct spreading *spread, int32_t from, int32_t to,
                                  double limit)
{
	struct change best = {.box = -1};

	for (int32_t b = spread->first[from]; b >= 0; b = spread->next[b]) {
		const double *load = spreading_loads(spread, b);
		double left = spread->busy[from] - load[from],
		       grown = spread->busy[to] + load[to];
		double added = load[to] - load[from];

		spread->work--;
		if (grown < limit)
			consider_change(&best, &(struct change){b, -1, fmax(left, grown),
			                                        added});
		for (int32_t c = spread->first[to]; c >= 0; c = spread->next[c]) {
			const double *back = spreading_loads(spread, c);
			double a = left + back[from], z = grown - back[to];

			spread->work--;
			if (a < limit && z < limit)
				consider_change(&best,
				                &(struct change){b, c, fmax(a, z),
				                                 added + back[from] -
				                                         back[to]});
		}
	}
	return best;
}

static void sort_senders(struct spreading *spread)
{
	for (int32_t i = 1; i < spread->nsenders; i++) {
		int32_t k = spread->rank[i], at = i;

		for (; at > 0 && spread->busy[spread->rank[at - 1]] > spread->busy[k];
		     at--)
			spread->rank[at] = spread->rank[at - 1];
		spread->rank[at] = k;
		spread->work -= 1 + i - at;
	}
}

/*
 * Makes the busiest sender less busy, by a change with the least busy one that helps.
 * Returns whether it could.
 */
static bool level_busiest(struct spreading *spread)
{
	int32_t from = busiest(spread);
	double limit = spread->busy[from] * (1 - SPREADING_SLACK);

	spread->work -= spread->nsenders;
	if (spread->busy[from] <= spread->least_most * (1 + SPREADING_SLACK))
		return false;
	sort_senders(spread);
	for (int32_t i = 0; i < spread->nsenders && spread->work > 0; i++) {
		int32_t to = spread->rank[i];
		struct change c;

		if (spread->busy[to] >= limit)
			break;
		c = least_change(spread, from, to, limit);
		if (c.box < 0)
			continue;
		spreading_give(spread, c.box, to);
		if (c.back >= 0)
			spreading_give(spread, c.back, from);
		return true;
	}
	return false;
}

/*
 * Returns whether a change lowers the sum and makes no sender as busy as the busiest
 * that was not before.
 */
static bool is_cheaper(const struct spreading *spread, int32_t a, int32_t z,
                       double add_a, double add_z, double most)
{
	double new_a = spread->busy[a] + add_a, new_z = spread->busy[z] + add_z;

	return add_a + add_z < -SPREADING_SLACK * most &&
	       (add_a <= 0 || new_a < most) && (add_z <= 0 || new_z < most);
}

static bool try_cheaper(struct spreading *spread, int32_t b, double most)
{
	const double *load = spreading_loads(spread, b);

	spread->work -= spread->nsenders + spread->nboxes - b;
	for (int32_t k = 0; k < spread->nsenders; k++) {
		int32_t from = spread->sender[b];

		if (k != from &&
		    is_cheaper(spread, from, k, -load[from], load[k], most)) {
			spreading_give(spread, b, k);
			return true;
		}
	}
	for (int32_t c = b + 1; c < spread->nboxes; c++) {
		const double *back = spreading_loads(spread, c);
		int32_t from = spread->sender[b], k = spread->sender[c];

		if (k != from && is_cheaper(spread, from, k, back[from] - load[from],
		                            load[k] - back[k], most)) {
			spreading_give(spread, b, k);
			spreading_give(spread, c, from);
			return true;
		}
	}
	return false;
}

/*
 * Makes one move or swap for each box that lowers the sum. Returns whether there was
 * any.
 */
static bool lower_sum(struct spreading *spread)
{
	double most = spreading_most(spread) * (1 - SPREADING_SLACK);
	bool changed = false;

	if (spreading_sum(spread) <= spread->least_sum * (1 + SPREADING_SLACK))
		return false;
	for (int32_t b = 0; b < spread->nboxes && spread->work > 0; b++)
		changed = try_cheaper(spread, b, most) || changed;
	return changed;
}

/*
 * Improves the answer until nothing helps. It ends, since each change lowers the
 * busiest load, how many have it, or else the sum.
 */
static void improve(struct spreading *spread)
{
	do {
		while (spread->work > 0 && level_busiest(spread))
			;
	} while (spread->work > 0 && lower_sum(spread));
}

/* --- all of it -------------------------------------------------------------------- */

static struct spreading spreading_make(const struct sending *s, int32_t *sender,
                                       int64_t work, struct arena *a)
{
	size_t boxes = (size_t)s->nboxes, senders = (size_t)s->nsenders;
	double *load = arena_alloc(a, boxes, senders * sizeof(*load));
	struct spreading spread = {.nboxes = s->nboxes,
	                           .nsenders = s->nsenders,
	                           .load = load,
	                           .sender = sender,
	                           .work = work - (int64_t)(boxes * senders)};

	for (int32_t b = 0; b < s->nboxes; b++)
		for (int32_t k = 0; k < s->nsenders; k++)
			*load++ =
				s->elements[b] * s->price[(int64_t)b * s->nsenders + k];
	spread.busy = arena_alloc(a, senders, sizeof(*spread.busy));
	spread.rank = arena_alloc(a, senders, sizeof(*spread.rank));
	spread.first = arena_alloc(a, senders, sizeof(*spread.first));
	spread.next = arena_alloc(a, boxes, sizeof(*spread.next));
	spread.before = arena_alloc(a, boxes, sizeof(*spread.before));
	for (int32_t k = 0; k < s->nsenders; k++)
		spread.rank[k] = k;
	return spread;
}

void send_spread(int32_t *sender, const struct sending *s, int64_t *work)
{
	struct arena *a = arena_new();
	struct spreading spread = spreading_make(s, sender, *work, a);
	const int32_t *order = boxes_by_size(s, a);
	double largest_box;

	fill_senders(&spread, order, INFINITY);
	largest_box = bound(&spread);
	/* a third of the work is left for what comes after */
	if (!spreading_relieve(&spread, spread.work / 3))
		fill_senders(&spread, order,
		             spread.least_sum / spread.nsenders + largest_box / 2);
	improve(&spread);
	*work = spread.work;
	arena_free(a);
}
