#include "planner/direct_sums.h"

#include "array/tile.h"
#include "base/list.h"
#include "plan/exchange.h"

#include <math.h>
#include <string.h>

/* Beyond that the plan is not made, to bound memory. */
static const int64_t BOXES_MAX = 1 << 18;

bool slice_moves(struct move *moves, int *n, const struct layout *from,
                 const struct layout *to, struct arena *a)
{
	*n = 0;
	for (int dim = 0; dim < from->rank; dim++) {
		struct part have[LAYOUT_PARTS_MAX], want[LAYOUT_PARTS_MAX];
		int nhave = layout_digits(have, from, dim);
		int nwant = layout_digits(want, to, dim);

		if (nhave > nwant ||
		    memcmp(have, want, (size_t)nhave * sizeof(*have)) != 0)
			return false;
		if (nhave == nwant)
			continue;
		moves[(*n)++] = (struct move){
			.from_dim = -1,
			.to_dim = dim,
			.factor = 1,
			.nparts = nwant - nhave,
			.parts = arena_dup(a, want + nhave, (size_t)(nwant - nhave),
		                           sizeof(*want))};
	}
	return true;
}

static bool is_among(const struct part *list, int n, struct part part)
{
	for (int i = 0; i < n; i++)
		if (memcmp(&list[i], &part, sizeof(part)) == 0)
			return true;
	return false;
}

/* Returns the place in a layout of a prime: a dimension, the rank if unreduced, or -1. */
static int place_of(const struct layout *l, struct part prime)
{
	for (int dim = 0; dim <= l->rank; dim++) {
		struct part have[LAYOUT_PARTS_MAX];

		if (is_among(have, layout_digits(have, l, dim), prime))
			return dim;
	}
	return -1;
}

/* Returns the dimension in which a tile is longest and divides; -1: there is none. */
static int longest(const struct layout *l, const struct shape *shape, int32_t factor)
{
	struct shape tile = layout_local(l, shape);
	int best = -1;

	for (int dim = 0; dim < tile.rank; dim++)
		if (tile.dim[dim] % factor == 0 &&
		    (best < 0 || tile.dim[dim] > tile.dim[best]))
			best = dim;
	return best;
}

/*
 * Finds the next digit of an axis, from those of less weight than `pre` have, that a layout does
 * not use: a prime of what is between two that it uses. Returns false behind the last.
 */
static bool next_unused(struct part *out, const struct layout *l,
                        const struct mesh *mesh, int axis, int32_t pre)
{
	int32_t size = mesh->axis[axis].size, end = size;

	for (int dim = 0; dim <= l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int i = 0; i < n; i++) {
			if (part[i].axis != axis || part[i].pre * part[i].size <= pre)
				continue;
			if (part[i].pre <= pre)
				return next_unused(out, l, mesh, axis,
				                   part[i].pre * part[i].size);
			end = part[i].pre < end ? part[i].pre : end;
		}
	}
	for (int32_t prime = 2; prime <= end / pre; prime++)
		if (end / pre % prime == 0) {
			*out = (struct part){axis, pre, prime};
			return true;
		}
	return false;
}

/*
 * Cuts a layout by all of the mesh that it does not use: along the dimension that `like` cuts
 * by the same, else along the longest, where the rest of an axis follows. Returns false where
 * nothing divides.
 */
static bool cut_by_rest(struct layout *l, const struct layout *like,
                        const struct mesh *mesh, const struct shape *shape,
                        struct arena *a)
{
	struct layout start = *l, cut;
	struct move move[RANK_MAX];
	struct part part;
	int n;

	for (int x = 0; x < mesh->naxes; x++) {
		int last = -1;

		while (next_unused(&part, l, mesh, x, 1)) {
			struct shape tile = layout_local(l, shape);
			int dim = place_of(like, part);

			if (dim < 0 || dim == l->rank)
				dim = last;
			if (dim < 0 || tile.dim[dim] % part.size != 0)
				dim = longest(l, shape, part.size);
			if (dim < 0)
				return false;
			layout_append(l, dim, part);
			last = dim;
		}
	}
	/* joined, parts may have other primes than those that were there before */
	cut = *l;
	layout_normalise(&cut);
	if (slice_moves(move, &n, &start, &cut, a))
		*l = cut;
	return true;
}

static const char *refusal(const struct problem *p)
{
	if (p->to.nunreduced > 0)
		return "an unreduced target";
	if (p->array.shape.rank == 0)
		return "a scalar has no tiles to exchange";
	if (p->from.kind != LAYOUT_AXES || p->to.kind != LAYOUT_AXES)
		return "sums over devices that no axes say";
	if (!problem_even(p))
		return "sums of tiles that do not divide";
	return NULL;
}

struct boxes {
	LIST(struct transfer) list;
};

/* Appends what one tile contributes to another, unless they share nothing. */
static void add_box(struct plan *plan, struct boxes *out, int32_t src, int32_t dst,
                    const struct tilemap *from, const struct tilemap *to)
{
	const struct shape *shape = &plan->problem->array.shape;
	int64_t bounds[2 * RANK_MAX], elements = 1;
	size_t n = 2 * (size_t)shape->rank;

	for (int dim = 0; dim < shape->rank && elements > 0; dim++) {
		int64_t lo, hi, low, high;

		tilemap_interval(from, shape, src, dim, &lo, &hi);
		tilemap_interval(to, shape, dst, dim, &low, &high);
		lo = lo > low ? lo : low;
		hi = hi < high ? hi : high;
		bounds[2 * dim] = lo;
		bounds[2 * dim + 1] = hi;
		elements *= hi > lo ? hi - lo : 0;
	}
	if (elements > 0)
		*list_add(&out->list, plan->arena) = (struct transfer){
			src, dst, elements,
			arena_dup(plan->arena, bounds, n, sizeof(*bounds))};
}

/* Adds the exchange; false where it has too many boxes. */
static bool add_exchange(struct plan *plan, const struct layout *after)
{
	const struct problem *p = plan->problem;
	const struct shape *shape = &p->array.shape;
	struct tilemap from =
		tilemap_make(plan_layout(plan), &p->mesh, shape, plan->arena);
	struct tilemap to = tilemap_make(after, &p->to_mesh, shape, plan->arena);
	struct boxes boxes = {0};

	for (int32_t dst = 0; dst < p->ndevices; dst++) {
		if (!tilemap_has(&to, dst))
			continue;
		for (int32_t src = 0; src < p->ndevices; src++)
			if (src != dst && tilemap_has(&from, src))
				add_box(plan, &boxes, src, dst, &from, &to);
		if (boxes.list.n > BOXES_MAX)
			return false;
	}
	plan_exchange(plan, after, &p->to_mesh, boxes.list.at, boxes.list.n);
	return true;
}

/* Adds the slice and the sum; returns the reason where that cannot be. */
static const char *add_steps(struct plan *plan)
{
	const struct problem *p = plan->problem;
	const struct shape *shape = &p->array.shape;
	struct layout from = p->from, to = p->to;
	struct move move[RANK_MAX];
	int n;

	if (!cut_by_rest(&from, &p->to, &p->mesh, shape, plan->arena) ||
	    !cut_by_rest(&to, &from, &p->to_mesh, shape, plan->arena) ||
	    !slice_moves(move, &n, &p->from, &from, plan->arena))
		return "replicas do not cut the tiles evenly";
	if (n > 0)
		plan_axes_step(plan, OP_SLICE, move, n);
	if (!add_exchange(plan, &to))
		return "too many boxes of sums";
	return NULL;
}

/*
 * Gathers what replicates the target from the last layout of a plan, by one collective or by
 * an exchange. Returns the reason where that cannot be.
 */
static const char *add_gather(struct plan *plan, bool exchange)
{
	const struct problem *p = plan->problem;
	struct layout cut = *plan_layout(plan);
	struct text why = {0};
	struct move move[RANK_MAX];
	bool done;
	int n;

	if (!slice_moves(move, &n, &p->to, &cut, plan->arena))
		return "replicas do not cut the tiles evenly";
	if (n == 0)
		return NULL;
	if (p->two_meshes)
		return "a replicated sum on another target mesh";
	if (exchange) {
		done = plan_exchange_axes(plan, &p->to, &why);
		text_free(&why);
		return done ? NULL : "no exchange is implied";
	}
	for (int i = 0; i < n; i++) {
		move[i].from_dim = move[i].to_dim;
		move[i].to_dim = -1;
	}
	plan_axes_step(plan, OP_ALL_GATHER, move, n);
	return NULL;
}

/* Makes the plan, or returns NULL with the reason. */
static struct plan *make_plan(const struct problem *p, bool exchange,
                              const char **reason, struct arena *arena)
{
	struct plan *plan = plan_new(arena, p, "direct");

	plan->shape = p->array.shape;
	*reason = add_steps(plan);
	if (!*reason)
		*reason = add_gather(plan, exchange);
	if (*reason)
		return NULL;
	plan_finish(plan);
	return plan;
}

enum answer direct_sums(struct plan **out, const struct problem *p,
                        const struct prices *prices, struct arena *arena,
                        struct text *why)
{
	const char *reason = refusal(p), *other_reason;
	struct plan *plan, *other = NULL;
	struct price most = {.cost = INFINITY}, least;

	plan = reason ? NULL : make_plan(p, false, &reason, arena);
	if (!plan) {
		text_printf(why, "%s", reason);
		return ANSWER_NOT_APPLICABLE;
	}
	if (plan->step[plan->nsteps - 1].op == OP_ALL_GATHER)
		other = make_plan(p, true, &other_reason, arena);
	if (other && !plan_over_memory(other)) {
		least = prices->scheduled(prices->self, plan, most);
		if (price_compare(prices->scheduled(prices->self, other, least),
		                  least) < 0)
			plan = other;
	}
	*out = plan;
	return ANSWER_PLAN;
}
