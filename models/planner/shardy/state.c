/* The functions that the phases of Shardy's greedy share. */
#include "planner/shardy/greedy.h"

#include "base/list.h"

bool greedy_held(const struct greedy *g, struct part part)
{
	return shardy_find(&g->held, part) >= 0;
}

void greedy_hold(struct greedy *g, struct part part)
{
	if (!greedy_held(g, part))
		shardy_push(&g->held, part);
}

void greedy_let_go(struct greedy *g, struct part part)
{
	int at = shardy_find(&g->held, part);

	if (at >= 0)
		shardy_remove(&g->held, at, 1);
}

int greedy_wanted(const struct greedy *g, struct part part, int *place)
{
	for (int dim = 0; dim < g->rank; dim++) {
		int at = shardy_find(&g->want[dim], part);

		if (at < 0)
			continue;
		if (place)
			*place = at;
		return dim;
	}
	return -1;
}

void greedy_spread(struct greedy *g, struct shardy_axes *available, bool per_dim,
                   bool front, struct shardy_axes *added)
{
	struct shardy_axes cut = {0};

	for (int dim = 0; dim < g->rank; dim++) {
		struct shardy_axes *from = available + (per_dim ? dim : 0);
		int at = front ? 0 : g->have[dim].n;

		for (int i = 0; i < from->n && g->room[dim] > 1;) {
			struct part part, rest;

			if (!shardy_take(&part, &rest, from->part[i], &g->room[dim])) {
				i++;
				continue;
			}
			shardy_remove(from, i, 1);
			shardy_insert(&g->have[dim], at++, part);
			greedy_hold(g, part);
			if (added)
				shardy_push(&added[dim], part);
			if (rest.size > 1) {
				shardy_push(&cut, part);
				shardy_insert(from, 0, rest);
			}
		}
	}
	for (int dim = 0; dim < g->rank; dim++)
		shardy_cut(&g->want[dim], &cut);
}

struct move greedy_move(const struct greedy *g, int from_dim, int to_dim,
                        const struct shardy_axes *axes)
{
	struct move m = {.from_dim = from_dim, .to_dim = to_dim};
	struct layout l = layout_replicated(1);
	const struct part *part;

	for (int i = 0; i < axes->n; i++)
		layout_append(&l, 0, axes->part[i]);
	layout_normalise(&l);
	part = layout_parts(&l, 0, &m.nparts);
	m.factor = (int32_t)layout_shards(&l, 0);
	m.parts = arena_dup(g->out->arena, part, (size_t)m.nparts, sizeof(*part));
	return m;
}

static struct layout layout_now(const struct greedy *g)
{
	struct layout l = layout_replicated(g->rank);

	for (int dim = 0; dim < g->rank; dim++) {
		for (int i = 0; i < g->kept[dim].n; i++)
			layout_append(&l, dim, g->kept[dim].part[i]);
		for (int i = 0; i < g->have[dim].n; i++)
			layout_append(&l, dim, g->have[dim].part[i]);
	}
	layout_normalise(&l);
	return l;
}

void greedy_emit(struct greedy *g, enum op op, const struct move *moves, int nmoves)
{
	struct shardy_program *out = g->out;

	out->op = list_grow(out->arena, out->op, out->nops, 1, &out->room,
	                    sizeof(*out->op));
	out->op[out->nops++] = (struct shardy_op){
		.op = op,
		.nmoves = nmoves,
		.move = arena_dup(out->arena, moves, (size_t)nmoves, sizeof(*moves)),
		.after = layout_now(g),
		.reordered = g->reordered};
}

void greedy_emit_all(struct greedy *g, enum op op, const struct shardy_axes *axes)
{
	struct move moves[RANK_MAX];
	int n = 0;

	for (int dim = 0; dim < g->rank; dim++)
		if (axes[dim].n)
			moves[n++] = op == OP_SLICE
			                     ? greedy_move(g, -1, dim, &axes[dim])
			                     : greedy_move(g, dim, -1, &axes[dim]);
	if (n)
		greedy_emit(g, op, moves, n);
}
