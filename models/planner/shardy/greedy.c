#include "planner/shardy/greedy.h"

#include <string.h>

/* --- All-to-alls and all-gather --- */

/*
 * Moves the longest end of have[from] that one other dimension wants; if `in_place`,
 * only to where it is wanted. Returns false if nothing was moved.
 */
static bool all_to_all(struct greedy *g, int from, bool in_place)
{
	struct shardy_axes *have = &g->have[from], *want, moved = {0};
	struct move move;
	int start = have->n, to = -1;

	for (; start > 0; start--) {
		int dim = greedy_wanted(g, have->part[start - 1], NULL);

		if (dim < 0 || dim == from || (to >= 0 && dim != to))
			break;
		to = dim;
	}
	if (to < 0)
		return false;
	want = &g->want[to];
	for (int i = start; i < have->n; i++) {
		if (in_place && shardy_find(want, have->part[i]) != i - start)
			return false;
		shardy_push(&moved, have->part[i]);
	}
	shardy_remove(have, start, moved.n);
	for (int i = 0; i < moved.n; i++) {
		if (g->have[to].n == 0 && shardy_find(want, moved.part[i]) == 0) {
			greedy_let_go(g, moved.part[i]);
			shardy_push(&g->kept[to], moved.part[i]);
			shardy_remove(want, 0, 1);
		} else {
			shardy_push(&g->have[to], moved.part[i]);
		}
	}
	move = greedy_move(g, from, to, &moved);
	greedy_emit(g, OP_ALL_TO_ALL, &move, 1);
	return true;
}

void greedy_all_to_alls(struct greedy *g, bool in_place)
{
	for (int from = 0; from < g->rank; from++)
		while (all_to_all(g, from, in_place))
			;
}

/*
 * Gathers as Shardy does, which steps its iterator the wrong way: where the last part
 * is wanted nowhere it gathers all parts of the dimension, wanted or not, and lets go
 * of the last one only.
 */
void greedy_all_gather(struct greedy *g)
{
	struct arena *a = g->out->arena;
	struct shardy_axes *gone = arena_alloc(a, (size_t)g->rank + 1, sizeof(*gone));

	for (int dim = 0; dim < g->rank; dim++) {
		struct shardy_axes *have = &g->have[dim];

		if (have->n == 0 || greedy_wanted(g, have->part[have->n - 1], NULL) >= 0)
			continue;
		greedy_let_go(g, have->part[have->n - 1]);
		gone[dim] = *have;
		have->n = 0;
	}
	greedy_emit_all(g, OP_ALL_GATHER, gone);
}

/* --- The whole --- */

static bool done(const struct greedy *g)
{
	for (int dim = 0; dim < g->rank; dim++)
		if (g->have[dim].n || g->want[dim].n)
			return false;
	return !g->reorder;
}

static struct greedy *greedy_begin(struct shardy_program *out, const struct shape *shape,
                                   const struct layout *from, const struct layout *to)
{
	struct greedy *g = arena_alloc(out->arena, 1, sizeof(*g));
	struct shardy_axes had = {0}, asked = {0};
	struct layout ends[2] = {*from, *to};

	*g = (struct greedy){.rank = from->rank, .shape = shape, .out = out};
	for (int k = 0; k < 2; k++) {
		layout_normalise(&ends[k]);
		for (int dim = 0; dim < g->rank; dim++) {
			struct shardy_axes *axes = k ? &g->want[dim] : &g->have[dim];
			const struct part *part = layout_parts(&ends[k], dim, &axes->n);

			memcpy(axes->part, part, (size_t)axes->n * sizeof(*part));
			for (int i = 0; i < axes->n; i++)
				shardy_push(k ? &asked : &had, part[i]);
		}
	}
	for (int dim = 0; dim < g->rank; dim++) {
		struct shardy_axes *have = &g->have[dim], *want = &g->want[dim];

		shardy_cut(have, &asked);
		shardy_cut(want, &had);
		while (have->n && want->n && shardy_find(want, have->part[0]) == 0) {
			shardy_push(&g->kept[dim], have->part[0]);
			shardy_remove(have, 0, 1);
			shardy_remove(want, 0, 1);
		}
		for (int i = 0; i < have->n; i++)
			greedy_hold(g, have->part[i]);
	}
	return g;
}

struct shardy_program shardy_reshard(const struct shape *shape,
                                     const struct layout *from, const struct layout *to,
                                     bool reorder, struct arena *a)
{
	struct shardy_program out = {.arena = a, .end = SHARDY_DONE};
	struct greedy *g = greedy_begin(&out, shape, from, to);

	g->reorder = reorder;
	for (int round = 0; round < 2 && !done(g); round++) {
		greedy_slice(g);
		if (!greedy_permute(g)) {
			out.end = SHARDY_MISFIT;
			return out;
		}
		greedy_all_to_alls(g, true);
		greedy_all_to_alls(g, false);
		greedy_all_gather(g);
	}
	if (!done(g))
		out.end = SHARDY_UNFINISHED;
	return out;
}
