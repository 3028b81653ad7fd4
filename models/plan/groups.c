#include "plan/groups.h"

#include "base/assert.h"

#include <string.h>

/* A digit of the device position. */
struct digit {
	int32_t stride, size;
};

enum { DIGITS_MAX = LAYOUT_PARTS_MAX + 2 * MESH_AXES_MAX };

static struct digit digit_of(const struct mesh *m, struct part p)
{
	int32_t minor = m->axis[p.axis].size / (p.pre * p.size);

	return (struct digit){.stride = (int32_t)mesh_stride(m, p.axis) * minor,
	                      .size = p.size};
}

/*
 * Returns the coordinate of a position in mixed radix over digits, the first most
 * major.
 */
static int32_t digits_value(const struct digit *digit, int n, int32_t position)
{
	int32_t value = 0;

	for (int k = 0; k < n; k++)
		value = value * digit[k].size +
		        position / digit[k].stride % digit[k].size;
	return value;
}

static int digits_of_moves(struct digit *out, const struct mesh *m,
                           const struct move *moves, int nmoves)
{
	int n = 0;

	for (int i = 0; i < nmoves; i++)
		for (int k = 0; k < moves[i].nparts; k++)
			out[n++] = digit_of(m, moves[i].parts[k]);
	return n;
}

struct groups groups_of_moves(const struct mesh *m, const struct move *moves,
                              int nmoves, struct arena *a)
{
	struct digit digit[DIGITS_MAX];
	int n = digits_of_moves(digit, m, moves, nmoves);
	struct groups g = {.size = 1};
	int32_t *ids = arena_alloc(a, (size_t)m->ndevices, sizeof(*ids)), next = 0;
	int32_t *offset, *value;

	for (int k = 0; k < n; k++)
		g.size *= digit[k].size;
	g.ngroups = m->ndevices / g.size;
	offset = arena_alloc(a, (size_t)g.size, sizeof(*offset));
	for (int32_t r = 0; r < g.size; r++) {
		int32_t rest = r;

		for (int k = n - 1; k >= 0; k--) {
			offset[r] += rest % digit[k].size * digit[k].stride;
			rest /= digit[k].size;
		}
	}
	value = arena_alloc(a, (size_t)m->ndevices, sizeof(*value));
	for (int k = 0; k < n; k++)
		mesh_add_digit(value, 1, m->ndevices, digit[k].stride, digit[k].size, 1);
	for (int32_t p = 0; p < m->ndevices; p++) {
		if (value[p] != 0)
			continue;
		for (int32_t r = 0; r < g.size; r++)
			ids[next++] = mesh_device(m, p + offset[r]);
	}
	assert(next == m->ndevices);
	g.ids = ids;
	return g;
}

const int32_t *chunks_of_moves(const struct mesh *m, const struct move *moves,
                               int nmoves, struct arena *a)
{
	size_t cells = (size_t)m->ndevices * (size_t)nmoves;
	int32_t *chunk = arena_alloc(a, cells, sizeof(*chunk));
	struct digit digit[DIGITS_MAX];

	for (int i = 0; i < nmoves; i++) {
		int n = digits_of_moves(digit, m, moves + i, 1);

		for (int32_t p = 0; p < m->ndevices; p++)
			chunk[(int64_t)mesh_device(m, p) * nmoves + i] =
				digits_value(digit, n, p);
	}
	return chunk;
}

/* Returns the digits of `axis` that no part of `used` covers, major to minor. */
static int unused_digits(struct digit *out, const struct mesh *m, int axis,
                         const struct part *used, int nused)
{
	int32_t size = m->axis[axis].size, pre = 1;
	int n = 0;

	while (pre < size) {
		const struct part *next = NULL;
		int32_t end;

		for (int k = 0; k < nused; k++)
			if (used[k].axis == axis && used[k].size > 1 &&
			    used[k].pre >= pre && (!next || used[k].pre < next->pre))
				next = &used[k];
		end = next ? next->pre : size;
		if (end > pre)
			out[n++] = digit_of(
				m, (struct part){(int16_t)axis, pre, end / pre});
		pre = next ? next->pre * next->size : size;
	}
	return n;
}

const int32_t *devices_in_order(const struct layout *l, const struct mesh *m,
                                struct arena *a)
{
	struct digit digit[DIGITS_MAX];
	int n = 0, nparts = 0;
	int32_t *order;

	if (l->kind == LAYOUT_TILES)
		return l->tiling->ids;
	assert(l->kind == LAYOUT_AXES);
	for (int dim = 0; dim < l->rank; dim++)
		nparts += l->nparts[dim];
	for (int k = 0; k < nparts; k++)
		digit[n++] = digit_of(m, l->part[k]);
	for (int x = 0; x < m->naxes; x++)
		n += unused_digits(digit + n, m, x, l->part, nparts);
	order = arena_alloc(a, (size_t)m->ndevices, sizeof(*order));
	for (int32_t p = 0; p < m->ndevices; p++)
		order[digits_value(digit, n, p)] = mesh_device(m, p);
	return order;
}

const struct pair *pairs_of_layouts(const struct layout *from, const struct layout *to,
                                    const struct mesh *m, struct arena *a)
{
	const int32_t *src = devices_in_order(from, m, a);
	const int32_t *dst = devices_in_order(to, m, a);
	struct pair *pairs = arena_alloc(a, (size_t)m->ndevices, sizeof(*pairs));

	for (int32_t i = 0; i < m->ndevices; i++)
		pairs[src[i]] = (struct pair){.src = src[i], .dst = dst[i]};
	return pairs;
}

/*
 * Writes the parts of `longer` behind `shorter` as a move's parts. Returns false unless
 * `longer` begins with `shorter`.
 */
static bool suffix(struct move *out, const struct part *longer, int nlonger,
                   const struct part *shorter, int nshorter, struct arena *a)
{
	if (nlonger < nshorter)
		return false;
	for (int k = 0; k < nshorter; k++)
		if (memcmp(&longer[k], &shorter[k], sizeof(*longer)) != 0)
			return false;
	out->nparts = nlonger - nshorter;
	out->parts =
		arena_dup(a, longer + nshorter, (size_t)out->nparts, sizeof(*longer));
	out->factor = 1;
	for (int k = 0; k < out->nparts; k++)
		out->factor *= out->parts[k].size;
	return true;
}

/* Returns the same layout in prime digits, so that prefixes can be compared. */
static struct layout split_parts(const struct layout *l)
{
	struct layout out = layout_replicated(l->rank);
	struct part digit[LAYOUT_PARTS_MAX];

	for (int dim = 0; dim <= l->rank; dim++) {
		int n = layout_digits(digit, l, dim);

		for (int k = 0; k < n; k++)
			if (!layout_append(&out, dim, digit[k]))
				return *l;
	}
	return out;
}

/* Joins neighbouring digits of a move again. */
static void merge_parts(struct move *move, struct arena *a)
{
	struct layout l = layout_replicated(1);
	int n;

	for (int k = 0; k < move->nparts; k++)
		layout_append(&l, 0, move->parts[k]);
	layout_normalise(&l);
	layout_parts(&l, 0, &n);
	move->nparts = n;
	move->parts = arena_dup(a, l.part, (size_t)n, sizeof(struct part));
}

static int all_to_all_moves(struct move *out, const struct move *lost, int nlost,
                            const struct move *won, int nwon)
{
	if (nlost != nwon)
		return -1;
	for (int i = 0; i < nwon; i++) {
		int match = -1;

		for (int j = 0; j < nlost && match < 0; j++)
			if (lost[j].nparts == won[i].nparts &&
			    memcmp(lost[j].parts, won[i].parts,
			           (size_t)won[i].nparts * sizeof(struct part)) == 0)
				match = j;
		if (match < 0)
			return -1;
		out[i] = won[i];
		out[i].from_dim = lost[match].from_dim;
	}
	return nwon;
}

int moves_between(struct move *out, enum op op, const struct layout *before,
                  const struct layout *after, struct arena *a)
{
	struct layout b = split_parts(before), c = split_parts(after);
	struct move lost[RANK_MAX], won[RANK_MAX];
	int nlost = 0, nwon = 0;

	for (int dim = 0; dim < b.rank; dim++) {
		int nb, nc;
		const struct part *pb = layout_parts(&b, dim, &nb);
		const struct part *pc = layout_parts(&c, dim, &nc);
		struct move *move = nb > nc ? &lost[nlost] : &won[nwon];

		*move = (struct move){.from_dim = nb > nc ? dim : -1,
		                      .to_dim = nb > nc ? -1 : dim};
		if (nb > nc ? !suffix(move, pb, nb, pc, nc, a)
		            : !suffix(move, pc, nc, pb, nb, a))
			return -1;
		nlost += nb > nc;
		nwon += nc > nb;
	}
	for (int i = 0; i < nlost; i++)
		merge_parts(&lost[i], a);
	for (int i = 0; i < nwon; i++)
		merge_parts(&won[i], a);
	if (op == OP_ALL_TO_ALL)
		return all_to_all_moves(out, lost, nlost, won, nwon);
	if ((op == OP_SLICE && nlost > 0) || (op == OP_ALL_GATHER && nwon > 0))
		return -1;
	memcpy(out, op == OP_SLICE ? won : lost, sizeof(lost));
	return op == OP_SLICE ? nwon : nlost;
}
