/* The steps of the interpreter in which contributions to sums travel and are added up. */
#include "plan/check_state.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* Contributions to the elements of a box. */
struct share {
	const int64_t *bounds;
	struct list parts;
};

static struct list *own_parts(const struct state *s, int32_t d)
{
	return &state_tile(s, d)[s->rank];
}

static bool in_tile(const struct state *s, int32_t d, const int64_t *b)
{
	const struct list *tile = state_tile(s, d);

	for (int i = 0; i < s->rank; i++)
		if (!list_holds(tile[i], b[2 * i], b[2 * i + 1]))
			return false;
	return true;
}

/* Returns whether some element of a box is in the device's tile, of one run per dimension. */
static bool meets_tile(const struct state *s, int32_t d, const int64_t *b)
{
	const struct list *tile = state_tile(s, d);
	bool meets = true;

	for (int i = 0; i < s->rank; i++)
		meets = meets && tile[i].n > 0 && tile[i].run[0].lo < b[2 * i + 1] &&
		        tile[i].run[tile[i].n - 1].hi > b[2 * i];
	return meets;
}

static bool is_given(const struct state *s, int32_t d, const int64_t *b)
{
	for (const struct held *h = s->given[d]; h; h = h->next)
		if (boxes_meet(h->bounds, b, s->rank))
			return true;
	return false;
}

static bool same_box(const struct state *s, const int64_t *a, const int64_t *b)
{
	return memcmp(a, b, 2 * (size_t)s->rank * sizeof(*a)) == 0;
}

static void put(struct state *s, struct held **to, const int64_t *bounds,
                struct list parts)
{
	struct held *h = arena_alloc(s->arena, 1, sizeof(*h));

	*h = (struct held){bounds, *to, parts};
	*to = h;
}

/* Takes all that a device has of a box away from it. Returns false if that is nothing. */
static bool take(struct share *out, struct state *s, int32_t d, const int64_t *b)
{
	LIST(struct list) parts = {0};
	bool own = own_parts(s, d)->n > 0 && in_tile(s, d, b) && !is_given(s, d, b);

	if (own) {
		*list_add(&parts, s->arena) = *own_parts(s, d);
		put(s, &s->given[d], b, *own_parts(s, d));
	}
	for (struct held **at = &s->held[d]; *at;) {
		if (!same_box(s, (*at)->bounds, b)) {
			at = &(*at)->next;
			continue;
		}
		*list_add(&parts, s->arena) = (*at)->parts;
		*at = (*at)->next;
	}
	*out = (struct share){b, list_join(s->arena, parts.at, (int32_t)parts.n)};
	return parts.n > 0;
}

/* Takes all boxes that are sent from their senders, then gives them to the receivers. */
static bool deliver(struct state *s, int step)
{
	const struct step *st = &s->plan->step[step];
	struct share *sent =
		arena_alloc(s->arena, (size_t)st->ntransfers, sizeof(*sent));

	for (int64_t i = 0; i < st->ntransfers; i++) {
		const struct transfer *t = &st->transfers[i];

		if (!state_check_box(s, step, t))
			return false;
		if (!take(&sent[i], s, t->src, t->bounds))
			return state_wrong(
				s, step, "a device sends what it does not have", t->src);
	}
	for (int64_t i = 0; i < st->ntransfers; i++)
		put(s, &s->held[st->transfers[i].dst], sent[i].bounds, sent[i].parts);
	return true;
}

bool state_add_parts(struct state *s, int step)
{
	return deliver(s, step);
}

static int by_bounds(const void *a, const void *b, void *context)
{
	const int64_t *x = ((const struct share *)a)->bounds;
	const int64_t *y = ((const struct share *)b)->bounds;
	int n = 2 * *(const int *)context;

	for (int i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Returns what a device holds, in the order of boxes. */
static struct share *sort_held(struct state *s, int32_t d, int64_t *n)
{
	struct share *out;
	int rank = s->rank;

	*n = 0;
	for (const struct held *h = s->held[d]; h; h = h->next)
		++*n;
	out = arena_alloc(s->arena, (size_t)*n, sizeof(*out));
	*n = 0;
	for (const struct held *h = s->held[d]; h; h = h->next)
		out[(*n)++] = (struct share){h->bounds, h->parts};
	qsort_r(out, (size_t)*n, sizeof(*out), by_bounds, &rank);
	return out;
}

/* Returns whether boxes of one place and the tile there have every contribution once. */
static bool is_whole(struct state *s, int step, int32_t d, const struct share *share,
                     int64_t n)
{
	struct list *parts = arena_alloc(s->arena, (size_t)n + 1, sizeof(*parts));
	const int64_t *b = share->bounds;
	int32_t count = 0;

	for (int64_t i = 0; i < n; i++)
		parts[count++] = share[i].parts;
	if (own_parts(s, d)->n > 0 && meets_tile(s, d, b) && !in_tile(s, d, b))
		return state_wrong(s, step, "a box of a sum is cut by a tile", d);
	if (own_parts(s, d)->n > 0 && in_tile(s, d, b) && !is_given(s, d, b))
		parts[count++] = *own_parts(s, d);
	return lists_partition(s->arena, parts, count, s->partials) ||
	       state_wrong(s, step, "a sum does not have every contribution once", d);
}

/* Returns whether the sums that a device has are exactly its tile's. */
static bool makes_sums(struct state *s, int step, int32_t d, const int64_t *want)
{
	int64_t n, distinct = 0, total = 0;
	const struct share *share = sort_held(s, d, &n);
	const int64_t **box = arena_alloc(s->arena, (size_t)n, sizeof(*box));

	for (int64_t i = 0, end; i < n; i = end) {
		for (end = i + 1;
		     end < n && same_box(s, share[i].bounds, share[end].bounds); end++)
			;
		if (!box_inside(share[i].bounds, want, s->rank))
			return state_wrong(s, step, "a box that is not wanted arrives",
			                   d);
		if (!is_whole(s, step, d, &share[i], end - i))
			return false;
		box[distinct++] = share[i].bounds;
		total += box_elements(share[i].bounds, s->rank);
	}
	if (total != box_elements(want, s->rank))
		return state_wrong(s, step, "the boxes do not add up to the tile", d);
	return total == 0 || boxes_disjoint(s->arena, box, distinct, s->rank) ||
	       state_wrong(s, step, "two boxes of one tile overlap", d);
}

bool state_add_tiles(struct state *s, int step)
{
	const struct step *st = &s->plan->step[step];
	struct tilemap map =
		tilemap_make(&st->after, st->mesh, &s->plan->shape, s->arena);
	size_t cells = (size_t)s->ndevices * (size_t)s->lists;
	struct list *next = arena_alloc(s->arena, cells, sizeof(*next));

	if (st->after.nunreduced > 0)
		return state_wrong(s, step, "parts of an unreduced array travel", -1);
	if (!deliver(s, step))
		return false;
	for (int32_t d = 0; d < s->ndevices; d++) {
		struct list *out = next + (int64_t)d * s->lists;
		int64_t want[2 * RANK_MAX];

		if (!state_wanted(out, want, s, st, &map, d)) {
			if (s->held[d])
				return state_wrong(
					s, step, "a box that is not wanted arrives", d);
			continue;
		}
		if (!makes_sums(s, step, d, want))
			return false;
		out[s->rank] = list_of(s->arena, 0, s->partials);
	}
	memset(s->held, 0, (size_t)s->ndevices * sizeof(struct held *));
	s->list = next;
	return true;
}
