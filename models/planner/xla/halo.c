/* Halo exchange for uneven tiles (models/README.md, XLA). */
#include "base/assert.h"
#include "planner/xla/xla.h"

#include <stdlib.h>

struct xla_halo xla_halo(struct xla *xla, const struct xla_scope *in,
                         const struct tiling *s, const struct tiling *inner, int dim)
{
	struct xla_halo h = {.in = in, .s = s, .inner = inner, .dim = dim};

	h.count = s->tiles[dim];
	h.length = xla->tile.dim[dim];
	h.left = arena_alloc(xla->arena, (size_t)h.count, sizeof(*h.left));
	h.right = arena_alloc(xla->arena, (size_t)h.count, sizeof(*h.right));
	return h;
}

/*
 * Sends rows [lo, hi) of every source in `pairs`, which are members of the halo's
 * scope.
 */
static void send_rows(struct xla *xla, const struct xla_halo *h,
                      const struct pair *pairs, int32_t npairs, int64_t lo, int64_t hi)
{
	const struct groups *in = &h->in->groups;
	struct xla_op *op = xla_step(xla, OP_PERMUTE, h->inner);

	op->part = true;
	op->dim = xla->scope.dim[h->dim];
	op->lo = lo;
	op->hi = hi;
	op->npairs = in->ngroups * npairs;
	op->pairs = arena_alloc(xla->arena, (size_t)op->npairs, sizeof(*op->pairs));
	for (int32_t i = 0; i < op->npairs; i++) {
		const int32_t *member = in->ids + i / npairs * (int64_t)in->size;

		op->pairs[i].src = member[pairs[i % npairs].src];
		op->pairs[i].dst = member[pairs[i % npairs].dst];
	}
}

/*
 * Sends every shard's rows to the one `hops` further on, or back if `back`. Beyond the
 * last shard there is only padding, which XLA makes of zeros.
 */
static void send_neighbours(struct xla *xla, const struct xla_halo *h, int32_t hops,
                            bool back, int64_t lo, int64_t hi)
{
	struct pair *pairs =
		arena_alloc(xla->arena, (size_t)h->s->ndevices, sizeof(*pairs));
	int32_t index[RANK_MAX + 1], n = 0;

	for (int32_t place = 0; place < h->s->ndevices; place++) {
		int32_t here = h->s->ids[place], there;

		xla_index(h->s, place, index);
		if (index[h->dim] < hops)
			continue;
		index[h->dim] -= hops;
		there = h->s->ids[xla_place(h->s, index)];
		pairs[n].src = back ? here : there;
		pairs[n++].dst = back ? there : here;
	}
	if (n > 0)
		send_rows(xla, h, pairs, n, lo, hi);
}

static int64_t most_rows(const int64_t *halo, int32_t from, int32_t to)
{
	int64_t largest = halo[from];

	for (int32_t i = from; i < to; i++)
		largest = halo[i] > largest ? halo[i] : largest;
	return largest;
}

static int64_t smaller_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t larger_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * Here the first shard starts where it did and windows hold a row at least, so that
 * nothing applies of what XLA says of halos that skip rows.
 */
bool xla_halo_exchange(struct xla *xla, const struct xla_halo *h)
{
	int64_t length = h->length;
	int64_t left = most_rows(h->left, 1, h->count);
	int64_t right = most_rows(h->right, 0, h->count - 1);
	int64_t lefts = (larger_of(left, 0) + length - 1) / length;
	int64_t rights = (larger_of(right, 0) + length - 1) / length;

	assert(h->left[0] == 0 && length + h->right[0] > 0);
	if (left + right + length >= length * h->count &&
	    (left > length || right > length))
		return false;
	for (int64_t k = lefts - 1; k >= 0; k--)
		send_neighbours(xla, h, (int32_t)k + 1, false,
		                length - smaller_of(left - k * length, length), length);
	for (int64_t k = 0; k < rights; k++)
		send_neighbours(xla, h, (int32_t)k + 1, true, 0,
		                smaller_of(right - k * length, length));
	return true;
}

/* Rows [lo, hi) of shard `src` that shard `dst` needs at `offset` of its window. */
struct piece {
	int32_t src, dst, number;
	int64_t offset, lo, hi;
};

/*
 * Orders pieces by source and those of one source by offset, then as they were found.
 */
static int compare_pieces(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;

	if (p->src != q->src)
		return p->src < q->src ? -1 : 1;
	if (p->offset != q->offset)
		return p->offset < q->offset ? -1 : 1;
	if (p->number != q->number)
		return p->number < q->number ? -1 : 1;
	return (p->dst > q->dst) - (p->dst < q->dst);
}

/*
 * Finds what shards need of others, sorted, and returns the number of pieces. A piece
 * that starts at a row of the array goes to the end of its tile, padding included; one
 * that starts beyond is none.
 */
static int32_t find_halo_pieces(struct piece **out, const struct xla_halo *h,
                                int64_t base, struct arena *a)
{
	int64_t rows = 0;
	int32_t n = 0;
	struct piece *piece;

	for (int32_t i = 0; i < h->count; i++)
		rows += (h->length + h->left[i] + h->right[i]) / h->length + 2;
	piece = arena_alloc(a, (size_t)rows, sizeof(*piece));
	for (int32_t i = 0; i < h->count; i++) {
		int64_t start = i * h->length - h->left[i];
		int64_t end = (i + 1) * h->length + h->right[i];
		int32_t number = 0;

		assert(start >= 0);
		for (int64_t at = start; at < end && at < base; number++) {
			int64_t lo = at % h->length;
			int64_t size = smaller_of(h->length - lo, end - at);
			int32_t src = (int32_t)(at / h->length);

			if (src != i)
				piece[n++] = (struct piece){src,        i,  number,
				                            at - start, lo, lo + size};
			at += size;
		}
	}
	qsort(piece, (size_t)n, sizeof(*piece), compare_pieces);
	*out = piece;
	return n;
}

/*
 * Returns whether the rows of a permute, [lo, hi), would grow from one edge of the tile
 * to another.
 */
static bool spans(const struct piece *p, int64_t lo, int64_t hi, int64_t length)
{
	return (lo > p->hi && hi == length && p->lo == 0) ||
	       (hi < p->lo && lo == 0 && p->hi == length);
}

void xla_halo_compact(struct xla *xla, const struct xla_halo *h, int64_t base)
{
	size_t count = (size_t)h->count;
	int32_t *next = arena_alloc(xla->arena, count + 1, sizeof(*next));
	int32_t *seen = arena_alloc(xla->arena, count, sizeof(*seen));
	struct pair *pairs;
	struct groups g;
	struct piece *piece;
	int32_t n = find_halo_pieces(&piece, h, base, xla->arena), left = n;
	int32_t inside[RANK_MAX + 1], *end;

	for (int d = 0; d <= h->s->rank; d++)
		inside[d] = d == h->dim ? h->count : 1;
	g = xla_groups_by(h->s, inside, xla->arena);
	pairs = arena_alloc(xla->arena, (size_t)h->s->ndevices, sizeof(*pairs));
	end = arena_alloc(xla->arena, count, sizeof(*end));
	for (int32_t i = 0; i < n; i++)
		next[piece[i].src + 1]++;
	for (int32_t i = 0; i < h->count; i++) {
		next[i + 1] += next[i];
		end[i] = next[i + 1];
	}
	for (int32_t round = 1; left > 0; round++) {
		int64_t lo = h->length, hi = 0;
		int32_t npairs = 0;

		for (int32_t i = 0; i < h->count; i++) {
			const struct piece *p = &piece[next[i]];

			if (next[i] == end[i] ||
			    (npairs > 0 &&
			     (seen[p->dst] == round || spans(p, lo, hi, h->length))))
				continue;
			seen[p->dst] = round;
			pairs[npairs++] = (struct pair){p->src, p->dst};
			lo = smaller_of(lo, p->lo);
			hi = larger_of(hi, p->hi);
			next[i]++;
		}
		left -= npairs;
		for (int32_t i = g.ngroups * npairs - 1; i >= 0; i--) {
			const int32_t *member = g.ids + i / npairs * (int64_t)g.size;

			pairs[i] = (struct pair){member[pairs[i % npairs].src],
			                         member[pairs[i % npairs].dst]};
		}
		send_rows(xla, h, pairs, g.ngroups * npairs, lo, hi);
	}
}

/*
 * Gathers the dimension, pads it, and cuts it again, which is what XLA falls back to.
 */
static void gather_and_cut(struct xla *xla, const struct tiling *s, int dim,
                           const struct shape *tile, int64_t base)
{
	int64_t before = xla->scope.base.dim[dim];

	xla->scope.base.dim[dim] = base;
	xla_reshard(xla, s, xla_without(s, dim, xla->arena));
	xla->scope.base.dim[dim] = before;
	xla_window(xla, s, tile);
}

void xla_rewindow(struct xla *xla, const struct tiling *s, int dim, int64_t extent,
                  int64_t base)
{
	int64_t length = xla->tile.dim[dim], count = s->tiles[dim], largest;
	struct shape tile = xla->tile;
	struct xla_halo h;

	if (extent == length)
		return;
	tile.dim[dim] = extent;
	if (count == 1) {
		xla_window(xla, s, &tile);
		return;
	}
	h = xla_halo(xla, &xla->scope, s, s, dim);
	for (int32_t i = 0; i < count; i++) {
		h.left[i] = i * (length - extent);
		h.right[i] = (i + 1) * (extent - length);
	}
	largest = larger_of(most_rows(h.left, 0, h.count),
	                    most_rows(h.right, 0, h.count));
	if (largest > 2 * extent && 2 * extent < count * length) {
		xla_halo_compact(xla, &h, base);
	} else if (largest > 2 * extent || !xla_halo_exchange(xla, &h)) {
		gather_and_cut(xla, s, dim, &tile, base);
		return;
	}
	xla_window(xla, s, &tile);
}
