#include "planner/shardy/greedy.h"

#include "base/gcd.h"

/*
 * Returns whether have[source] and want[target] end alike up to `end`, so that no other
 * parts would have to be reordered on the way. If so, *size is that of the end they
 * share.
 */
static bool ends_alike(const struct greedy *g, int source, int target, int end,
                       int64_t *size)
{
	const struct shardy_axes *have = &g->have[source], *want = &g->want[target];
	int i = have->n - 1;

	*size = 1;
	for (int k = end - 1; i >= 0 && k >= 0; i--, k--) {
		if (shardy_find(have, want->part[k]) != i)
			break;
		*size *= have->part[i].size;
	}
	for (; i >= 0; i--)
		if (shardy_find(want, have->part[i]) >= 0)
			return false;
	return true;
}

/*
 * Slices parts that ride along: where dimension `source` will give its last parts to
 * another that has none of its own, the free parts wanted right after them are sliced
 * here, and one all-to-all takes all of them. Their room is that of the target.
 */
static void slice_for_ride(struct greedy *g, int source, struct shardy_axes *sliced)
{
	struct shardy_axes *have = &g->have[source], *want;
	int64_t shards = shardy_size(&g->kept[source]) * shardy_size(have);
	int64_t common, added = 1;
	int target, first, last;

	if (have->n == 0 || g->want[source].n > 0)
		return;
	target = greedy_wanted(g, have->part[have->n - 1], &first);
	if (target < 0 || g->have[target].n > 0)
		return;
	want = &g->want[target];
	first++;
	if (first == want->n || greedy_held(g, want->part[first]) ||
	    !ends_alike(g, source, target, first, &common))
		return;
	for (last = first; last < want->n && !greedy_held(g, want->part[last]); last++)
		added *= want->part[last].size;
	if (g->shape->dim[source] % (shards * added) != 0)
		return;
	g->room[target] /= common * added;
	for (int i = first; i < last; i++) {
		shardy_push(have, want->part[i]);
		greedy_hold(g, want->part[i]);
		shardy_push(&sliced[source], want->part[i]);
	}
}

/* Slices free parts where they are wanted, as far as there is room. */
static void slice_in_place(struct greedy *g, int dim, struct shardy_axes *sliced,
                           struct shardy_axes *left)
{
	struct shardy_axes *want = &g->want[dim];

	for (int i = 0; i < want->n;) {
		struct part part, rest;

		if (greedy_held(g, want->part[i])) {
			i++;
			continue;
		}
		if (!shardy_take(&part, &rest, want->part[i], &g->room[dim])) {
			shardy_push(left, want->part[i++]);
			continue;
		}
		shardy_push(&sliced[dim], part);
		if (g->have[dim].n == 0 && i == 0) {
			shardy_push(&g->kept[dim], part);
			shardy_remove(want, 0, 1);
		} else {
			greedy_hold(g, part);
			shardy_push(&g->have[dim], part);
			want->part[i++] = part;
		}
		if (rest.size > 1) {
			shardy_insert(want, i++, rest);
			shardy_push(left, rest);
		}
	}
}

void greedy_slice(struct greedy *g)
{
	struct arena *a = g->out->arena;
	struct shardy_axes *sliced =
		arena_alloc(a, (size_t)g->rank + 1, sizeof(*sliced));
	struct shardy_axes left = {0};

	for (int dim = 0; dim < g->rank; dim++) {
		int64_t want = shardy_size(&g->want[dim]);

		g->room[dim] = want / gcd(shardy_size(&g->have[dim]), want);
	}
	for (int dim = 0; dim < g->rank; dim++)
		slice_for_ride(g, dim, sliced);
	for (int dim = 0; dim < g->rank; dim++)
		slice_in_place(g, dim, sliced, &left);
	greedy_spread(g, &left, false, false, sliced);
	greedy_emit_all(g, OP_SLICE, sliced);
}
