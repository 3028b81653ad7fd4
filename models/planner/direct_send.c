#include "planner/direct_send.h"

#include "base/arena.h"
#include "base/hash.h"
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

/* Take what an assignment may need from the work that is left; false if that is more. */
static bool afford(const struct sending *s, int64_t *work)
{
	int64_t cols = queue_places(s) * s->nsenders;
	double most = (double)s->nboxes * (double)s->nboxes * (double)cols;

	if (most > (double)*work)
		return false;
	*work -= (int64_t)most;
	return true;
}

static void assignment(int32_t *sender, const struct sending *s, struct arena *a)
{
	double *load;

	load = arena_alloc(a, (size_t)s->nboxes, (size_t)s->nsenders * sizeof(*load));
	for (int32_t b = 0; b < s->nboxes; b++)
		for (int32_t k = 0; k < s->nsenders; k++)
			load[(int64_t)b * s->nsenders + k] = load_of(s, b, k);
	assign_queues(sender, load, s->nboxes, s->nsenders, (int32_t)queue_places(s));
}

/*
 * Is no answer better? Not if every box has its cheapest sender, and the busiest sender
 * has no more than a fair share of these loads, or of boxes that cost the least of all.
 */
static bool is_best(const struct sending *s, double most, double sum)
{
	const double slack = 1 + 1e-12;
	double cheapest = 0, least = INFINITY, share;

	for (int32_t b = 0; b < s->nboxes; b++) {
		double own = INFINITY;

		for (int32_t k = 0; k < s->nsenders; k++)
			own = fmin(own, load_of(s, b, k));
		cheapest += own;
		least = fmin(least, own);
	}
	share = ceil((double)s->nboxes / s->nsenders) * least;
	return sum <= cheapest * slack &&
	       most <= fmax(cheapest / s->nsenders, share) * slack;
}

/* --- improving -------------------------------------------------------------------- */

/*
 * Boxes of one size whose paths cost alike are of one kind. What holds for a box holds
 * for all others of its kind that have the same sender, a group: each is tried once.
 */
struct group {
	int32_t number, sender; /* number: kind * nsenders + sender */
};

struct improving {
	const struct sending *s;
	int32_t *sender;
	double *load; /* of each sender */
	double most;  /* the largest */
	int32_t nkinds;
	int32_t *kind;     /* [nboxes] */
	double *kind_load; /* [nkinds * nsenders]: of one box, at each sender */
	/* By number of the group: */
	int32_t *count;  /* of boxes */
	int64_t *failed; /* at which state no change of its boxes helped; 0: none yet */
	int64_t *helps;  /* in which trial a swap with one of its boxes did */
	int32_t ngroups;
	struct group *group;  /* those that may have boxes; [2 * nboxes + 2] */
	int64_t state, trial; /* counted; 0: none yet */
	/* Since which state loads are what they are: by sender, and the largest. */
	int64_t *changed, most_changed;
};

static bool same_kind(const struct sending *s, int32_t b, int32_t c)
{
	size_t row = (size_t)s->nsenders * sizeof(*s->price);

	return s->elements[b] == s->elements[c] &&
	       memcmp(s->price + (int64_t)b * s->nsenders,
	              s->price + (int64_t)c * s->nsenders, row) == 0;
}

/* Number the kinds in the order of their first boxes. */
static void find_kinds(struct improving *x, struct arena *a)
{
	const struct sending *s = x->s;
	size_t row = (size_t)s->nsenders * sizeof(*s->price), size = 16;
	int32_t *first, *slot; /* box + 1 where a hash leads, 0: none */

	while (size < 2 * (size_t)s->nboxes)
		size *= 2;
	slot = arena_alloc(a, size, sizeof(*slot));
	first = arena_alloc(a, (size_t)s->nboxes, sizeof(*first));
	x->kind = arena_alloc(a, (size_t)s->nboxes, sizeof(*x->kind));
	for (int32_t b = 0; b < s->nboxes; b++) {
		uint64_t h = hash_bytes(HASH_START, s->price + (int64_t)b * s->nsenders,
		                        row);
		size_t i = hash_bytes(h, &s->elements[b], sizeof(s->elements[b])) &
		           (size - 1);

		while (slot[i] && !same_kind(s, b, slot[i] - 1))
			i = (i + 1) & (size - 1);
		if (!slot[i]) {
			slot[i] = b + 1;
			first[x->nkinds] = b;
			x->kind[b] = x->nkinds++;
		}
		x->kind[b] = x->kind[slot[i] - 1];
	}
	x->kind_load = arena_alloc(a, (size_t)x->nkinds, row);
	for (int32_t kind = 0; kind < x->nkinds; kind++)
		for (int32_t k = 0; k < s->nsenders; k++)
			x->kind_load[(int64_t)kind * s->nsenders + k] =
				load_of(s, first[kind], k);
}

static int32_t group_of(const struct improving *x, int32_t b)
{
	return x->kind[b] * x->s->nsenders + x->sender[b];
}

static void list_group(struct improving *x, int32_t b)
{
	x->group[x->ngroups++] = (struct group){group_of(x, b), x->sender[b]};
}

/* Boxes in their groups, loads added up: differences of loads gather rounding errors. */
static void take_stock(struct improving *x)
{
	x->ngroups = 0;
	memset(x->count, 0,
	       (size_t)x->nkinds * (size_t)x->s->nsenders * sizeof(*x->count));
	for (int32_t b = 0; b < x->s->nboxes; b++)
		if (x->count[group_of(x, b)]++ == 0)
			list_group(x, b);
	add_loads(x->load, x->s, x->sender);
	x->most = largest(x->load, x->s->nsenders);
	x->state++;
	for (int32_t k = 0; k < x->s->nsenders; k++)
		x->changed[k] = x->state;
	x->most_changed = x->state;
}

static void give(struct improving *x, int32_t b, int32_t sender)
{
	x->count[group_of(x, b)]--;
	x->sender[b] = sender;
	if (x->count[group_of(x, b)]++ == 0)
		list_group(x, b);
}

/* Boxes were given from one sender to another, or swapped. */
static void changed_loads(struct improving *x, int32_t from, int32_t to)
{
	double most = largest(x->load, x->s->nsenders);
	int32_t n = 0;

	x->state++;
	x->changed[from] = x->changed[to] = x->state;
	if (most != x->most)
		x->most_changed = x->state;
	x->most = most;
	/* Each time at most two groups come to be listed, some a second time. */
	if (x->ngroups + 2 <= 2 * x->s->nboxes)
		return;
	x->trial++;
	for (int32_t i = 0; i < x->ngroups; i++) {
		int32_t g = x->group[i].number;

		if (x->count[g] == 0 || x->helps[g] == x->trial)
			continue;
		x->helps[g] = x->trial;
		x->group[n++] = x->group[i];
	}
	x->ngroups = n;
}

/* A change of two senders' loads helps if it lowers the higher one, or else the sum. */
static inline bool helps(double a, double b, double new_a, double new_b, double most)
{
	double before = a > b ? a : b, after = new_a > new_b ? new_a : new_b;
	double slack = 1e-12 * before;

	if (before >= most - slack && after < before - slack)
		return true;
	return after <= most && new_a + new_b < a + b - slack;
}

/*
 * What was tried for a group at the state when it failed, and need not be tried again:
 * changes with senders whose loads are the same since that state. 0: all is to be tried.
 */
static int64_t failed_since(const struct improving *x, int32_t group, int32_t sender)
{
	int64_t failed = x->failed[group];

	return x->most_changed <= failed && x->changed[sender] <= failed ? failed : 0;
}

static bool try_moves(struct improving *x, int32_t b, int64_t since)
{
	const double *own = x->kind_load + (int64_t)x->kind[b] * x->s->nsenders;
	double *load = x->load;
	int32_t from = x->sender[b];

	for (int32_t k = 0; k < x->s->nsenders; k++) {
		double less = load[from] - own[from], more = load[k] + own[k];

		if (k == from || x->changed[k] <= since ||
		    !helps(load[from], load[k], less, more, x->most))
			continue;
		load[from] = less;
		load[k] = more;
		give(x, b, k);
		changed_loads(x, from, k);
		return true;
	}
	return false;
}

/* Which groups does a box help to swap with? False if none. */
static bool find_swaps(struct improving *x, int32_t b, int64_t since)
{
	const double *own = x->kind_load + (int64_t)x->kind[b] * x->s->nsenders;
	const double *load = x->load, *kind_load = x->kind_load;
	const int64_t *changed = x->changed;
	const int32_t *count = x->count;
	const struct group *group = x->group, *end = group + x->ngroups;
	int32_t from = x->sender[b];
	double held = load[from], rest = held - own[from], most = x->most;
	bool found = false;

	x->trial++;
	for (; group < end; group++) {
		int32_t g = group->number, y = group->sender;
		const double *other = kind_load + (g - y);

		if (y == from || changed[y] <= since || count[g] == 0 ||
		    !helps(held, load[y], rest + other[from],
		           load[y] - other[y] + own[y], most))
			continue;
		x->helps[g] = x->trial;
		found = true;
	}
	return found;
}

static bool try_swaps(struct improving *x, int32_t b, int64_t since)
{
	const double *own = x->kind_load + (int64_t)x->kind[b] * x->s->nsenders;
	const double *other;
	int32_t from = x->sender[b], c = 0, y;

	if (!find_swaps(x, b, since))
		return false;
	while (x->helps[group_of(x, c)] != x->trial)
		c++;
	y = x->sender[c];
	other = x->kind_load + (int64_t)x->kind[c] * x->s->nsenders;
	x->load[from] = x->load[from] - own[from] + other[from];
	x->load[y] = x->load[y] - other[y] + own[y];
	give(x, b, y);
	give(x, c, from);
	changed_loads(x, from, y);
	return true;
}

/*
 * Changes that lower the highest load and changes that lower the sum can undo each other
 * for ever. Once an answer comes back, sweep after sweep would come back too: of those
 * left, up to `limit`, only as many are needed as are no whole rounds.
 */
static int sweeps_needed(uint64_t *seen, int sweep, int limit, uint64_t answer)
{
	seen[sweep] = answer;
	for (int i = sweep - 1; i >= 0; i--)
		if (seen[i] == answer)
			return sweep + (limit - sweep) % (sweep - i);
	return limit;
}

static void improve(int32_t *sender, const struct sending *s, struct arena *a)
{
	struct improving x = {.s = s, .sender = sender};
	size_t groups;
	uint64_t seen[SWEEPS_MAX];
	int limit = SWEEPS_MAX;
	bool changed = true;

	find_kinds(&x, a);
	groups = (size_t)x.nkinds * (size_t)s->nsenders;
	x.load = arena_alloc(a, (size_t)s->nsenders, sizeof(*x.load));
	x.changed = arena_alloc(a, (size_t)s->nsenders, sizeof(*x.changed));
	x.count = arena_alloc(a, groups, sizeof(*x.count));
	x.failed = arena_alloc(a, groups, sizeof(*x.failed));
	x.helps = arena_alloc(a, groups, sizeof(*x.helps));
	x.group = arena_alloc(a, (size_t)s->nboxes + 2, 2 * sizeof(*x.group));
	for (int sweep = 0; sweep < limit && changed; sweep++) {
		size_t size = (size_t)s->nboxes * sizeof(*sender);

		limit = sweeps_needed(seen, sweep, limit,
		                      hash_bytes(HASH_START, sender, size));
		if (sweep >= limit)
			break;
		changed = false;
		take_stock(&x);
		for (int32_t b = 0; b < s->nboxes; b++) {
			int32_t group = group_of(&x, b);
			int64_t since = failed_since(&x, group, sender[b]);

			if (since == x.state)
				continue;
			if (try_moves(&x, b, since) ||
			    (s->nboxes <= SWAP_BOXES_MAX && try_swaps(&x, b, since)))
				changed = true;
			else
				x.failed[group] = x.state;
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
	int32_t *other = arena_alloc(a, (size_t)s->nboxes, sizeof(*other));
	double most, sum, other_most, other_sum;

	longest_first(sender, s, a);
	if (!same_price || !all_equal(s->elements, s->nboxes))
		improve(sender, s, a);
	most = direct_load(&sum, s, sender);
	if (!same_price && afford(s, work) && !is_best(s, most, sum)) {
		assignment(other, s, a);
		improve(other, s, a);
		other_most = direct_load(&other_sum, s, other);
		if (other_most < most || (other_most == most && other_sum < sum))
			memcpy(sender, other, (size_t)s->nboxes * sizeof(*sender));
	}
	arena_free(a);
}
