/* Tiles along one dimension, which devices exchange. */
#include "program/partition/row.h"

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

struct row split_row(struct split *b, const struct instruction *like, int32_t value,
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
struct value_type row_type(const struct row *r, int32_t value, int64_t size)
{
	struct value_type t = r->b->q->value.at[value].type;
	int64_t *dim = arena_dup(r->b->a, t.dim, (size_t)t.rank, sizeof(*dim));

	dim[r->dim] = size;
	t.dim = dim;
	t.layout = NULL;
	return t;
}

/* Elements [from, to) along the dimension. */
int32_t row_cut(const struct row *r, int32_t value, int64_t from, int64_t to)
{
	struct value_type t = row_type(r, value, to - from);
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

/* Each device's value from that of the tile that `from` has for its own; -1: from nobody. */
int32_t row_permute(const struct row *r, int32_t value, const int64_t *from)
{
	const struct mesh *m = &r->b->s->mesh;
	struct value_type t = r->b->q->value.at[value].type;
	int64_t *pair = arena_alloc(r->b->a, 2 * (size_t)m->ndevices, sizeof(*pair));
	struct collective_attr at = {.groups = -1, .channel = 1, .global_ids = true};
	int32_t n = 0;

	for (int32_t p = 0; p < m->ndevices; p++) {
		int32_t device = mesh_device(m, p);
		int64_t tile = from[r->tile[device]];

		if (tile < 0)
			continue;
		pair[n++] =
			mesh_device(m, position_beside(m, r->part, r->nparts, p, tile));
		pair[n++] = device;
	}
	at.pairs = (struct ints){n, pair};
	value = split_made(r->b, r->like, HLO_COLLECTIVE_PERMUTE, &t, &value, 1);
	split_maker(r->b, value)->as.collective = arena_dup(r->b->a, &at, 1, sizeof(at));
	return value;
}

/* Zeros where there is no device to send any. */
int32_t row_nothing(const struct row *r, int64_t size)
{
	struct value_type t = row_type(r, r->value, size);

	return split_spread(r->b, r->like, split_number(r->b, r->like, t.dtype, 0), &t);
}

int32_t row_join(const struct row *r, const int32_t *piece, int32_t n, int64_t size)
{
	struct value_type t = row_type(r, r->value, size);
	int32_t value;

	if (n == 1)
		return piece[0];
	value = split_made(r->b, r->like, HLO_CONCATENATE, &t, piece, n);
	split_maker(r->b, value)->dims = (struct ints){
		1, arena_dup(r->b->a, &(int64_t){r->dim}, 1, sizeof(int64_t))};
	return value;
}

/* So many elements from where a scalar of each device says. */
int32_t row_from(const struct row *r, int32_t value, int32_t place, int64_t size)
{
	struct value_type t = row_type(r, value, size);
	int32_t *in = arena_alloc(r->b->a, (size_t)t.rank + 1, sizeof(*in));

	in[0] = value;
	for (int32_t d = 0; d < t.rank; d++)
		in[1 + d] = d == r->dim ? place
		                        : split_number(r->b, r->like,
		                                       dtype_find("s32", 3), 0);
	value = split_made(r->b, r->like, HLO_DYNAMIC_SLICE, &t, in, 1 + t.rank);
	split_maker(r->b, value)->dims = (struct ints){t.rank, t.dim};
	return value;
}
