#include "planner/xla.h"

#include <assert.h>
#include <string.h>

struct xla xla_start(const struct xla_mode *mode, const struct shape *shape,
                     int32_t ndevices, struct arena *a)
{
	struct xla x = {.arena = a, .mode = mode};

	x.scope = xla_scope_top(shape, ndevices, a);
	return x;
}

/* The next step of the program, empty, leading to `inner` inside the scope. */
static struct xla_op *next_op(struct xla *x, enum op op, const struct tiling *inner)
{
	struct xla_op *next;

	if (x->nops == x->capacity) {
		int capacity = x->capacity ? 2 * x->capacity : 8;
		struct xla_op *ops =
			arena_alloc(x->arena, (size_t)capacity, sizeof(*ops));

		if (x->nops > 0)
			memcpy(ops, x->op, (size_t)x->nops * sizeof(*ops));
		x->op = ops;
		x->capacity = capacity;
	}
	next = &x->op[x->nops++];
	*next = (struct xla_op){.op = op};
	next->after = xla_scope_tiling(&x->scope, inner, x->arena);
	return next;
}

static void one_move(struct xla *x, struct xla_op *op, int from, int to, int32_t factor)
{
	op->nmoves = 1;
	op->move = arena_alloc(x->arena, 1, sizeof(*op->move));
	op->move[0] = (struct move){.from_dim = from, .to_dim = to, .factor = factor};
}

/* Groups of member numbers in every group of the scope, in its order. */
static struct groups spread(const struct xla *x, struct groups local)
{
	const struct groups *in = &x->scope.groups;
	int32_t n = local.ngroups * local.size;
	int32_t *ids =
		arena_alloc(x->arena, (size_t)in->ngroups * (size_t)n, sizeof(*ids));

	assert(n == in->size);
	for (int32_t g = 0; g < in->ngroups; g++)
		for (int32_t k = 0; k < n; k++)
			ids[g * n + k] = in->ids[g * n + local.ids[k]];
	local.ngroups *= in->ngroups;
	local.ids = ids;
	return local;
}

const struct tiling *xla_permute(struct xla *x, const struct tiling *s,
                                 const struct tiling *t)
{
	const struct groups *in = &x->scope.groups;
	struct xla_op *op = next_op(x, OP_PERMUTE, t);
	int32_t n = s->ndevices;

	assert(xla_same_dims(s, t));
	op->npairs = in->ngroups * n;
	op->pairs = arena_alloc(x->arena, (size_t)op->npairs, sizeof(*op->pairs));
	for (int32_t i = 0; i < op->npairs; i++) {
		op->pairs[i].src = in->ids[i / n * n + s->ids[i % n]];
		op->pairs[i].dst = in->ids[i / n * n + t->ids[i % n]];
	}
	return t;
}

const struct tiling *xla_swap_once(struct xla *x, const struct tiling *s,
                                   struct xla_swap swap)
{
	const struct tiling *after = xla_swapped(s, swap, x->arena);
	struct xla_op *op = next_op(x, OP_ALL_TO_ALL, after);
	int32_t few = s->tiles[swap.to], many = s->tiles[swap.from];
	int32_t inside[RANK_MAX + 1];
	int64_t local = x->scope.base.dim[swap.to] / few;

	for (int d = 0; d <= s->rank; d++)
		inside[d] = 1;
	inside[swap.to] = many / few;
	one_move(x, op, swap.from, swap.to, many / few);
	op->groups = spread(x, xla_groups_by(after, inside, x->arena));
	/* The local tile is padded to a multiple of `many`, not of `many / few`. */
	op->lossy = x->mode->swaps_lose_rows && local % many != 0;
	return after;
}

const struct tiling *xla_slice(struct xla *x, const struct tiling *s,
                               const struct tiling *t)
{
	const struct groups *in = &x->scope.groups;
	struct xla_op *op = next_op(x, OP_SLICE, t);
	const int32_t *places = xla_places(t, x->arena);
	int32_t index[RANK_MAX + 1];

	op->move = arena_alloc(x->arena, (size_t)t->rank, sizeof(*op->move));
	for (int d = 0; d < t->rank; d++) {
		int32_t finer = t->tiles[d] / s->tiles[d];

		if (finer > 1)
			op->move[op->nmoves++] = (struct move){
				.from_dim = -1, .to_dim = d, .factor = finer};
	}
	op->chunk = arena_alloc(x->arena, (size_t)in->ngroups * (size_t)in->size,
	                        (size_t)op->nmoves * sizeof(*op->chunk));
	for (int32_t i = 0; i < in->ngroups * in->size; i++) {
		int32_t *chunk = op->chunk + (int64_t)in->ids[i] * op->nmoves;

		xla_index(t, places[i % in->size], index);
		for (int k = 0; k < op->nmoves; k++)
			chunk[k] = index[op->move[k].to_dim] % op->move[k].factor;
	}
	return t;
}

/* A tiling with one dimension replicated. */
static const struct tiling *without(const struct tiling *s, int dim, struct arena *a)
{
	int32_t *ids = arena_alloc(a, (size_t)s->ndevices, sizeof(*ids));
	int32_t index[RANK_MAX + 1];
	struct tiling after = *s;

	after.tiles[dim] = 1;
	after.replicas = s->replicas * s->tiles[dim];
	for (int32_t place = 0; place < s->ndevices; place++) {
		xla_index(s, place, index);
		index[s->rank] += index[dim] * s->replicas;
		index[dim] = 0;
		ids[xla_place(&after, index)] = s->ids[place];
	}
	return xla_tiling(a, s->rank, after.tiles, after.replicas, ids);
}

const struct tiling *xla_gather(struct xla *x, const struct tiling *s,
                                const bool wanted[RANK_MAX])
{
	int32_t inside[RANK_MAX + 1];
	const struct tiling *now = s;

	/*
	 * The groups of every gather come from the sharding before the first: sorting
	 * the replicas of one gathered in part would list them in another order.
	 */
	for (int d = s->rank - 1; d >= 0; d--) {
		struct xla_op *op;

		if (!wanted[d] || s->tiles[d] == 1)
			continue;
		now = without(now, d, x->arena);
		op = next_op(x, OP_ALL_GATHER, now);
		for (int k = 0; k <= s->rank; k++)
			inside[k] = 1;
		inside[d] = s->tiles[d];
		one_move(x, op, d, -1, s->tiles[d]);
		op->groups = spread(x, xla_groups_by(s, inside, x->arena));
	}
	return now;
}
