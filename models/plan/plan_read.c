/* Steps that were read, not planned: nothing about them is taken on trust. */
#include "plan/plan_text.h"

#include "array/tile.h"
#include "plan/exchange.h"
#include "plan/groups.h"
#include "plan/view.h"

#include <string.h>

static bool refuse(struct text *why, const char *reason)
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
 * Are the move's parts the minor-most ones of their dimension? Taking them off and on
 * again must give the same layout.
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
	layout_normalise(&a);
	layout_normalise(&b);
	return same_parts(&a, &b);
}

static bool dims_fit(const struct move *m, enum op op, int rank)
{
	bool from = op == OP_ALL_GATHER || op == OP_ALL_TO_ALL;
	bool to = op == OP_SLICE || op == OP_ALL_TO_ALL || op == OP_REDUCE_SCATTER;

	return (from ? m->from_dim >= 0 && m->from_dim < rank : m->from_dim == -1) &&
	       (to ? m->to_dim >= 0 && m->to_dim < rank : m->to_dim == -1);
}

static bool is_reduction(enum op op)
{
	return op == OP_REDUCE_SCATTER || op == OP_ALL_REDUCE;
}

/* Are the moves' parts unreduced ones, each once? */
static bool are_unreduced(const struct layout *l, const struct move *moves, int nmoves)
{
	struct part left[LAYOUT_PARTS_MAX], digit[LAYOUT_PARTS_MAX];
	int nleft = layout_digits(left, l, l->rank);

	for (int i = 0; i < nmoves; i++) {
		int n = parts_digits(digit, moves[i].parts, moves[i].nparts);

		for (int k = 0; k < n; k++) {
			int at = 0;

			while (at < nleft &&
			       memcmp(&left[at], &digit[k], sizeof(*digit)) != 0)
				at++;
			if (at == nleft)
				return false;
			left[at] = left[--nleft];
		}
	}
	return true;
}

/* Spec redistribution.md 3, the preconditions of plan_axes_step. */
static bool moves_fit(const struct plan *p, enum op op, const struct move *moves,
                      int nmoves, struct text *why)
{
	const struct layout *before = plan_layout(p);
	struct shape local = plan_local(p);
	struct layout grown = *before;
	bool used[RANK_MAX] = {false};

	if (before->kind != LAYOUT_AXES)
		return refuse(why, "the layout before this step is not of axes");
	for (int i = 0; i < nmoves; i++) {
		const struct move *m = &moves[i];
		int dims[2] = {m->from_dim, m->to_dim};

		if (!dims_fit(m, op, before->rank) || m->factor < 2)
			return refuse(why, "a move's dimensions do not fit the op");
		for (int k = 0; k < 2; k++) {
			if (dims[k] >= 0 && used[dims[k]])
				return refuse(why, "a dimension is used by two moves");
			if (dims[k] >= 0)
				used[dims[k]] = true;
		}
		if (m->from_dim >= 0 && !is_suffix(before, m))
			return refuse(why,
			              "the axes are not the minor-most ones of their "
			              "dimension");
		if (m->to_dim >= 0 && local.dim[m->to_dim] % m->factor != 0)
			return refuse(why, "the axes do not divide the tile");
		for (int k = 0; (op == OP_SLICE || op == OP_PARTIAL) && k < m->nparts;
		     k++)
			if (!layout_append(&grown,
			                   op == OP_SLICE ? m->to_dim : grown.rank,
			                   m->parts[k]))
				return refuse(why, "too many axes");
	}
	if (is_reduction(op) && !are_unreduced(before, moves, nmoves))
		return refuse(why, "the axes are not unreduced ones");
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

static bool add_by_groups(struct plan *p, enum op op, const struct groups *groups,
                          const struct layout *after, struct text *why)
{
	struct move moves[RANK_MAX];
	int n = moves_of_shards(moves, op, plan_layout(p), after);
	const int32_t *chunk = NULL;

	if (n < 1)
		return refuse(why, "the layouts before and after do not fit this op");
	if (op == OP_SLICE && groups)
		return refuse(why, "a slice has no groups");
	if (op == OP_SLICE)
		chunk = chunks_of_layouts(p, moves, n, after);
	else if (!groups_fit(groups, moves, n, p->problem->mesh.ndevices))
		return refuse(why,
		              "the groups do not fit the layouts before and after");
	plan_groups_step(p, op, moves, n, groups ? *groups : (struct groups){0}, chunk,
	                 after);
	return true;
}

static bool add_permute(struct plan *p, const struct pair *pairs, int32_t npairs,
                        const struct layout *after, struct text *why)
{
	const struct layout *before = plan_layout(p);

	for (int dim = 0; dim < after->rank; dim++)
		if (layout_shards(before, dim) != layout_shards(after, dim))
			return refuse(why, "a permute keeps the local shape");
	if (pairs)
		plan_permute_pairs(p, after, pairs, npairs);
	else if (before->kind == LAYOUT_MAXIMAL || after->kind == LAYOUT_MAXIMAL)
		return refuse(why, "this permute needs its pairs");
	else
		plan_permute(p, after);
	return true;
}

bool plan_add_read(struct plan *p, enum op op, const struct move *moves, int nmoves,
                   const struct groups *groups, const struct pair *pairs,
                   int32_t npairs, const struct layout *after, struct text *why)
{
	const struct mesh *m = &p->problem->mesh;

	if (op == OP_PERMUTE ? nmoves || groups : pairs != NULL)
		return refuse(why, "a permute has pairs, other steps axes or groups");
	if (op == OP_PERMUTE)
		return add_permute(p, pairs, npairs, after, why);
	if (op == OP_EXCHANGE)
		return nmoves || groups
		               ? refuse(why, "an exchange has no axes or groups")
		               : plan_exchange_axes(p, after, why);
	if (op == OP_PAD)
		return refuse(why,
		              "what a pad takes in is not told, so it is not read");
	if (is_reduction(op) && plan_layout(p)->nunreduced == 0)
		return refuse(why, "this op needs an unreduced array");
	if (nmoves == 0 && (is_reduction(op) || op == OP_PARTIAL))
		return refuse(why, "this op needs its axes");
	if (op == OP_PARTIAL && nmoves > 1)
		return refuse(why, "this op has one move");
	if (nmoves == 0)
		return add_by_groups(p, op, groups, after, why);
	if (!moves_fit(p, op, moves, nmoves, why))
		return false;
	plan_axes_step(p, op, moves, nmoves);
	if (!layout_same_tiles(plan_layout(p), m, after, m))
		return refuse(why, "the axes do not lead to this layout");
	if (groups) {
		struct step *s = &p->step[p->nsteps - 1];

		if (op == OP_SLICE)
			return refuse(why, "a slice has no groups");
		if (!groups_fit(groups, s->move, nmoves, m->ndevices))
			return refuse(why, "the groups do not fit the axes");
		/* Members are in the order of the moves as they were given. */
		s->move = arena_dup(p->arena, moves, (size_t)nmoves, sizeof(*moves));
		s->groups = *groups;
	}
	return true;
}

static bool add_plain(struct plan *p, const struct step_read *steps, int n, int *wrong,
                      struct text *why)
{
	for (int i = 0; i < n; i++) {
		const struct step_read *s = &steps[i];

		*wrong = i;
		if (s->digits.shape.rank > p->shape.rank)
			return refuse(why, "a strided layout");
		if (!plan_add_read(p, s->op, s->move, s->nmoves, s->groups, s->pairs,
		                   s->npairs, &s->after, why))
			return false;
	}
	return true;
}

/* Only strided layouts and dimensions in several moves need digits. */
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
