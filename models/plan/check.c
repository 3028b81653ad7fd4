#include "plan/check.h"

#include "base/assert.h"
#include "plan/check_state.h"
#include "plan/groups.h"
#include "plan/view.h"

#include <stdlib.h>
#include <string.h>

/* Returns the chunk number of group member r in move `which`. */
static int32_t member_chunk(const struct step *step, int32_t r, int which)
{
	for (int k = step->nmoves - 1; k > which; k--)
		r /= step->move[k].factor;
	return r % step->move[which].factor;
}

/* Returns whether a partial step takes tiles, not replicas, for contributions. */
static bool puts_among_zeros(const struct step *step)
{
	return step->op == OP_PARTIAL && step->nmoves > 0 && step->move[0].from_dim >= 0;
}

/*
 * Checks that moves use every dimension at most once, and only those that the op has.
 */
static bool check_moves(struct state *s, int i)
{
	const struct step *step = &s->plan->step[i];
	bool used[RANK_MAX] = {false};
	bool from = step->op == OP_ALL_GATHER || step->op == OP_ALL_TO_ALL ||
	            step->gathers || puts_among_zeros(step);
	bool to = step->op == OP_SLICE || step->op == OP_ALL_TO_ALL ||
	          step->op == OP_REDUCE_SCATTER;

	for (int k = 0; k < step->nmoves; k++) {
		const struct move *m = &step->move[k];
		int dims[2] = {m->from_dim, m->to_dim};
		bool wanted[2] = {from, to};

		if (m->factor < 2)
			return state_wrong(s, i, "a move over fewer than two devices",
			                   -1);
		for (int j = 0; j < 2; j++) {
			if (!wanted[j]) {
				if (dims[j] != -1)
					return state_wrong(s, i, "a dimension too many",
					                   -1);
				continue;
			}
			if (dims[j] < 0 || dims[j] >= s->rank)
				return state_wrong(s, i, "a dimension out of range", -1);
			if (used[dims[j]])
				return state_wrong(s, i, "a dimension used twice", -1);
			used[dims[j]] = true;
		}
	}
	return step->nmoves > 0 || step->gathers || state_wrong(s, i, "no moves", -1);
}

/* Checks that groups are disjoint sets of the moves' product of factors. */
static bool check_groups(struct state *s, int i)
{
	const struct groups *g = &s->plan->step[i].groups;
	bool *seen = arena_alloc(s->arena, (size_t)s->ndevices, sizeof(*seen));
	int64_t size = 1;

	for (int k = 0; k < s->plan->step[i].nmoves; k++)
		size *= s->plan->step[i].move[k].factor;
	if (s->plan->step[i].nmoves == 0)
		size = g->size;
	if (g->size != size || (int64_t)g->ngroups * g->size > s->ndevices)
		return state_wrong(s, i, "groups do not fit the moves", -1);
	for (int32_t k = 0; k < g->ngroups * g->size; k++) {
		int32_t d = g->ids[k];

		if (d < 0 || d >= s->ndevices || seen[d])
			return state_wrong(
				s, i, "a device that is not there or in two groups", d);
		seen[d] = true;
	}
	return true;
}

/*
 * Checks that the lists of a group are a product: in dimension `dim` of move `which`
 * they depend on the member's chunk in that move only, in all other dimensions on
 * nothing.
 */
static bool check_product(struct state *s, int i, const int32_t *member, int dim,
                          int which)
{
	const struct step *step = &s->plan->step[i];

	for (int32_t r = 0; r < step->groups.size; r++) {
		int32_t peer = 0;

		if (which >= 0) {
			peer = member_chunk(step, r, which);
			for (int k = which + 1; k < step->nmoves; k++)
				peer *= step->move[k].factor;
		}
		if (!list_equal(state_tile(s, member[r])[dim],
		                state_tile(s, member[peer])[dim]))
			return state_wrong(
				s, i, "members hold tiles that do not fit together",
				member[r]);
	}
	return true;
}

static bool run_slice(struct state *s, int i, struct list *next)
{
	const struct step *step = &s->plan->step[i];

	for (int32_t d = 0; d < s->ndevices; d++) {
		struct list *out = next + (int64_t)d * s->lists;

		for (int k = 0; k < step->nmoves; k++) {
			int dim = step->move[k].to_dim;
			int32_t chunk = step->chunk[(int64_t)d * step->nmoves + k];

			if (!list_block(&out[dim], s->arena, state_tile(s, d)[dim],
			                chunk, step->move[k].factor))
				return state_wrong(s, i, "the tile does not divide", d);
		}
	}
	return true;
}

/* Returns all members' blocks of dimension from_dim of move k, in chunk order. */
static struct list gathered(struct state *s, const struct step *step,
                            const int32_t *member, int k)
{
	int32_t factor = step->move[k].factor, stride = 1;
	struct list *parts = arena_alloc(s->arena, (size_t)factor, sizeof(*parts));

	for (int j = k + 1; j < step->nmoves; j++)
		stride *= step->move[j].factor;
	for (int32_t c = 0; c < factor; c++)
		parts[c] = state_tile(s, member[c * stride])[step->move[k].from_dim];
	return list_join(s->arena, parts, factor);
}

static bool run_group(struct state *s, int i, const int32_t *member, struct list *next)
{
	const struct step *step = &s->plan->step[i];
	int mover[RANK_MAX + 1];

	for (int dim = 0; dim < s->lists; dim++)
		mover[dim] = -1;
	for (int k = 0; k < step->nmoves; k++)
		mover[step->move[k].from_dim] = k;
	for (int dim = 0; dim < s->lists; dim++)
		if (!check_product(s, i, member, dim, mover[dim]))
			return false;
	for (int k = 0; k < step->nmoves; k++) {
		const struct move *m = &step->move[k];
		struct list whole = gathered(s, step, member, k);

		for (int32_t r = 0; r < step->groups.size; r++) {
			struct list *out = next + (int64_t)member[r] * s->lists;

			out[m->from_dim] = whole;
			if (m->to_dim >= 0 &&
			    !list_block(&out[m->to_dim], s->arena,
			                state_tile(s, member[r])[m->to_dim],
			                member_chunk(step, r, k), m->factor))
				return state_wrong(s, i, "the tile does not divide",
				                   member[r]);
		}
	}
	return true;
}

/*
 * Runs a sum over a group: all members' contributions come together; a reduce-scatter
 * also cuts the tile. The tiles themselves must agree.
 */
static bool run_reduction(struct state *s, int i, const int32_t *member,
                          struct list *next)
{
	const struct step *step = &s->plan->step[i];
	int32_t n = step->groups.size;
	struct list *parts = arena_alloc(s->arena, (size_t)n, sizeof(*parts)), sum;

	for (int dim = 0; dim < s->rank; dim++)
		if (!check_product(s, i, member, dim, -1))
			return false;
	for (int32_t r = 0; r < n; r++)
		parts[r] = state_tile(s, member[r])[s->rank];
	sum = list_join(s->arena, parts, n);
	for (int32_t r = 0; r < n; r++) {
		struct list *out = next + (int64_t)member[r] * s->lists;

		out[s->rank] = sum;
		for (int k = 0; step->op == OP_REDUCE_SCATTER && k < step->nmoves; k++) {
			const struct move *m = &step->move[k];

			if (!list_block(&out[m->to_dim], s->arena,
			                state_tile(s, member[r])[m->to_dim],
			                member_chunk(step, r, k), m->factor))
				return state_wrong(s, i, "the tile does not divide",
				                   member[r]);
		}
	}
	return true;
}

/*
 * One member keeps what it has, the others become zeros: sums of nothing. So it is told
 * too where every member has its own tile among zeros, which no product of lists says:
 * what the members have between them is the same, and steps treat all of it alike.
 */
static bool run_partial(struct state *s, int i, const int32_t *member, struct list *next)
{
	const struct step *step = &s->plan->step[i];
	bool tiles = puts_among_zeros(step);

	if (tiles && !run_group(s, i, member, next))
		return false;
	for (int dim = 0; !tiles && dim < s->lists; dim++)
		if (!check_product(s, i, member, dim, -1))
			return false;
	for (int32_t r = 1; r < step->groups.size; r++)
		next[(int64_t)member[r] * s->lists + s->rank] = (struct list){0};
	return true;
}

static bool run_permute(struct state *s, int i, struct list *next)
{
	const struct step *step = &s->plan->step[i];
	bool *sent = arena_alloc(s->arena, (size_t)s->ndevices, sizeof(*sent));
	bool *got = arena_alloc(s->arena, (size_t)s->ndevices, sizeof(*got));
	size_t row = (size_t)s->lists * sizeof(*next);

	memset(next, 0, (size_t)s->ndevices * row);
	for (int32_t k = 0; k < step->npairs; k++) {
		struct pair p = step->pairs[k];

		if (p.src < 0 || p.src >= s->ndevices || p.dst < 0 ||
		    p.dst >= s->ndevices)
			return state_wrong(
				s, i, "a pair names a device that is not there", -1);
		if (sent[p.src] || got[p.dst])
			return state_wrong(s, i,
			                   "two pairs with one source or destination",
			                   sent[p.src] ? p.src : p.dst);
		sent[p.src] = got[p.dst] = true;
		memcpy(next + (int64_t)p.dst * s->lists, state_tile(s, p.src), row);
	}
	return true;
}

static bool run_groups(struct state *s, int i, struct list *next,
                       bool (*run)(struct state *, int, const int32_t *, struct list *))
{
	const struct groups *g = &s->plan->step[i].groups;

	if (!check_moves(s, i) || !check_groups(s, i))
		return false;
	for (int32_t k = 0; k < g->ngroups; k++)
		if (!run(s, i, g->ids + (int64_t)k * g->size, next))
			return false;
	return true;
}

bool state_run(struct state *s, int i)
{
	const struct step *step = &s->plan->step[i];
	size_t cells = (size_t)s->ndevices * (size_t)s->lists;
	struct list *next = arena_dup(s->arena, s->list, cells, sizeof(*next));
	bool ok = false;

	if (step_adds(s->plan, i))
		return step->op == OP_PERMUTE ? state_add_parts(s, i)
		                              : state_add_tiles(s, i);
	switch (step->op) {
	case OP_SLICE:
		ok = check_moves(s, i) && run_slice(s, i, next);
		break;
	case OP_ALL_GATHER:
	case OP_ALL_TO_ALL:
		ok = run_groups(s, i, next, run_group);
		break;
	case OP_ALL_REDUCE:
		if (step->gathers)
			return check_moves(s, i) && check_groups(s, i) &&
			       state_sum_tiles(s, i);
		ok = run_groups(s, i, next, run_reduction);
		break;
	case OP_REDUCE_SCATTER:
		ok = run_groups(s, i, next, run_reduction);
		break;
	case OP_PARTIAL:
		ok = run_groups(s, i, next, run_partial);
		break;
	case OP_PERMUTE:
		if (step->transfers)
			return state_permute_parts(s, i);
		ok = run_permute(s, i, next);
		break;
	case OP_EXCHANGE:
	case OP_PAD:
		return state_retile(s, i);
	default:
		break;
	}
	if (ok)
		s->list = next;
	return ok;
}

/*
 * Compares the contributions. Unreduced, the devices that differ only in the unreduced
 * parts must hold every contribution exactly once between them; else each device holds
 * all.
 */
static bool compare_sums(struct state *s, const struct layout *l, const struct mesh *m,
                         const struct tilemap *map, const char *what)
{
	struct move all = {.from_dim = -1, .to_dim = -1};
	struct groups g = {.ngroups = s->ndevices, .size = 1};

	all.parts = layout_parts(l, l->rank, &all.nparts);
	if (map->partials > 1)
		g = groups_of_moves(m, &all, 1, s->arena);
	for (int32_t i = 0; i < g.ngroups; i++) {
		struct list *parts =
			arena_alloc(s->arena, (size_t)g.size, sizeof(*parts));
		int32_t first = g.ids ? g.ids[(int64_t)i * g.size] : i;

		if (!tilemap_has(map, first))
			continue;
		for (int32_t r = 0; r < g.size; r++)
			parts[r] = state_tile(s, g.ids ? g.ids[(int64_t)i * g.size + r]
			                               : i)[s->rank];
		if (lists_partition(s->arena, parts, g.size, s->partials))
			continue;
		text_printf(
			s->why,
			"%s: the sums at device %d do not contain every contribution "
			"exactly once",
			what, first);
		return false;
	}
	return true;
}

/*
 * Returns whether the device has neither a tile nor (a scalar has none) a contribution
 * to its sum.
 */
static bool holds_nothing(const struct state *s, int32_t d)
{
	const struct list *tile = state_tile(s, d);

	for (int dim = 0; dim < s->rank; dim++)
		if (tile[dim].n > 0)
			return false;
	return tile[s->rank].n == 0;
}

/*
 * Checks that every device holds exactly the tile that a layout gives it, padding
 * included, from `start` on where that is told.
 */
static bool compare_tiles(struct state *s, const struct layout *l, const struct mesh *m,
                          const struct shape *local, const int64_t *start,
                          const char *what)
{
	const struct shape *g = &s->plan->shape;
	struct tilemap map = tilemap_make(l, m, g, s->arena);

	for (int32_t d = 0; d < s->ndevices; d++) {
		bool zeros = map.partials > 1 && s->rank == 0;

		if (tilemap_has(&map, d) && holds_nothing(s, d) && !zeros) {
			text_printf(s->why, "%s: device %d holds nothing", what, d);
			return false;
		}
		for (int dim = 0; dim < s->rank; dim++) {
			int64_t cell = (int64_t)d * s->rank + dim;
			int64_t size = local->dim[dim];
			int64_t lo = start ? start[cell] : map.index[cell] * size;
			struct list have = state_tile(s, d)[dim];

			if (map.index[cell] < 0 ||
			    list_matches(have, lo, size, g->dim[dim]))
				continue;
			text_printf(
				s->why,
				"%s: device %d holds %lld elements of dimension %d in "
				"%d runs from %lld, wanted [%lld, %lld)",
				what, d, (long long)list_length(have), dim, have.n,
				have.n ? (long long)have.run[0].lo : -1LL,
				(long long)lo, (long long)(lo + size));
			return false;
		}
	}
	return compare_sums(s, l, m, &map, what);
}

bool plan_check(const struct plan *p, struct text *why)
{
	struct arena *a = arena_new();
	struct state s = state_start(p, a, why);
	struct shape local = layout_local(&p->to, &p->shape);
	bool ok = view_check(p, why);

	for (int i = 0; i < p->nsteps && ok; i++) {
		const struct step *step = &p->step[i];
		char what[64];

		snprintf(what, sizeof(what), "after step %d (%s)", i + 1,
		         op_name(step->op));
		ok = state_run(&s, i) && compare_tiles(&s, &step->after, step->mesh,
		                                       &step->local, step->start, what);
	}
	ok = ok && compare_tiles(&s, &p->to, &p->problem->to_mesh, &local, NULL,
	                         "at the end");
	arena_free(a);
	return ok;
}
