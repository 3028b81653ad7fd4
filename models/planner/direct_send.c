#include "planner/direct_send.h"

#include "base/arena.h"
#include "planner/assign.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	QUEUE_SLACK = 4, /* places of a queue in an assignment: so many fair shares */
	SWEEPS_MAX = 64, /* over all boxes, when improving an answer */
	SWAP_BOXES_MAX = 512, /* more boxes are only moved, not swapped */
};

static double load_of(const struct sending *s, int32_t box, int32_t sender)
{
	return s->elements[box] * s->price[(int64_t)box * s->nsenders + sender];
}

static void add_loads(double *load, const struct sending *s, const int32_t *sender)
{
	for (int32_t k = 0; k < s->nsenders; k++)
		load[k] = 0;
	for (int32_t b = 0; b < s->nboxes; b++)
		load[sender[b]] += load_of(s, b, sender[b]);
}

static double largest(const double *x, int32_t n)
{
	double most = 0;

	for (int32_t i = 0; i < n; i++)
		most = fmax(most, x[i]);
	return most;
}

double direct_load(double *sum, const struct sending *s, const int32_t *sender)
{
	double *load = xmalloc((size_t)s->nsenders, sizeof(*load)), most;

	add_loads(load, s, sender);
	most = largest(load, s->nsenders);
	*sum = 0;
	for (int32_t k = 0; k < s->nsenders; k++)
		*sum += load[k];
	free(load);
	return most;
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

static void longest_first(int32_t *sender, const struct sending *s, struct arena *a)
{
	int32_t *order = arena_alloc(a, (size_t)s->nboxes, sizeof(*order));
	double *load = arena_alloc(a, (size_t)s->nsenders, sizeof(*load));
	double *size = arena_dup(a, s->elements, (size_t)s->nboxes, sizeof(*size));

	for (int32_t b = 0; b < s->nboxes; b++)
		order[b] = b;
	qsort_r(order, (size_t)s->nboxes, sizeof(*order), by_size, size);
	for (int32_t i = 0; i < s->nboxes; i++) {
		int32_t b = order[i], best = 0;

		for (int32_t k = 1; k < s->nsenders; k++) {
			double own = load_of(s, b, k), held = load_of(s, b, best);
			double done = load[k] + own, first = load[best] + held;

			if (done < first || (done == first && own < held))
				best = k;
		}
		sender[b] = best;
		load[best] += load_of(s, b, best);
	}
}

/* --- the second ------------------------------------------------------------------- */

static int64_t queue_places(const struct sending *s)
{
	int64_t share = (s->nboxes + s->nsenders - 1) / s->nsenders;

	return QUEUE_SLACK * share < s->nboxes ? QUEUE_SLACK * share : s->nboxes;
}

/* False where it could take more work than is left. */
static bool assignment(int32_t *sender, const struct sending *s, int64_t *work,
                       struct arena *a)
{
	int64_t places = queue_places(s), cols = places * s->nsenders;
	double most = (double)s->nboxes * (double)s->nboxes * (double)cols;
	double *cost;

	if (most > (double)*work)
		return false;
	*work -= (int64_t)most;
	cost = arena_alloc(a, (size_t)s->nboxes, (size_t)cols * sizeof(*cost));
	for (int32_t b = 0; b < s->nboxes; b++)
		for (int64_t c = 0; c < cols; c++)
			cost[b * cols + c] = (double)(c / s->nsenders + 1) *
			                     load_of(s, b, (int32_t)(c % s->nsenders));
	assign_min_cost(sender, cost, s->nboxes, (int32_t)cols);
	for (int32_t b = 0; b < s->nboxes; b++)
		sender[b] %= s->nsenders;
	return true;
}

/* --- improving -------------------------------------------------------------------- */

/* A change of two senders' loads helps if it lowers the higher one, or else the sum. */
static bool helps(double a, double b, double new_a, double new_b, double most)
{
	double before = fmax(a, b), after = fmax(new_a, new_b), slack = 1e-12 * before;

	if (before >= most - slack && after < before - slack)
		return true;
	return after <= most && new_a + new_b < a + b - slack;
}

static bool try_moves(int32_t *sender, const struct sending *s, double *load, int32_t b,
                      double most)
{
	for (int32_t k = 0; k < s->nsenders; k++) {
		int32_t from = sender[b];
		double less = load[from] - load_of(s, b, from);
		double more = load[k] + load_of(s, b, k);

		if (k == from || !helps(load[from], load[k], less, more, most))
			continue;
		load[from] = less;
		load[k] = more;
		sender[b] = k;
		return true;
	}
	return false;
}

static bool try_swaps(int32_t *sender, const struct sending *s, double *load, int32_t b,
                      double most)
{
	for (int32_t c = 0; c < s->nboxes; c++) {
		int32_t x = sender[b], y = sender[c];
		double new_x = load[x] - load_of(s, b, x) + load_of(s, c, x);
		double new_y = load[y] - load_of(s, c, y) + load_of(s, b, y);

		if (x == y || !helps(load[x], load[y], new_x, new_y, most))
			continue;
		load[x] = new_x;
		load[y] = new_y;
		sender[b] = y;
		sender[c] = x;
		return true;
	}
	return false;
}

static void improve(int32_t *sender, const struct sending *s, double *load)
{
	bool changed = true;

	for (int sweep = 0; sweep < SWEEPS_MAX && changed; sweep++) {
		changed = false;
		/* Added up anew: differences of loads gather rounding errors. */
		add_loads(load, s, sender);
		for (int32_t b = 0; b < s->nboxes; b++) {
			double most = largest(load, s->nsenders);

			changed = try_moves(sender, s, load, b, most) ||
			          (s->nboxes <= SWAP_BOXES_MAX &&
			           try_swaps(sender, s, load, b, most)) ||
			          changed;
		}
	}
}

static bool all_equal(const double *x, int64_t n)
{
	for (int64_t i = 1; i < n; i++)
		if (x[i] != x[0])
			return false;
	return true;
}

void direct_send(int32_t *sender, const struct sending *s, int64_t *work)
{
	struct arena *a = arena_new();
	bool same_price = all_equal(s->price, (int64_t)s->nboxes * s->nsenders);
	double *load = arena_alloc(a, (size_t)s->nsenders, sizeof(*load));
	int32_t *other = arena_alloc(a, (size_t)s->nboxes, sizeof(*other));
	double most, sum, other_most, other_sum;

	longest_first(sender, s, a);
	if (!same_price || !all_equal(s->elements, s->nboxes))
		improve(sender, s, load);
	if (!same_price && assignment(other, s, work, a)) {
		improve(other, s, load);
		most = direct_load(&sum, s, sender);
		other_most = direct_load(&other_sum, s, other);
		if (other_most < most || (other_most == most && other_sum < sum))
			memcpy(sender, other, (size_t)s->nboxes * sizeof(*sender));
	}
	arena_free(a);
}
