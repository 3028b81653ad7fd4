/* What devices take of the tiles beside theirs. */
#include "program/partition/row.h"

/* From the tile that is `ahead` further on. */
static int32_t permute_ahead(const struct row *r, int32_t value, int64_t ahead)
{
	int64_t *from = arena_alloc(r->b->a, (size_t)r->n, sizeof(*from));

	for (int64_t i = 0; i < r->n; i++)
		from[i] = i + ahead < r->n && i + ahead >= 0 ? i + ahead : -1;
	return row_permute(r, value, from);
}

/*
 * The tile with `before` elements in front of it and `after` behind it. Nobody has those that are
 * further away than all tiles.
 */
static int32_t join(const struct row *r, int64_t before, int64_t after)
{
	int64_t far = (r->n - 1) * r->size, n = 0;
	int32_t *piece = arena_alloc(r->b->a, 2 * (size_t)r->n + 4, sizeof(*piece));

	if (before > far)
		piece[n++] = row_nothing(r, before - far);
	for (int64_t k = r->n - 1; k > 0; k--) {
		int64_t more = before - (k - 1) * r->size;

		if (more > 0)
			piece[n++] = permute_ahead(
				r,
				row_cut(r, r->value,
			                more < r->size ? r->size - more : 0, r->size),
				-k);
	}
	piece[n++] = r->value;
	for (int64_t k = 1; k < r->n; k++) {
		int64_t more = after - (k - 1) * r->size;

		if (more > 0)
			piece[n++] = permute_ahead(
				r,
				row_cut(r, r->value, 0, more < r->size ? more : r->size),
				k);
	}
	if (after > far)
		piece[n++] = row_nothing(r, after - far);
	return row_join(r, piece, (int32_t)n, before + r->size + after);
}

/* A number that grows with the tile. */
static int32_t by_tile(const struct row *r, int64_t first, int64_t step)
{
	int32_t n = r->b->s->mesh.ndevices;
	int64_t *at = arena_alloc(r->b->a, (size_t)n, sizeof(*at));

	for (int32_t d = 0; d < n; d++)
		at[d] = first + step * r->tile[d];
	return split_table(r->b, r->like, at);
}

/* Each device's own part of what is joined, from `first` + tile `step` on. */
static int32_t own(const struct row *r, int32_t value, int64_t first, int64_t step,
                   int64_t size)
{
	return step ? row_from(r, value, by_tile(r, first, step), size)
	            : row_cut(r, value, first, first + size);
}

/* Puts the fill in place of what is not of the array. */
static int32_t mask(const struct row *r, int32_t value, const struct halo *h,
                    int64_t whole)
{
	const struct value_type t = r->b->q->value.at[value].type;
	struct value_type at = t;
	int32_t in[3];

	at.dtype = dtype_find("s32", 3);
	in[0] = split_made(r->b, r->like, HLO_IOTA, &at, NULL, 0);
	split_maker(r->b, in[0])->dims = (struct ints){
		1, arena_dup(r->b->a, &(int64_t){r->dim}, 1, sizeof(int64_t))};
	in[1] = split_spread(r->b, r->like, by_tile(r, h->first, h->step), &at);
	in[0] = split_both(r->b, r->like, HLO_ADD, in[0], in[1]);
	in[0] = split_inside(r->b, r->like, in[0], 0, whole);
	in[1] = value;
	in[2] = split_spread(r->b, r->like, h->fill, &t);
	return split_made(r->b, r->like, HLO_SELECT, &t, in, 3);
}

/* Elements before and behind its tile that a device needs at most; less than 0: it needs less. */
static void reach(int64_t *before, int64_t *after, const struct halo *h, int64_t size,
                  int64_t shards)
{
	int64_t end = h->first + (h->step - size) * (shards - 1);

	*before = -(h->first < end ? h->first : end);
	*after = (h->first > end ? h->first : end) + h->size - size;
}

/* Whether some window is further from its tile than twice its own size. */
static bool is_far(const struct halo *h, int64_t size, int64_t shards)
{
	int64_t before, after;

	reach(&before, &after, h, size, shards);
	return (before > after ? before : after) > 2 * h->size;
}

bool split_halo_fits(const struct halo *h, int64_t whole, int64_t shards)
{
	int64_t size = (whole + shards - 1) / shards, before, after;

	if (is_far(h, size, shards))
		return 2 * h->size < shards * size;
	reach(&before, &after, h, size, shards);
	before = before > 0 ? before : 0;
	after = after > 0 ? after : 0;
	return before + after < (shards - 1) * size;
}

int32_t split_halo(struct split *b, const struct instruction *like, int32_t value,
                   int32_t layout, const struct halo *h, int64_t whole)
{
	struct row r = split_row(b, like, value, layout, h->dim);
	int64_t before, after, last = h->first + h->step * (r.n - 1);

	if (is_far(h, r.size, r.n)) {
		value = row_far(&r, h);
	} else {
		reach(&before, &after, h, r.size, r.n);
		before = before > 0 ? before : 0;
		after = after > 0 ? after : 0;
		value = join(&r, before, after);
		value = own(&r, value, h->first + before, h->step - r.size, h->size);
	}
	if (h->fill >= 0 && (h->first < 0 || last + h->size > whole))
		value = mask(&r, value, h, whole);
	return value;
}

int32_t split_turned(struct split *b, const struct instruction *like, int32_t value,
                     int32_t layout, int32_t dim)
{
	struct row r = split_row(b, like, value, layout, dim);
	int64_t *from = arena_alloc(b->a, (size_t)r.n, sizeof(*from));

	for (int64_t i = 0; i < r.n; i++)
		from[i] = r.n - 1 - i;
	return row_permute(&r, value, from);
}
