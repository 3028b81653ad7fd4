#include "plan/plan.h"

#include "base/assert.h"
#include "base/list.h"
#include "plan/groups.h"

#include <string.h>

static const char *const op_names[] = {
	[OP_SLICE] = "slice",
	[OP_ALL_GATHER] = "all-gather",
	[OP_ALL_TO_ALL] = "all-to-all",
	[OP_PERMUTE] = "permute",
	[OP_REDUCE_SCATTER] = "reduce-scatter",
	[OP_ALL_REDUCE] = "all-reduce",
	[OP_EXCHANGE] = "exchange",
	[OP_PAD] = "pad",
	[OP_PARTIAL] = "partial",
	[OP_BROADCAST] = "broadcast",
	[OP_REDUCE] = "reduce",
};

const char *op_name(enum op op)
{
	return op_names[op];
}

bool op_communicates(enum op op)
{
	return op != OP_SLICE && op != OP_PAD && op != OP_PARTIAL;
}

const struct shape *step_operand(const struct step *s)
{
	return s->gathers ? &s->summed : &s->before_local;
}

bool step_has_axes(const struct step *s)
{
	for (int i = 0; i < s->nmoves; i++)
		if (s->move[i].nparts == 0)
			return false;
	return s->nmoves > 0;
}

bool step_adds(const struct plan *p, int step)
{
	const struct step *s = &p->step[step];
	bool boxes = s->op == OP_EXCHANGE || (s->op == OP_PERMUTE && s->transfers);

	return boxes && !s->part && plan_before(p, step)->nunreduced > 0;
}

struct plan *plan_new(struct arena *a, const struct problem *p, const char *planner)
{
	struct plan *plan = arena_alloc(a, 1, sizeof(*plan));

	plan->arena = a;
	plan->problem = p;
	plan->planner = planner;
	plan->shape = p->padded;
	plan->from = p->from;
	plan->to = p->to;
	return plan;
}

void plan_view(struct plan *p, const struct view *view, const struct layout *from,
               const struct layout *to)
{
	assert(p->nsteps == 0);
	p->view = arena_dup(p->arena, view, 1, sizeof(*view));
	p->shape = view->shape;
	p->from = *from;
	p->to = *to;
}

const struct layout *plan_before(const struct plan *p, int step)
{
	return step ? &p->step[step - 1].after : &p->from;
}

const struct layout *plan_layout(const struct plan *p)
{
	return plan_before(p, p->nsteps);
}

struct shape plan_local(const struct plan *p)
{
	return p->nsteps ? p->step[p->nsteps - 1].local
	                 : layout_local(&p->from, &p->shape);
}

/* Adds a last step, of which the op and the layouts are filled in, and returns it. */
static struct step *add_step(struct plan *p, enum op op, const struct layout *after)
{
	struct shape before = plan_local(p);
	struct step *s;

	p->step = list_grow(p->arena, p->step, p->nsteps, 1, &p->room, sizeof(*p->step));
	s = &p->step[p->nsteps++];
	*s = (struct step){
		.op = op,
		.before_local = before,
		.after = *after,
		.mesh = &p->problem->mesh,
		.local = layout_local(after, &p->shape),
	};
	return s;
}

static int sort_key(enum op op, const struct move *m)
{
	return op == OP_ALL_GATHER || op == OP_PARTIAL ? m->from_dim : m->to_dim;
}

/* Copies moves, by rising dimension (which orders the axes of groups), parts merged. */
static struct move *copy_moves(struct arena *a, enum op op, const struct move *moves,
                               int nmoves)
{
	struct move *copy = arena_dup(a, moves, (size_t)nmoves, sizeof(*moves));

	for (int i = 1; i < nmoves; i++) {
		struct move m = copy[i];
		int j = i;

		for (; j > 0 && sort_key(op, &copy[j - 1]) > sort_key(op, &m); j--)
			copy[j] = copy[j - 1];
		copy[j] = m;
	}
	for (int i = 0; i < nmoves; i++) {
		struct layout l = layout_replicated(1);
		int n;

		for (int k = 0; k < copy[i].nparts; k++)
			layout_append(&l, 0, copy[i].parts[k]);
		copy[i].factor = (int32_t)layout_shards(&l, 0);
		layout_normalise(&l);
		layout_parts(&l, 0, &n);
		copy[i].nparts = n;
		copy[i].parts = arena_dup(a, l.part, (size_t)n, sizeof(struct part));
	}
	return copy;
}

/* Takes the minor-most parts of `dim`, of product `factor`, away from the layout. */
static void remove_suffix(struct layout *l, int dim, int32_t factor)
{
	struct layout out = layout_replicated(l->rank);

	for (int i = 0; i < l->rank; i++) {
		int n;
		const struct part *part = layout_parts(l, i, &n);
		int64_t keep = layout_shards(l, i) / (i == dim ? factor : 1);

		for (int k = 0; k < n && keep > 1; k++) {
			struct part p = part[k];

			if (p.size > keep)
				p.size = (int32_t)keep;
			assert(keep % p.size == 0);
			keep /= p.size;
			layout_append(&out, i, p);
		}
	}
	for (int k = 0; k < l->nunreduced; k++) {
		int n;

		layout_append(&out, l->rank, layout_parts(l, l->rank, &n)[k]);
	}
	*l = out;
}

static struct layout apply_moves(const struct layout *before, const struct move *moves,
                                 int nmoves)
{
	struct layout after = *before;

	for (int i = 0; i < nmoves; i++)
		if (moves[i].from_dim >= 0)
			remove_suffix(&after, moves[i].from_dim, moves[i].factor);
	for (int i = 0; i < nmoves; i++)
		for (int k = 0; moves[i].to_dim >= 0 && k < moves[i].nparts; k++) {
			bool fits = layout_append(&after, moves[i].to_dim,
			                          moves[i].parts[k]);

			assert(fits);
			(void)fits;
		}
	layout_normalise(&after);
	return after;
}

/* Takes the parts of a reduction from the unreduced set. */
static void reduce_unreduced(struct layout *l, const struct move *moves, int nmoves)
{
	struct part left[LAYOUT_PARTS_MAX];
	int n;
	const struct part *part = layout_parts(l, l->rank, &n);

	memcpy(left, part, (size_t)n * sizeof(*part));
	for (int i = 0; i < nmoves; i++)
		for (int k = 0; k < moves[i].nparts; k++) {
			bool there = parts_take(left, &n, moves[i].parts[k]);

			assert(there);
			(void)there;
		}
	l->nunreduced = 0;
	for (int k = 0; k < n; k++)
		layout_append(l, l->rank, left[k]);
	layout_normalise(l);
}

/* Returns whether the tile divides and no axis is used twice. */
static bool step_fits(const struct plan *p, const struct layout *after,
                      const struct move *moves, int nmoves)
{
	struct shape local = plan_local(p);
	struct text why = {0};
	bool fits = layout_valid(after, &p->problem->mesh, &why);

	for (int i = 0; i < nmoves; i++)
		if (moves[i].to_dim >= 0 && local.dim[moves[i].to_dim] % moves[i].factor)
			fits = false;
	text_free(&why);
	return fits;
}

void plan_axes_step(struct plan *p, enum op op, const struct move *moves, int nmoves)
{
	const struct mesh *m = &p->problem->mesh;
	struct move *copy = copy_moves(p->arena, op, moves, nmoves);
	struct layout after = *plan_layout(p);
	bool fits;
	struct step *s;

	if (op == OP_REDUCE_SCATTER || op == OP_ALL_REDUCE)
		reduce_unreduced(&after, copy, nmoves);
	for (int i = 0; op == OP_PARTIAL && i < nmoves; i++)
		for (int k = 0; k < copy[i].nparts; k++)
			layout_append(&after, after.rank, copy[i].parts[k]);
	after = apply_moves(&after, copy, nmoves);
	fits = step_fits(p, &after, copy, nmoves);
	assert(fits);
	(void)fits;
	s = add_step(p, op, &after);
	s->move = copy;
	s->nmoves = nmoves;
	if (op == OP_SLICE)
		s->chunk = chunks_of_moves(m, copy, nmoves, p->arena);
	else
		s->groups = groups_of_moves(m, copy, nmoves, p->arena);
}

void plan_exchange(struct plan *p, const struct layout *after, const struct mesh *mesh,
                   const struct transfer *transfers, int64_t n)
{
	struct step *s = add_step(p, OP_EXCHANGE, after);

	s->mesh = mesh;
	s->ntransfers = n;
	s->transfers = arena_dup(p->arena, transfers, (size_t)n, sizeof(*transfers));
}

void plan_steps_of(struct plan *p, const struct plan *other, int first, int end)
{
	for (int i = first; i < end; i++) {
		p->step = list_grow(p->arena, p->step, p->nsteps, 1, &p->room,
		                    sizeof(*p->step));
		p->step[p->nsteps++] = other->step[i];
	}
}

void plan_permute_parts(struct plan *p, const struct transfer *transfers, int64_t n)
{
	struct layout same = *plan_layout(p);
	struct shape local = plan_local(p);
	struct step *s = add_step(p, OP_PERMUTE, &same);

	s->local = local;
	s->ntransfers = n;
	s->transfers = arena_dup(p->arena, transfers, (size_t)n, sizeof(*transfers));
}

void plan_permute_rows(struct plan *p, const struct pair *pairs, int32_t npairs,
                       int64_t part, const struct transfer *transfers, int64_t n)
{
	struct step *s;

	plan_permute_parts(p, transfers, n);
	s = &p->step[p->nsteps - 1];
	s->npairs = npairs;
	s->pairs = arena_dup(p->arena, pairs, (size_t)npairs, sizeof(*pairs));
	s->part = part;
}

void plan_sum_tiles(struct plan *p, const struct move *moves, int nmoves,
                    struct groups groups, const struct shape *summed,
                    const struct layout *after)
{
	plan_groups_step(p, OP_ALL_REDUCE, moves, nmoves, groups, NULL, after);
	p->step[p->nsteps - 1].gathers = true;
	p->step[p->nsteps - 1].summed = *summed;
}

void plan_place(struct plan *p, const struct shape *local, const int64_t *start)
{
	struct step *s = &p->step[p->nsteps - 1];
	size_t cells = (size_t)p->problem->ndevices * (size_t)local->rank;

	s->local = *local;
	s->start = start ? arena_dup(p->arena, start, cells, sizeof(*start)) : NULL;
}

void plan_pad(struct plan *p, const struct layout *after, const struct shape *local)
{
	struct step *s = add_step(p, OP_PAD, after);

	if (local)
		s->local = *local;
}

void plan_permute(struct plan *p, const struct layout *after)
{
	const struct mesh *m = &p->problem->mesh;
	const struct pair *pairs = pairs_of_layouts(plan_layout(p), after, m, p->arena);

	for (int32_t i = 0; i < m->ndevices; i++) {
		if (pairs[i].src == pairs[i].dst)
			continue;
		plan_permute_pairs(p, after, pairs, m->ndevices);
		return;
	}
}

void plan_permute_pairs(struct plan *p, const struct layout *after,
                        const struct pair *pairs, int32_t npairs)
{
	struct step *s = add_step(p, OP_PERMUTE, after);

	s->npairs = npairs;
	s->pairs = arena_dup(p->arena, pairs, (size_t)npairs, sizeof(*pairs));
}

void plan_groups_step(struct plan *p, enum op op, const struct move *moves, int nmoves,
                      struct groups groups, const int32_t *chunk,
                      const struct layout *after)
{
	struct step *s = add_step(p, op, after);
	size_t n = (size_t)p->problem->mesh.ndevices;

	s->move = arena_dup(p->arena, moves, (size_t)nmoves, sizeof(*moves));
	s->nmoves = nmoves;
	if (op == OP_SLICE) {
		s->chunk =
			arena_dup(p->arena, chunk, n * (size_t)nmoves, sizeof(*chunk));
		return;
	}
	s->groups = groups;
	s->groups.ids = arena_dup(p->arena, groups.ids,
	                          (size_t)groups.ngroups * (size_t)groups.size,
	                          sizeof(*groups.ids));
}
