/* The steps of the interpreter in which boxes travel: parts of tiles, exchanges, pads. */
#include "plan/check_state.h"

#include <stdlib.h>
#include <string.h>

/* Of an old tile, and of boxes held that a pad makes a tile of. */
enum { PIECES_MAX = 256, HELD_MAX = 1 << 14 };

int64_t box_elements(const int64_t *b, int rank)
{
	int64_t n = 1;

	for (int i = 0; i < rank; i++)
		n *= b[2 * i + 1] > b[2 * i] ? b[2 * i + 1] - b[2 * i] : 0;
	return n;
}

bool boxes_meet(const int64_t *a, const int64_t *b, int rank)
{
	for (int i = 0; i < rank; i++)
		if (a[2 * i] >= b[2 * i + 1] || b[2 * i] >= a[2 * i + 1])
			return false;
	return true;
}

bool box_inside(const int64_t *inner, const int64_t *outer, int rank)
{
	for (int i = 0; i < rank; i++)
		if (inner[2 * i] < outer[2 * i] || inner[2 * i + 1] > outer[2 * i + 1])
			return false;
	return true;
}

/* Returns whether the device has the box in its tile. */
static bool tile_has(const struct state *s, int32_t device, const int64_t *b)
{
	const struct list *tile = state_tile(s, device);

	for (int i = 0; i < s->rank; i++)
		if (!list_holds(tile[i], b[2 * i], b[2 * i + 1]))
			return false;
	return true;
}

/* Returns whether the device has the box beside its tile. */
static bool is_held(const struct state *s, int32_t device, const int64_t *b)
{
	for (const struct held *h = s->held[device]; h; h = h->next)
		if (box_inside(b, h->bounds, s->rank))
			return true;
	return false;
}

/* Returns whether the device holds all contributions to its elements. */
static bool is_summed(const struct state *s, int32_t d)
{
	return list_length(state_tile(s, d)[s->rank]) == s->partials;
}

static bool has_tile(const struct state *s, int32_t d)
{
	const struct list *tile = state_tile(s, d);

	for (int i = 0; i < s->rank; i++)
		if (tile[i].n == 0)
			return false;
	return s->rank > 0 || tile[0].n > 0;
}

bool state_check_box(struct state *s, int step, const struct transfer *t)
{
	const struct shape *g = &s->plan->shape;

	if (t->src < 0 || t->src >= s->ndevices || t->dst < 0 || t->dst >= s->ndevices)
		return state_wrong(s, step,
		                   "a transfer names a device that is not there", -1);
	if (t->src == t->dst)
		return state_wrong(s, step, "a transfer to oneself", t->src);
	for (int i = 0; i < s->rank; i++)
		if (t->bounds[2 * i] < 0 || t->bounds[2 * i] >= t->bounds[2 * i + 1] ||
		    t->bounds[2 * i + 1] > g->dim[i])
			return state_wrong(s, step, "a box outside the array", t->dst);
	if (t->elements != box_elements(t->bounds, s->rank))
		return state_wrong(s, step, "a box of another size than it says",
		                   t->dst);
	return true;
}

static bool check_transfer(struct state *s, int step, const struct transfer *t)
{
	if (!state_check_box(s, step, t))
		return false;
	if (is_held(s, t->src, t->bounds))
		return true;
	if (!is_summed(s, t->src))
		return state_wrong(s, step, "parts of an unreduced array travel",
		                   t->src);
	return tile_has(s, t->src, t->bounds) ||
	       state_wrong(s, step, "a device sends what it does not have", t->src);
}

bool state_permute_parts(struct state *s, int step)
{
	const struct step *st = &s->plan->step[step];

	for (int64_t i = 0; i < st->ntransfers; i++)
		if (!check_transfer(s, step, &st->transfers[i]))
			return false;
	for (int64_t i = 0; i < st->ntransfers; i++) {
		const struct transfer *t = &st->transfers[i];
		struct held *h = arena_alloc(s->arena, 1, sizeof(*h));

		*h = (struct held){.bounds = t->bounds, .next = s->held[t->dst]};
		s->held[t->dst] = h;
	}
	return true;
}

/* --- coverage ------------------------------------------------------------------------ */

/*
 * Returns whether `box` is inside the union of the pieces from number `k` on. The first
 * piece that meets it is cut out, and what is left of the box must lie in the later
 * ones.
 */
static bool is_covered(const int64_t *box, const int64_t *const *piece, int n, int k,
                       int rank)
{
	int64_t rest[2 * RANK_MAX];

	if (box_elements(box, rank) == 0)
		return true;
	while (k < n && !boxes_meet(box, piece[k], rank))
		k++;
	if (k == n)
		return false;
	memcpy(rest, box, 2 * (size_t)rank * sizeof(*rest));
	for (int i = 0; i < rank; i++) {
		int64_t lo = rest[2 * i], hi = rest[2 * i + 1];

		if (lo < piece[k][2 * i]) {
			rest[2 * i + 1] = piece[k][2 * i];
			if (!is_covered(rest, piece, n, k + 1, rank))
				return false;
			rest[2 * i] = lo = piece[k][2 * i];
			rest[2 * i + 1] = hi;
		}
		if (hi > piece[k][2 * i + 1]) {
			rest[2 * i] = piece[k][2 * i + 1];
			if (!is_covered(rest, piece, n, k + 1, rank))
				return false;
			rest[2 * i] = lo;
			rest[2 * i + 1] = piece[k][2 * i + 1];
		}
	}
	return true;
}

/*
 * Appends all boxes that the lists of a tile span to `piece`; returns false when too
 * many.
 */
static bool tile_boxes(const struct state *s, const struct list *tile,
                       const int64_t **piece, int *n)
{
	int32_t at[RANK_MAX] = {0};
	int dim;

	for (int i = 0; i < s->rank; i++)
		if (tile[i].n == 0)
			return true;
	do {
		int64_t *b = arena_alloc(s->arena, 2 * (size_t)s->rank + 1, sizeof(*b));

		if (*n == PIECES_MAX)
			return false;
		for (int i = 0; i < s->rank; i++) {
			b[2 * i] = tile[i].run[at[i]].lo;
			b[2 * i + 1] = tile[i].run[at[i]].hi;
		}
		piece[(*n)++] = b;
		for (dim = s->rank - 1; dim >= 0 && ++at[dim] == tile[dim].n; dim--)
			at[dim] = 0;
	} while (dim >= 0);
	return true;
}

/* --- exchanges ------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns the dimension in which the boxes have the most different starts. */
static int sweep_dim(struct arena *a, const int64_t *const *piece, int64_t n, int rank)
{
	int64_t *lo = arena_alloc(a, (size_t)n, sizeof(*lo)), most = 0;
	int best = 0;

	for (int dim = 0; dim < rank; dim++) {
		int64_t distinct = 1;

		for (int64_t i = 0; i < n; i++)
			lo[i] = piece[i][2 * dim];
		qsort(lo, (size_t)n, sizeof(*lo), by_value);
		for (int64_t i = 1; i < n; i++)
			distinct += lo[i] != lo[i - 1];
		best = distinct > most ? dim : best;
		most = distinct > most ? distinct : most;
	}
	return best;
}

static int by_start(const void *a, const void *b, void *dim)
{
	const int64_t *x = *(const int64_t *const *)a, *y = *(const int64_t *const *)b;
	int i = 2 * *(const int *)dim;

	return (x[i] > y[i]) - (x[i] < y[i]);
}

bool boxes_disjoint(struct arena *a, const int64_t **piece, int64_t n, int rank)
{
	int dim = sweep_dim(a, piece, n, rank);

	qsort_r(piece, (size_t)n, sizeof(*piece), by_start, &dim);
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = i + 1;
		     k < n && piece[k][2 * dim] < piece[i][2 * dim + 1]; k++)
			if (boxes_meet(piece[i], piece[k], rank))
				return false;
	return true;
}

/* What a device is sent in a step, in order of arrival. */
struct inbox {
	int64_t n;
	const struct transfer **transfer;
};

static struct inbox *sort_transfers(const struct state *s, const struct step *st)
{
	struct inbox *in = arena_alloc(s->arena, (size_t)s->ndevices, sizeof(*in));

	for (int64_t i = 0; i < st->ntransfers; i++)
		in[st->transfers[i].dst].n++;
	for (int32_t d = 0; d < s->ndevices; d++) {
		in[d].transfer =
			arena_alloc(s->arena, (size_t)in[d].n, sizeof(*in[d].transfer));
		in[d].n = 0;
	}
	for (int64_t i = 0; i < st->ntransfers; i++) {
		struct inbox *box = &in[st->transfers[i].dst];

		box->transfer[box->n++] = &st->transfers[i];
	}
	return in;
}

/* Returns the old tile cut to the new one, dimension by dimension. */
static struct list *kept_of_tile(struct state *s, int32_t d, const int64_t *want)
{
	struct list *both = arena_alloc(s->arena, (size_t)s->rank + 1, sizeof(*both));

	for (int i = 0; i < s->rank; i++)
		both[i] = list_common(s->arena, state_tile(s, d)[i],
		                      list_of(s->arena, want[2 * i], want[2 * i + 1]));
	return both;
}

/*
 * Returns whether an exchange brings a device exactly what it lacks: what it keeps and
 * what arrives are disjoint and add up to the tile.
 */
static bool makes_exactly(struct state *s, int step, int32_t d, const int64_t *want,
                          const struct inbox *in)
{
	const struct list *both = kept_of_tile(s, d, want);
	const int64_t *old[PIECES_MAX], **piece;
	int64_t total = 0, n;
	int nkept = 0;

	if (!tile_boxes(s, both, old, &nkept))
		return state_wrong(s, step, "the tile is in too many pieces", d);
	if (nkept > 0 && !is_summed(s, d))
		return state_wrong(s, step, "parts of an unreduced array are kept", d);
	n = nkept;
	piece = arena_grow(s->arena, old, (size_t)n, (size_t)(n + in->n),
	                   sizeof(*piece));
	for (int64_t i = 0; i < in->n; i++) {
		if (!box_inside(in->transfer[i]->bounds, want, s->rank))
			return state_wrong(s, step, "a box that is not wanted arrives",
			                   d);
		piece[n++] = in->transfer[i]->bounds;
	}
	for (int64_t i = 0; i < n; i++)
		total += box_elements(piece[i], s->rank);
	if (total != box_elements(want, s->rank))
		return state_wrong(s, step, "the boxes do not add up to the tile", d);
	return (n > 0 && boxes_disjoint(s->arena, piece, n, s->rank)) || total == 0 ||
	       state_wrong(s, step, "two boxes of one tile overlap", d);
}

/*
 * Returns whether a pad makes the tile of the old one and the boxes held, which may
 * overlap.
 */
static bool makes_padded(struct state *s, int step, int32_t d, const int64_t *want)
{
	const int64_t **piece;
	int n = 0;

	for (const struct held *h = s->held[d]; h && n <= HELD_MAX; h = h->next)
		n++;
	if (n > HELD_MAX)
		return state_wrong(s, step, "too many boxes are held", d);
	piece = arena_alloc(s->arena, (size_t)n + PIECES_MAX, sizeof(*piece));
	n = 0;
	if (!tile_boxes(s, state_tile(s, d), piece, &n))
		return state_wrong(s, step, "the tile is in too many pieces", d);
	if (n > 0 && s->held[d] && !is_summed(s, d))
		return state_wrong(s, step, "parts of an unreduced array are kept", d);
	for (const struct held *h = s->held[d]; h; h = h->next)
		piece[n++] = h->bounds;
	return is_covered(want, piece, n, 0, s->rank) ||
	       state_wrong(s, step, "a part of the tile is not there", d);
}

bool state_wanted(struct list *out, int64_t *want, struct state *s,
                  const struct step *st, const struct tilemap *map, int32_t d)
{
	const struct shape *g = &s->plan->shape;
	bool there = true;

	for (int i = 0; i < s->rank; i++) {
		int64_t cell = (int64_t)d * s->rank + i, index = map->index[cell];
		int64_t size = st->local.dim[i];
		int64_t lo = st->start ? st->start[cell] : index * size, hi = lo + size;

		there = there && index >= 0;
		out[i] = list_of(s->arena, lo, index < 0 ? lo : hi);
		want[2 * i] = lo < g->dim[i] ? lo : g->dim[i];
		want[2 * i + 1] = hi < g->dim[i] ? hi : g->dim[i];
	}
	return there;
}

bool state_retile(struct state *s, int step)
{
	const struct step *st = &s->plan->step[step];
	struct tilemap map =
		tilemap_make(&st->after, st->mesh, &s->plan->shape, s->arena);
	size_t cells = (size_t)s->ndevices * (size_t)s->lists;
	struct list *next = arena_alloc(s->arena, cells, sizeof(*next));
	struct inbox *in;

	for (int64_t i = 0; i < st->ntransfers; i++)
		if (!check_transfer(s, step, &st->transfers[i]))
			return false;
	in = sort_transfers(s, st);
	for (int32_t d = 0; d < s->ndevices; d++) {
		struct list *out = next + (int64_t)d * s->lists;
		int64_t want[2 * RANK_MAX];

		if (!state_wanted(out, want, s, st, &map, d))
			continue;
		if (st->op == OP_PAD ? !makes_padded(s, step, d, want)
		                     : !makes_exactly(s, step, d, want, &in[d]))
			return false;
		out[s->rank] = list_of(s->arena, 0, s->partials);
		/* Without data before, all of the new tile is padding. */
		if (st->op == OP_PAD && has_tile(s, d))
			out[s->rank] = state_tile(s, d)[s->rank];
	}
	memset(s->held, 0, (size_t)s->ndevices * sizeof(struct held *));
	s->list = next;
	return true;
}

/* Finds the real elements of all members' tiles as boxes, which must not meet. */
static bool group_boxes(struct state *s, int step, const int32_t *member, int32_t size,
                        const int64_t ***out, int *n)
{
	const struct shape *g = &s->plan->shape;
	int capacity = size + PIECES_MAX;
	const int64_t **piece = arena_alloc(s->arena, (size_t)capacity, sizeof(*piece));

	*n = 0;
	for (int32_t r = 0; r < size; r++) {
		const struct list *tile = state_tile(s, member[r]);
		struct list *real =
			arena_alloc(s->arena, (size_t)s->rank + 1, sizeof(*real));
		const int64_t *own[PIECES_MAX];
		int count = 0;

		if (tile[s->rank].n == 0)
			continue;
		for (int i = 0; i < s->rank; i++)
			real[i] = list_common(s->arena, tile[i],
			                      list_of(s->arena, 0, g->dim[i]));
		if (!tile_boxes(s, real, own, &count) || *n + count > capacity)
			return state_wrong(s, step, "the tile is in too many pieces",
			                   member[r]);
		for (int k = 0; k < count; k++)
			piece[(*n)++] = own[k];
	}
	*out = piece;
	return *n == 0 || boxes_disjoint(s->arena, piece, *n, s->rank) ||
	       state_wrong(s, step, "an element is summed twice", member[0]);
}

/* Makes the tiles of a group after the sum of theirs. */
static bool sum_group(struct state *s, int step, const int32_t *member,
                      const struct tilemap *map, struct list *next)
{
	const struct step *st = &s->plan->step[step];
	const int64_t **piece = NULL;
	int n;

	if (!group_boxes(s, step, member, st->groups.size, &piece, &n))
		return false;
	for (int32_t r = 0; r < st->groups.size; r++) {
		struct list *out = next + (int64_t)member[r] * s->lists;
		int64_t want[2 * RANK_MAX];

		if (!state_wanted(out, want, s, st, map, member[r]))
			return state_wrong(s, step, "a tile is summed and goes nowhere",
			                   member[r]);
		if (!is_covered(want, piece, n, 0, s->rank))
			return state_wrong(s, step, "a part of the tile is not there",
			                   member[r]);
		out[s->rank] = list_of(s->arena, 0, s->partials);
	}
	return true;
}

bool state_sum_tiles(struct state *s, int step)
{
	const struct step *st = &s->plan->step[step];
	struct tilemap map =
		tilemap_make(&st->after, st->mesh, &s->plan->shape, s->arena);
	size_t cells = (size_t)s->ndevices * (size_t)s->lists;
	struct list *next = arena_dup(s->arena, s->list, cells, sizeof(*next));

	if (s->partials > 1)
		return state_wrong(s, step, "tiles of an unreduced array are summed",
		                   -1);
	for (int32_t i = 0; i < st->groups.ngroups; i++)
		if (!sum_group(s, step, st->groups.ids + (int64_t)i * st->groups.size,
		               &map, next))
			return false;
	s->list = next;
	return true;
}
