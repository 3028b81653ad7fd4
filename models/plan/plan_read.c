/* Steps that were read, not planned: nothing about them is taken on trust. */
#include "plan/plan_text.h"

#include "array/tile.h"
#include "plan/groups.h"
#include "plan/plan_read.h"
#include "plan/view.h"

#include <string.h>

static bool refuse_step(struct text *why, const char *reason)
{
	text_printf(why, "%s", reason);
	return false;
}

static bool same_parts(const struct layout *a, const struct layout *b)
{
	int n;
	const struct part *unreduced = layout_parts(a, a->rank, &n);

	return a->nunreduced == b->nunreduced &&
	       memcmp(a->nparts, b->nparts, sizeof(a->nparts)) == 0 &&
	       memcmp(a->part, b->part,
	              (size_t)(unreduced + n - a->part) * sizeof(*a->part)) == 0;
}

/*
 * Returns whether the move's parts are the minor-most ones of their dimension: taking
 * them off and on again must give the same layout.
 */
static bool is_suffix(const struct layout *l, const struct move *m)
{
	struct layout a = *l, b = layout_replicated(l->rank);
	int64_t keep = layout_shards(l, m->from_dim);

	if (keep % m->factor != 0)
		return false;
	keep /= m->factor;
	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);
		int64_t rest = dim == m->from_dim ? keep : INT64_MAX;

		for (int k = 0; k < n && rest > 1; k++) {
			struct part p = part[k];

			if (p.size > rest)
				p.size = (int32_t)rest;
			if (dim == m->from_dim) {
				if (rest % p.size)
					return false;
				rest /= p.size;
			}
			layout_append(&b, dim, p);
		}
	}
	for (int k = 0; k < m->nparts; k++)
		if (!layout_append(&b, m->from_dim, m->parts[k]))
			return false;
	for (int k = 0; k < l->nunreduced; k++) {
		int n;

		layout_append(&b, l->rank, layout_parts(l, l->rank, &n)[k]);
	}
	layout_normalise(&a);
	layout_normalise(&b);
	return same_parts(&a, &b);
}

static bool dims_fit(const struct move *m, enum op op, int rank)
{
	bool from = op == OP_ALL_GATHER || op == OP_ALL_TO_ALL ||
	            (op == OP_PARTIAL && m->from_dim != -1);
	bool to = op == OP_SLICE || op == OP_ALL_TO_ALL || op == OP_REDUCE_SCATTER;

	return (from ? m->from_dim >= 0 && m->from_dim < rank : m->from_dim == -1) &&
	       (to ? m->to_dim >= 0 && m->to_dim < rank : m->to_dim == -1);
}

static bool is_reduction(enum op op)
{
	return op == OP_REDUCE_SCATTER || op == OP_ALL_REDUCE;
}

/* Returns whether the moves' parts are unreduced ones, each once. */
static bool are_unreduced(const struct layout *l, const struct move *moves, int nmoves)
{
	struct part left[LAYOUT_PARTS_MAX];
	int n;
	const struct part *part = layout_parts(l, l->rank, &n);

	memcpy(left, part, (size_t)n * sizeof(*part));
	for (int i = 0; i < nmoves; i++)
		for (int k = 0; k < moves[i].nparts; k++)
			if (!parts_take(left, &n, moves[i].parts[k]))
				return false;
	return true;
}

/* Returns whether the preconditions of plan_axes_step() are met. */
static bool moves_fit(const struct plan *p, enum op op, const struct move *moves,
                      int nmoves, struct text *why)
{
	const struct layout *before = plan_layout(p);
	struct shape local = plan_local(p);
	struct layout grown = *before;
	bool used[RANK_MAX] = {false};

	if (before->kind != LAYOUT_AXES)
		return refuse_step(why, "the layout before this step is not of axes");
	for (int i = 0; i < nmoves; i++) {
		const struct move *m = &moves[i];
		int dims[2] = {m->from_dim, m->to_dim};

		if (!dims_fit(m, op, before->rank) || m->factor < 2)
			return refuse_step(why,
			                   "a move's dimensions do not fit the op");
		for (int k = 0; k < 2; k++) {
			if (dims[k] >= 0 && used[dims[k]])
				return refuse_step(why,
				                   "a dimension is used by two moves");
			if (dims[k] >= 0)
				used[dims[k]] = true;
		}
		if (m->from_dim >= 0 && !is_suffix(before, m))
			return refuse_step(
				why, "the axes are not the minor-most ones of their "
				     "dimension");
		if (m->to_dim >= 0 && local.dim[m->to_dim] % m->factor != 0)
			return refuse_step(why, "the axes do not divide the tile");
		if (op != OP_SLICE && (op != OP_PARTIAL || m->from_dim >= 0))
			continue;
		for (int k = 0; k < m->nparts; k++)
			if (!layout_append(&grown,
			                   op == OP_SLICE ? m->to_dim : grown.rank,
			                   m->parts[k]))
				return refuse_step(why, "too many axes");
	}
	if (is_reduction(op) && !are_unreduced(before, moves, nmoves))
		return refuse_step(why, "the axes are not unreduced ones");
	return layout_valid(&grown, &p->problem->mesh, why);
}

/* Moves of a step without axes, from the shard counts before and after it. */
static int moves_of_shards(struct move *out, enum op op, const struct layout *before,
                           const struct layout *after)
{
	int n = 0;

	for (int dim = 0; dim < before->rank; dim++) {
		int64_t b = layout_shards(before, dim), c = layout_shards(after, dim);
		bool falls = b > c;

		if (b == c)
			continue;
		if ((falls ? b % c : c % b) != 0 ||
		    (op == OP_SLICE ? falls : op == OP_ALL_GATHER && !falls))
			return -1;
		if (op == OP_ALL_TO_ALL && n == 1) {
			int *end = falls ? &out[0].from_dim : &out[0].to_dim;

			if (*end != -1 || out[0].factor != (falls ? b / c : c / b))
				return -1;
			*end = dim;
			n = 2;
			continue;
		}
		if (op == OP_ALL_TO_ALL && n == 2)
			return -1;
		out[n++] = (struct move){.from_dim = falls ? dim : -1,
		                         .to_dim = falls ? -1 : dim,
		                         .factor = (int32_t)(falls ? b / c : c / b)};
	}
	return op == OP_ALL_TO_ALL ? (n == 2 ? 1 : -1) : n;
}

static bool groups_fit(const struct groups *g, const struct move *moves, int nmoves,
                       int32_t ndevices)
{
	int64_t size = 1;

	for (int i = 0; i < nmoves; i++)
		size *= moves[i].factor;
	return g && g->size == size && (int64_t)g->size * g->ngroups == ndevices;
}

static const int32_t *chunks_of_layouts(const struct plan *p, const struct move *moves,
                                        int nmoves, const struct layout *after)
{
	const struct problem *q = p->problem;
	struct tilemap b = tilemap_make(plan_layout(p), &q->mesh, &p->shape, p->arena);
	struct tilemap c = tilemap_make(after, &q->mesh, &p->shape, p->arena);
	size_t cells = (size_t)b.ndevices * (size_t)nmoves;
	int32_t *chunk = arena_alloc(p->arena, cells, sizeof(*chunk));

	for (int32_t d = 0; d < b.ndevices; d++)
		for (int k = 0; k < nmoves; k++) {
			int64_t at = (int64_t)d * after->rank + moves[k].to_dim;

			chunk[(int64_t)d * nmoves + k] =
				c.index[at] - b.index[at] * moves[k].factor;
		}
	return chunk;
}

static bool add_by_groups(struct plan *p, const struct step_read *s, struct text *why)
{
	const struct problem *q = p->problem;
	const struct groups *groups = s->groups;
	const struct layout *after = &s->after;
	const struct mesh *m = s->on_target ? &q->to_mesh : &q->mesh;
	enum op op = s->op;
	struct move moves[RANK_MAX];
	int n = moves_of_shards(moves, op, plan_layout(p), after);
	struct shape local = plan_local(p);
	const int32_t *chunk = NULL;

	if (n < 1)
		return refuse_step(why,
		                   "the layouts before and after do not fit this op");
	for (int i = 0; i < n; i++)
		if (moves[i].to_dim >= 0 &&
		    local.dim[moves[i].to_dim] % moves[i].factor != 0)
			return refuse_step(why, "the shards do not divide the tile");
	if (op == OP_SLICE && groups)
		return refuse_step(why, "a slice has no groups");
	if (op == OP_SLICE)
		chunk = chunks_of_layouts(p, moves, n, after);
	else if (!groups_fit(groups, moves, n, m->ndevices))
		return refuse_step(
			why, "the groups do not fit the layouts before and after");
	plan_groups_step(p, op, moves, n, groups ? *groups : (struct groups){0}, chunk,
	                 after);
	return true;
}

static bool add_read_permute(struct plan *p, const struct pair *pairs, int32_t npairs,
                             const struct layout *after, struct text *why)
{
	const struct layout *before = plan_layout(p);

	for (int dim = 0; dim < after->rank; dim++)
		if (layout_shards(before, dim) != layout_shards(after, dim))
			return refuse_step(why, "a permute keeps the local shape");
	if (pairs)
		plan_permute_pairs(p, after, pairs, npairs);
	else if (before->kind == LAYOUT_MAXIMAL || after->kind == LAYOUT_MAXIMAL)
		return refuse_step(why, "this permute needs its pairs");
	else
		plan_permute(p, after);
	return true;
}

/*
 * Adds an all-reduce that gathers: its moves are those of a gather, or there are none.
 */
static bool add_sum(struct plan *p, const struct step_read *s, struct text *why)
{
	struct move moves[RANK_MAX];
	struct groups groups;
	int n = s->nmoves;

	if (!plan_extent_fits(p->problem, s->summed))
		return refuse_step(why, "the arrays it adds up are too large");
	if (n > 0 && !moves_fit(p, OP_ALL_GATHER, s->move, n, why))
		return false;
	if (n > 0)
		memcpy(moves, s->move, (size_t)n * sizeof(*moves));
	else
		n = moves_of_shards(moves, OP_ALL_GATHER, plan_layout(p), &s->after);
	if (n < 0 || (!s->groups && s->nmoves == 0))
		return refuse_step(
			why, "the layouts before and after it do not fit, or it needs "
			     "its groups");
	groups = s->groups ? *s->groups
	                   : groups_of_moves(&p->problem->mesh, moves, n, p->arena);
	if (n > 0 && !groups_fit(&groups, moves, n, p->problem->mesh.ndevices))
		return refuse_step(why, "the groups do not fit the axes");
	plan_sum_tiles(p, moves, n, groups, s->summed, &s->after);
	return true;
}

/* Adds a step whose axes are told. */
static bool add_by_axes(struct plan *p, const struct step_read *r, struct text *why)
{
	const struct mesh *m = &p->problem->mesh;
	struct step *s;

	if (!moves_fit(p, r->op, r->move, r->nmoves, why))
		return false;
	plan_axes_step(p, r->op, r->move, r->nmoves);
	if (!layout_same_tiles(plan_layout(p), m, &r->after, m))
		return refuse_step(why, "the axes do not lead to this layout");
	if (!r->groups)
		return true;
	s = &p->step[p->nsteps - 1];
	if (r->op == OP_SLICE)
		return refuse_step(why, "a slice has no groups");
	if (!groups_fit(r->groups, s->move, r->nmoves, m->ndevices))
		return refuse_step(why, "the groups do not fit the axes");
	/* Members are in the order of the moves as they were given. */
	s->move = arena_dup(p->arena, r->move, (size_t)r->nmoves, sizeof(*s->move));
	s->groups = *r->groups;
	return true;
}

/*
 * Returns whether the step's mesh is possible. An exchange or a pad leads to the target
 * mesh; there collectives follow by their groups, for axes are those of the source
 * mesh, and of real tiles.
 */
static bool mesh_fits(const struct plan *p, const struct step_read *s, struct text *why)
{
	const struct problem *q = p->problem;
	bool retile = s->op == OP_EXCHANGE || s->op == OP_PAD;
	bool there = p->nsteps > 0 && step_on_target(p, p->nsteps - 1);

	if (!s->on_target)
		return !there ||
		       refuse_step(why, "the array is on the target mesh already");
	if (!q->two_meshes || (there ? retile : !retile))
		return refuse_step(why,
		                   "only an exchange or a pad leads to another mesh");
	if (retile)
		return true;
	return (s->op != OP_SLICE && s->op != OP_PERMUTE && s->nmoves == 0 &&
	        s->groups && !s->tile && !s->start &&
	        shape_elements(&p->shape) == shape_elements(&q->array.shape)) ||
	       refuse_step(why, "on the target mesh a step has groups and real tiles");
}

/* Returns whether what is told belongs to the op. */
static bool clauses_fit(const struct plan *p, const struct step_read *s,
                        struct text *why)
{
	bool boxes = s->op == OP_PERMUTE || s->op == OP_EXCHANGE;
	if (s->op == OP_PERMUTE ? s->nmoves || s->groups : s->pairs != NULL)
		return refuse_step(why,
		                   "a permute has pairs, other steps axes or groups");
	if (s->boxes && !boxes)
		return refuse_step(why, "this op has no boxes");
	if (s->summed && s->op != OP_ALL_REDUCE)
		return refuse_step(why,
		                   "this op has no sums: only an all-reduce adds up");
	if (s->part && (s->op != OP_PERMUTE || !s->boxes))
		return refuse_step(why, "only a permute of boxes has parts");
	if (s->unpadded != plan_is_unpadded(p))
		return refuse_step(why,
		                   "all steps or none are unpadded, of a padded array");
	return mesh_fits(p, s, why);
}

/* Adds the step alone, without the tiles that it says. */
static bool add_read_step(struct plan *p, const struct step_read *s, struct text *why)
{
	if (!clauses_fit(p, s, why))
		return false;
	if (s->op == OP_PERMUTE)
		return s->boxes ? plan_add_parts(p, s, why)
		                : add_read_permute(p, s->pairs, s->npairs, &s->after,
		                                   why);
	if (s->op == OP_EXCHANGE || s->op == OP_PAD)
		return plan_add_exchange(p, s, why);
	if (s->summed)
		return add_sum(p, s, why);
	if (is_reduction(s->op) && plan_layout(p)->nunreduced == 0)
		return refuse_step(why, "this op needs an unreduced array");
	if (s->nmoves == 0 && (is_reduction(s->op) || s->op == OP_PARTIAL))
		return refuse_step(why, "this op needs its axes");
	for (int k = 0; s->op == OP_PARTIAL && s->nmoves > 1 && k < s->nmoves; k++)
		if (s->move[k].from_dim < 0)
			return refuse_step(
				why, "this op has one move, or all from dimensions");
	return s->nmoves == 0 ? add_by_groups(p, s, why) : add_by_axes(p, s, why);
}

bool plan_add_read(struct plan *p, const struct step_read *s, struct text *why)
{
	int before = p->nsteps;
	struct shape usual;
	struct step *step;

	if (!add_read_step(p, s, why))
		return false;
	/* A permute that moves nothing is left out. */
	if (p->nsteps == before)
		return (!s->tile && !s->start) || refuse_step(why, "it moves nothing");
	step = &p->step[p->nsteps - 1];
	usual = step->local;
	if (s->on_target)
		step->mesh = &p->problem->to_mesh;
	if (s->tile && !plan_extent_fits(p->problem, s->tile))
		return refuse_step(why, "its tiles are too large");
	if (s->tile || s->start)
		plan_place(p, s->tile ? s->tile : &usual, s->start);
	return true;
}

static bool add_plain(struct plan *p, const struct step_read *steps, int n, int *wrong,
                      struct text *why)
{
	if (n > 0 && steps[0].unpadded)
		p->shape = p->problem->array.shape;
	for (int i = 0; i < n; i++) {
		*wrong = i;
		if (steps[i].digits.shape.rank > p->shape.rank)
			return refuse_step(why, "a strided layout");
		if (!plan_add_read(p, &steps[i], why))
			return false;
	}
	return true;
}

/*
 * Returns whether a step wants digits, which only strided layouts and dimensions in
 * several moves need.
 */
static bool wants_digits(const struct step_read *s, bool *strided, int rank)
{
	int used[RANK_MAX] = {0};
	bool twice = false;

	for (int i = 0; i < s->nmoves; i++) {
		int dims[2] = {s->move[i].from_dim, s->move[i].to_dim};

		for (int k = 0; k < 2; k++)
			twice = twice || (dims[k] >= 0 && used[dims[k]]++ > 0);
	}
	*strided = *strided || s->digits.shape.rank > rank;
	return *strided || twice;
}

struct plan *plan_of_read(const struct problem *p, struct arena *a, const char *planner,
                          const struct step_read *steps, int n, int *wrong,
                          struct text *why)
{
	struct plan *plan = plan_new(a, p, planner);
	struct text other = {0};
	bool strided = false, digits = false;
	int place;

	for (int i = 0; i < n; i++)
		digits = wants_digits(&steps[i], &strided, p->padded.rank) || digits;
	if (!strided && add_plain(plan, steps, n, wrong, why))
		return plan;
	if (!digits)
		return NULL;
	plan = plan_new(a, p, planner);
	if (view_add_steps(plan, steps, n, &place, &other)) {
		text_free(why); /* of the plan over dimensions */
	} else {
		plan = NULL;
		if (strided) {
			text_printf(why, "%s", other.s);
			*wrong = place;
		}
	}
	text_free(&other);
	return plan;
}
