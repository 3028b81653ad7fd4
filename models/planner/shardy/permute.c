#include "planner/shardy/greedy.h"

static bool divide(struct part a, struct part b)
{
	return a.size % b.size == 0 || b.size % a.size == 0;
}

/*
 * Returns whether all-to-alls would take the parts of have[dim] to their places in a
 * wrong order, or a part that must be gathered is in their way. *gathered is the last
 * part that nobody wants.
 */
static bool out_of_order(const struct greedy *g, int dim, struct part *gathered)
{
	const struct shardy_axes *have = &g->have[dim];
	bool seen[RANK_MAX] = {false};
	int last_dim = -1, last_place = -1;

	for (int i = 0; i < have->n; i++) {
		int place = -1, to = greedy_wanted(g, have->part[i], &place);
		bool follows = to == last_dim && place == last_place + 1;

		if (to < 0 && last_dim >= 0 && g->want[dim].n == 0)
			return true;
		if (to >= 0 && (to == dim || seen[to]) && !follows)
			return true;
		if (to < 0)
			*gathered = have->part[i];
		else
			seen[to] = true;
		last_dim = to;
		last_place = place;
	}
	return false;
}

static bool should_permute(const struct greedy *g)
{
	struct part gathered = {.size = 0}, missing = {.size = 0};

	for (int dim = 0; dim < g->rank; dim++) {
		const struct shardy_axes *have = &g->have[dim], *want = &g->want[dim];

		if (have->n && want->n && divide(have->part[0], want->part[0]))
			return true;
		for (int i = 0; i < want->n; i++)
			if (!greedy_held(g, want->part[i]))
				missing = want->part[i];
		if (out_of_order(g, dim, &gathered))
			return true;
	}
	return missing.size && gathered.size && divide(missing, gathered);
}

/*
 * Puts what dimension `dim` wants in its place, as far as its size goes. What it has
 * and nobody wants is set aside in `aside`, with the parts that were not replaced in
 * front.
 */
static void place_wanted(struct greedy *g, int dim,
                         const struct shardy_axes *all_wanted, struct shardy_axes *aside)
{
	struct shardy_axes *have = &g->have[dim], *want = &g->want[dim], front = {0};
	int64_t replaced = shardy_size(have);
	struct part part, rest;

	g->room[dim] = replaced;
	while (want->n && shardy_take(&part, &rest, want->part[0], &g->room[dim])) {
		shardy_remove(want, 0, 1);
		shardy_push(&g->kept[dim], part);
		if (rest.size > 1)
			shardy_insert(want, 0, rest);
	}
	replaced /= g->room[dim];
	for (int i = have->n - 1; i >= 0; i--)
		if (shardy_find(all_wanted, have->part[i]) >= 0)
			shardy_remove(have, i, 1);
	while (have->n && shardy_take(&part, &rest, have->part[0], &replaced)) {
		shardy_remove(have, 0, 1);
		shardy_push(&front, part);
		if (rest.size > 1)
			shardy_insert(have, 0, rest);
	}
	*aside = *have;
	have->n = 0;
	for (int i = 0; i < front.n; i++)
		shardy_push(aside, front.part[i]);
}

/*
 * Permutes the axes. Returns false if the sizes do not work out: the tiles would have
 * another shape.
 */
static bool permute_axes(struct greedy *g)
{
	struct arena *a = g->out->arena;
	struct shardy_axes *aside = arena_alloc(a, (size_t)g->rank + 1, sizeof(*aside));
	struct shardy_axes all_wanted = {0}, left = {0}, rest = {0};
	int64_t shards[RANK_MAX] = {0};
	bool fits = true;

	for (int dim = 0; dim < g->rank; dim++) {
		shards[dim] = shardy_size(&g->kept[dim]) * shardy_size(&g->have[dim]);
		for (int i = 0; i < g->want[dim].n; i++)
			shardy_push(&all_wanted, g->want[dim].part[i]);
	}
	g->held.n = 0;
	for (int dim = 0; dim < g->rank; dim++) {
		place_wanted(g, dim, &all_wanted, &aside[dim]);
		for (int i = 0; i < g->want[dim].n; i++)
			shardy_push(&left, g->want[dim].part[i]);
	}
	greedy_spread(g, &left, false, false, NULL);
	greedy_spread(g, aside, true, true, NULL);
	for (int dim = 0; dim < g->rank; dim++)
		for (int i = 0; i < aside[dim].n; i++)
			shardy_push(&rest, aside[dim].part[i]);
	greedy_spread(g, &rest, false, true, NULL);
	for (int dim = 0; dim < g->rank; dim++)
		fits = fits && shards[dim] == shardy_size(&g->kept[dim]) *
		                                      shardy_size(&g->have[dim]);
	return fits;
}

bool greedy_permute(struct greedy *g)
{
	if (should_permute(g)) {
		if (!permute_axes(g))
			return false;
	} else if (!g->reorder) {
		return true;
	}
	g->reordered = g->reordered || g->reorder;
	g->reorder = false;
	greedy_emit(g, OP_PERMUTE, NULL, 0);
	return true;
}
