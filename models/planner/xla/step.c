#include "base/assert.h"
#include "planner/xla/xla.h"

#include "base/list.h"

#include <string.h>

struct xla xla_start(const struct xla_mode *mode, const struct shape *shape,
                     int32_t ndevices, struct arena *a)
{
	struct xla xla = {.arena = a, .mode = mode};

	xla.scope = xla_scope_top(shape, ndevices, a);
	return xla;
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

struct shape xla_local(const struct xla *xla, const struct tiling *s)
{
	struct shape tile = {.rank = s->rank};

	for (int d = 0; d < s->rank; d++)
		tile.dim[d] = divide_up(xla->scope.base.dim[d], s->tiles[d]);
	return tile;
}

struct xla_op *xla_step(struct xla *xla, enum op op, const struct tiling *inner)
{
	struct xla_op *next;

	xla->op =
		list_grow(xla->arena, xla->op, xla->nops, 1, &xla->room, sizeof(*next));
	next = &xla->op[xla->nops++];
	*next = (struct xla_op){.op = op, .rule = xla->rule};
	next->after = xla_scope_tiling(&xla->scope, inner, xla->arena);
	next->extent = xla_scope_extent(&xla->scope, &xla->tile);
	if (xla->uneven)
		next->start =
			xla_scope_start(&xla->scope, inner, &xla->tile, xla->arena);
	return next;
}

/*
 * Returns whether dimension d of `s` is the minor-most part of the array's that is cut.
 */
static bool minor_most(const struct xla *xla, const struct tiling *s, int d)
{
	for (int k = d + 1; k < s->rank && xla->scope.dim[k] == xla->scope.dim[d]; k++)
		if (s->tiles[k] * xla->scope.outer[k] > 1)
			return false;
	return true;
}

/* Adds a move of tiles that `s` has in `from`, told in the array's dimensions. */
static void add_xla_move(struct xla *xla, struct xla_op *op, const struct tiling *s,
                         int from, int to, int32_t factor)
{
	struct move *m = &op->move[op->nmoves++];

	assert(minor_most(xla, s, from));
	assert(to < 0 || minor_most(xla, s, to));
	*m = (struct move){
		.from_dim = xla->scope.dim[from], .to_dim = -1, .factor = factor};
	if (to >= 0)
		m->to_dim = xla->scope.dim[to];
	assert(m->from_dim != m->to_dim);
}

struct groups xla_spread(struct xla *xla, struct groups local)
{
	const struct groups *in = &xla->scope.groups;
	int32_t n = local.ngroups * local.size;
	int32_t *ids =
		arena_alloc(xla->arena, (size_t)in->ngroups * (size_t)n, sizeof(*ids));

	assert(n == in->size);
	for (int32_t g = 0; g < in->ngroups; g++)
		for (int32_t k = 0; k < n; k++)
			ids[g * n + k] = in->ids[g * n + local.ids[k]];
	local.ngroups *= in->ngroups;
	local.ids = ids;
	return local;
}

void xla_window(struct xla *xla, const struct tiling *inner, const struct shape *extent)
{
	xla->tile = *extent;
	xla_step(xla, OP_SLICE, inner)->window = true;
}

const struct tiling *xla_permute(struct xla *xla, const struct tiling *s,
                                 const struct tiling *t)
{
	const struct groups *in = &xla->scope.groups;
	struct xla_op *op = xla_step(xla, OP_PERMUTE, t);
	int32_t n = s->ndevices;

	assert(xla_same_dims(s, t));
	op->npairs = in->ngroups * n;
	op->pairs = arena_alloc(xla->arena, (size_t)op->npairs, sizeof(*op->pairs));
	for (int32_t i = 0; i < op->npairs; i++) {
		op->pairs[i].src = in->ids[i / n * n + s->ids[i % n]];
		op->pairs[i].dst = in->ids[i / n * n + t->ids[i % n]];
	}
	return t;
}

/* Adds the all-to-all of some swaps on tiles that divide. */
static const struct tiling *exchange(struct xla *xla, const struct tiling *s,
                                     const struct xla_swap *swaps, int n)
{
	const struct tiling *after = s;
	int32_t inside[RANK_MAX + 1];
	struct xla_op *op;

	for (int d = 0; d <= s->rank; d++)
		inside[d] = 1;
	for (int k = 0; k < n; k++) {
		int32_t *factor = &inside[swaps[k].to];

		*factor = s->tiles[swaps[k].from] / s->tiles[swaps[k].to];
		after = xla_swapped(after, swaps[k], xla->arena);
		assert(xla->tile.dim[swaps[k].to] % *factor == 0);
		xla->tile.dim[swaps[k].to] /= *factor;
		xla->tile.dim[swaps[k].from] *= *factor;
	}
	op = xla_step(xla, OP_ALL_TO_ALL, after);
	op->move = arena_alloc(xla->arena, (size_t)n, sizeof(*op->move));
	for (int k = 0; k < n; k++)
		add_xla_move(xla, op, s, swaps[k].from, swaps[k].to,
		             inside[swaps[k].to]);
	op->groups = xla_spread(xla, xla_groups_by(after, inside, xla->arena));
	return after;
}

/* Swaps as in 2021: pads and cuts off locally, whatever the neighbours hold. */
static const struct tiling *swap_locally(struct xla *xla, const struct tiling *s,
                                         struct xla_swap swap)
{
	int32_t few = s->tiles[swap.to], many = s->tiles[swap.from];
	int64_t length = xla->tile.dim[swap.to];
	struct shape tile = xla->tile, local;
	const struct tiling *after;
	bool lossy;

	tile.dim[swap.to] = divide_up(length, many) * many;
	if (tile.dim[swap.to] != length)
		xla_window(xla, s, &tile);
	after = exchange(xla, s, &swap, 1);
	local = xla_local(xla, after);
	/* padded to a multiple of `many`, not of `many / few`, at every tile's end */
	lossy = few > 1 && (length % many != 0 ||
	                    local.dim[swap.from] != xla->tile.dim[swap.from]);
	xla->op[xla->nops - 1].lossy = lossy;
	if (local.dim[swap.to] != xla->tile.dim[swap.to] ||
	    local.dim[swap.from] != xla->tile.dim[swap.from])
		xla_window(xla, after, &local);
	return after;
}

const struct tiling *xla_swap(struct xla *xla, const struct tiling *s,
                              const struct xla_swap *swaps, int n)
{
	int from = swaps[0].from, to = swaps[0].to;
	int32_t many = s->tiles[from], factor = many / s->tiles[to];
	const struct tiling *after;

	if (xla->mode->swaps_lose_rows)
		return swap_locally(xla, s, swaps[0]);
	if (n > 1)
		return exchange(xla, s, swaps, n);
	xla_rewindow(xla, s, to, divide_up(xla->scope.base.dim[to], many) * factor,
	             xla->scope.base.dim[to]);
	after = exchange(xla, s, swaps, 1);
	xla_rewindow(xla, after, from,
	             divide_up(xla->scope.base.dim[from], after->tiles[from]),
	             xla->tile.dim[from] * after->tiles[from]);
	return after;
}

/* Makes the tiles of `s` divide into those of `t` (PadFromPartialReplicateShape). */
static bool xla_pad_tile(struct xla *xla, const struct tiling *s, const struct tiling *t)
{
	struct shape local = xla_local(xla, t), padded = xla->tile;
	bool pad = false;

	for (int d = 0; d < s->rank; d++) {
		int64_t wanted = local.dim[d] * (t->tiles[d] / s->tiles[d]);
		int64_t more = wanted - xla->tile.dim[d];
		struct xla_halo h;

		if (s->tiles[d] == t->tiles[d] || more <= 0)
			continue;
		padded.dim[d] = wanted;
		if (s->tiles[d] == 1) {
			pad = true;
			continue;
		}
		h = xla_halo(xla, &xla->scope, s, s, d);
		for (int32_t i = 0; i < h.count; i++) {
			h.left[i] = xla->mode->halos_compact ? -i * more : 0;
			h.right[i] = (i + 1) * more;
		}
		if (xla->mode->halos_compact)
			xla_halo_compact(xla, &h, xla->scope.base.dim[d]);
		else if (!xla_halo_exchange(xla, &h))
			return false;
		xla->tile.dim[d] = wanted;
		xla_window(xla, s, &xla->tile);
	}
	if (pad)
		xla_window(xla, s, &padded);
	return true;
}

const struct tiling *xla_slice(struct xla *xla, const struct tiling *s,
                               const struct tiling *t)
{
	const struct groups *in = &xla->scope.groups;
	const int32_t *places = xla_places(t, xla->arena);
	int32_t index[RANK_MAX + 1];
	int cut[RANK_MAX];
	struct xla_op *op;

	if (!xla_pad_tile(xla, s, t))
		return NULL;
	xla->tile = xla_local(xla, t);
	op = xla_step(xla, OP_SLICE, t);
	op->move = arena_alloc(xla->arena, (size_t)t->rank, sizeof(*op->move));
	for (int d = 0; d < t->rank; d++) {
		int32_t finer = t->tiles[d] / s->tiles[d];

		if (finer == 1)
			continue;
		assert(minor_most(xla, s, d));
		cut[op->nmoves] = d;
		op->move[op->nmoves++] = (struct move){
			.from_dim = -1, .to_dim = xla->scope.dim[d], .factor = finer};
	}
	op->chunk = arena_alloc(xla->arena, (size_t)in->ngroups * (size_t)in->size,
	                        (size_t)op->nmoves * sizeof(*op->chunk));
	for (int32_t i = 0; i < in->ngroups * in->size; i++) {
		int32_t *chunk = op->chunk + (int64_t)in->ids[i] * op->nmoves;

		xla_index(t, places[i % in->size], index);
		for (int k = 0; k < op->nmoves; k++)
			chunk[k] = index[cut[k]] % op->move[k].factor;
	}
	return t;
}
