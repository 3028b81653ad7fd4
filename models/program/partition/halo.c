/* What devices take of the tiles beside theirs. */
#include "program/partition/split.h"

#include <string.h>

/* Tiles along a dimension of a layout. */
struct row {
	struct split *b;
	const struct instruction *like;
	int32_t value; /* the tiles */
	int32_t dim, n;
	int64_t size; /* of a tile */
	const struct part *part;
	int nparts;
	const int64_t *tile; /* [devices] by partition */
};

/* How far a step of a part's digit moves among the positions of the mesh. */
static int64_t part_stride(const struct mesh *m, struct part part)
{
	return mesh_stride(m, part.axis) *
	       (m->axis[part.axis].size / (part.pre * part.size));
}

/* The position whose tile is `tile`, where one is given that differs in this dimension alone. */
static int32_t position_beside(const struct mesh *m, const struct part *part,
                               int nparts, int64_t position, int64_t tile)
{
	for (int i = nparts; i-- > 0;) {
		int64_t stride = part_stride(m, part[i]);

		position += (tile % part[i].size - position / stride % part[i].size) *
		            stride;
		tile /= part[i].size;
	}
	return (int32_t)position;
}

int64_t *split_tiles(struct split *b, int32_t layout, int32_t dim)
{
	const struct mesh *m = &b->s->mesh;
	int64_t *tile = arena_alloc(b->a, (size_t)m->ndevices, sizeof(*tile));
	int nparts;
	const struct part *part = layout_parts(&b->layout.at[layout], dim, &nparts);

	for (int32_t p = 0; p < m->ndevices; p++) {
		int64_t *to = &tile[mesh_device(m, p)];

		for (int i = 0; i < nparts; i++)
			*to = *to * part[i].size +
			      p / part_stride(m, part[i]) % part[i].size;
	}
	return tile;
}

static struct row row_of(struct split *b, const struct instruction *like, int32_t value,
                         int32_t layout, int32_t dim)
{
	struct row r = {.b = b, .like = like, .value = value, .dim = dim};
	const struct layout *l = arena_dup(b->a, &b->layout.at[layout], 1, sizeof(*l));

	r.part = layout_parts(l, dim, &r.nparts);
	r.n = (int32_t)layout_shards(l, dim);
	r.size = b->q->value.at[value].type.dim[dim];
	r.tile = split_tiles(b, layout, dim);
	return r;
}

/* A value's type with another size along the dimension. */
static struct value_type sized(const struct row *r, int32_t value, int64_t size)
{
	struct value_type t = r->b->q->value.at[value].type;
	int64_t *dim = arena_dup(r->b->a, t.dim, (size_t)t.rank, sizeof(*dim));

	dim[r->dim] = size;
	t.dim = dim;
	t.layout = NULL;
	return t;
}

/* Elements [from, to) along the dimension. */
static int32_t cut(const struct row *r, int32_t value, int64_t from, int64_t to)
{
	struct value_type t = sized(r, value, to - from);
	int64_t *start = arena_alloc(r->b->a, (size_t)t.rank, sizeof(*start));
	int64_t *limit = arena_dup(r->b->a, t.dim, (size_t)t.rank, sizeof(*limit));
	int64_t *stride = arena_alloc(r->b->a, (size_t)t.rank, sizeof(*stride));
	struct slice_attr at = {{t.rank, start}, {t.rank, limit}, {t.rank, stride}};

	if (to - from == r->b->q->value.at[value].type.dim[r->dim])
		return value;
	for (int32_t d = 0; d < t.rank; d++)
		stride[d] = 1;
	start[r->dim] = from;
	limit[r->dim] = to;
	value = split_made(r->b, r->like, HLO_SLICE, &t, &value, 1);
	split_maker(r->b, value)->as.slice = arena_dup(r->b->a, &at, 1, sizeof(at));
	return value;
}

/* Each device's value from the device of tile `ahead` further on, or of that from the end. */
static int32_t permute(const struct row *r, int32_t value, int64_t ahead, bool turned)
{
	const struct mesh *m = &r->b->s->mesh;
	struct value_type t = r->b->q->value.at[value].type;
	int64_t *pair = arena_alloc(r->b->a, 2 * (size_t)m->ndevices, sizeof(*pair));
	struct collective_attr at = {.groups = -1, .channel = 1, .global_ids = true};
	int32_t n = 0;

	for (int32_t p = 0; p < m->ndevices; p++) {
		int32_t device = mesh_device(m, p);
		int64_t from =
			turned ? r->n - 1 - r->tile[device] : r->tile[device] + ahead;

		if (from < 0 || from >= r->n)
			continue;
		pair[n++] =
			mesh_device(m, position_beside(m, r->part, r->nparts, p, from));
		pair[n++] = device;
	}
	at.pairs = (struct ints){n, pair};
	value = split_made(r->b, r->like, HLO_COLLECTIVE_PERMUTE, &t, &value, 1);
	split_maker(r->b, value)->as.collective = arena_dup(r->b->a, &at, 1, sizeof(at));
	return value;
}

/* Zeros where there is no device to send any. */
static int32_t nothing(const struct row *r, int64_t size)
{
	struct value_type t = sized(r, r->value, size);

	return split_spread(r->b, r->like, split_number(r->b, r->like, t.dtype, 0), &t);
}

/*
 * The tile with `before` elements in front of it and `after` behind it. Nobody has those that are
 * further away than all tiles.
 */
static int32_t join(const struct row *r, int64_t before, int64_t after)
{
	int64_t far = (r->n - 1) * r->size, n = 0;
	int32_t *piece = arena_alloc(r->b->a, 2 * (size_t)r->n + 4, sizeof(*piece));
	struct value_type t = sized(r, r->value, before + r->size + after);

	if (before > far)
		piece[n++] = nothing(r, before - far);
	for (int64_t k = r->n - 1; k > 0; k--) {
		int64_t more = before - (k - 1) * r->size;

		if (more > 0)
			piece[n++] = permute(r,
			                     cut(r, r->value,
			                         more < r->size ? r->size - more : 0,
			                         r->size),
			                     -k, false);
	}
	piece[n++] = r->value;
	for (int64_t k = 1; k < r->n; k++) {
		int64_t more = after - (k - 1) * r->size;

		if (more > 0)
			piece[n++] = permute(
				r, cut(r, r->value, 0, more < r->size ? more : r->size),
				k, false);
	}
	if (after > far)
		piece[n++] = nothing(r, after - far);
	if (n == 1)
		return r->value;
	piece[0] = split_made(r->b, r->like, HLO_CONCATENATE, &t, piece, (int32_t)n);
	split_maker(r->b, piece[0])->dims = (struct ints){
		1, arena_dup(r->b->a, &(int64_t){r->dim}, 1, sizeof(int64_t))};
	return piece[0];
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
	struct value_type t = sized(r, value, size);
	int32_t *in = arena_alloc(r->b->a, (size_t)t.rank + 1, sizeof(*in));

	if (!step)
		return cut(r, value, first, first + size);
	in[0] = value;
	for (int32_t d = 0; d < t.rank; d++)
		in[1 + d] = d == r->dim ? by_tile(r, first, step)
		                        : split_number(r->b, r->like,
		                                       dtype_find("s32", 3), 0);
	value = split_made(r->b, r->like, HLO_DYNAMIC_SLICE, &t, in, 1 + t.rank);
	split_maker(r->b, value)->dims = (struct ints){t.rank, t.dim};
	return value;
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

int64_t split_halo_size(const struct halo *h, int64_t whole, int64_t shards)
{
	int64_t size = (whole + shards - 1) / shards, before, after;

	reach(&before, &after, h, size, shards);
	return (before > 0 ? before : 0) + (after > 0 ? after : 0);
}

int32_t split_halo(struct split *b, const struct instruction *like, int32_t value,
                   int32_t layout, const struct halo *h, int64_t whole)
{
	struct row r = row_of(b, like, value, layout, h->dim);
	int64_t before, after, last = h->first + h->step * (r.n - 1);

	reach(&before, &after, h, r.size, r.n);
	before = before > 0 ? before : 0;
	after = after > 0 ? after : 0;
	value = join(&r, before, after);
	value = own(&r, value, h->first + before, h->step - r.size, h->size);
	if (h->fill >= 0 && (h->first < 0 || last + h->size > whole))
		value = mask(&r, value, h, whole);
	return value;
}

int32_t split_turned(struct split *b, const struct instruction *like, int32_t value,
                     int32_t layout, int32_t dim)
{
	struct row r = row_of(b, like, value, layout, dim);

	return permute(&r, value, 0, true);
}
