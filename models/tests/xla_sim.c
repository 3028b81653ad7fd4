#include "xla_sim.h"

#include <check.h>

#include <string.h>

enum { PADDING = -1 };

/* What a device holds, row-major over `shape`: numbers of elements or PADDING. */
struct buffer {
	struct shape shape;
	int64_t *value;
};

/* What all devices hold: their tiles, and which elements came beside them. */
struct sim {
	struct arena *a;
	struct shape array;
	int32_t ndevices;
	struct buffer *tile; /* [ndevices] */
	bool *beside;        /* [ndevices * elements] */
};

static int64_t elements_of(const struct sim *s)
{
	return shape_elements(&s->array);
}

static struct buffer buffer_new(struct sim *s, const struct shape *shape)
{
	struct buffer b = {.shape = *shape};

	b.value = arena_alloc(s->a, (size_t)shape_elements(shape), sizeof(*b.value));
	return b;
}

/* Row-major index to coordinates and back. */
static void coordinates(int64_t at[RANK_MAX], const struct shape *shape, int64_t i)
{
	for (int d = shape->rank - 1; d >= 0; d--) {
		at[d] = i % shape->dim[d];
		i /= shape->dim[d];
	}
}

static int64_t place_of(const int64_t at[RANK_MAX], const struct shape *shape)
{
	int64_t i = 0;

	for (int d = 0; d < shape->rank; d++)
		i = i * shape->dim[d] + at[d];
	return i;
}

/* The element number at start + at, PADDING outside the array. */
static int64_t element(const struct sim *s, const int64_t *start, const int64_t *at)
{
	int64_t sum[RANK_MAX];

	for (int d = 0; d < s->array.rank; d++) {
		sum[d] = start[d] + at[d];
		if (sum[d] >= s->array.dim[d])
			return PADDING;
	}
	return place_of(sum, &s->array);
}

/* Does the tile hold what lies from `start` on? Padding may hold anything. */
static void check_tile(struct sim *s, int32_t device, const int64_t *start)
{
	const struct buffer *b = &s->tile[device];

	for (int64_t i = 0; i < shape_elements(&b->shape); i++) {
		int64_t at[RANK_MAX], wanted;

		coordinates(at, &b->shape, i);
		wanted = element(s, start, at);
		if (wanted != PADDING)
			ck_assert_int_eq(b->value[i], wanted);
	}
}

static void sim_start(struct sim *s, const struct tiling *t)
{
	struct shape local = {.rank = t->rank};

	for (int d = 0; d < t->rank; d++)
		local.dim[d] = (s->array.dim[d] + t->tiles[d] - 1) / t->tiles[d];
	s->tile = arena_alloc(s->a, (size_t)s->ndevices, sizeof(*s->tile));
	s->beside = arena_alloc(s->a, (size_t)s->ndevices * (size_t)elements_of(s),
	                        sizeof(*s->beside));
	for (int32_t p = 0; p < s->ndevices; p++) {
		struct buffer b = buffer_new(s, &local);
		int32_t index[RANK_MAX + 1];
		int64_t start[RANK_MAX], at[RANK_MAX];

		xla_index(t, p, index);
		for (int d = 0; d < t->rank; d++)
			start[d] = index[d] * local.dim[d];
		for (int64_t i = 0; i < shape_elements(&local); i++) {
			coordinates(at, &local, i);
			b.value[i] = element(s, start, at);
		}
		s->tile[t->ids[p]] = b;
	}
}

/* Chunk number of group member r in move k, move 0 most major. */
static int32_t chunk_of(const struct xla_op *op, int32_t r, int k)
{
	for (int j = op->nmoves - 1; j > k; j--)
		r /= op->move[j].factor;
	return r % op->move[k].factor;
}

/* The member whose chunk numbers are chunk[]. */
static int32_t member_of(const struct xla_op *op, const int64_t *chunk)
{
	int64_t r = 0;

	for (int k = 0; k < op->nmoves; k++)
		r = r * op->move[k].factor + chunk[k];
	return (int32_t)r;
}

/* An all-gather or all-to-all as device `r` of the group sees it: it pulls. */
static struct buffer pull(struct sim *s, const struct xla_op *op, const int32_t *member,
                          int32_t r)
{
	struct shape before = s->tile[member[r]].shape, after = before;
	struct buffer out;

	for (int k = 0; k < op->nmoves; k++) {
		const struct move *m = &op->move[k];

		after.dim[m->from_dim] *= m->factor;
		if (m->to_dim < 0)
			continue;
		ck_assert_int_eq(before.dim[m->to_dim] % m->factor, 0);
		after.dim[m->to_dim] /= m->factor;
	}
	out = buffer_new(s, &after);
	for (int64_t i = 0; i < shape_elements(&after); i++) {
		int64_t at[RANK_MAX], chunk[RANK_MAX];

		coordinates(at, &after, i);
		for (int k = 0; k < op->nmoves; k++) {
			const struct move *m = &op->move[k];

			chunk[k] = at[m->from_dim] / before.dim[m->from_dim];
			at[m->from_dim] %= before.dim[m->from_dim];
			if (m->to_dim >= 0)
				at[m->to_dim] +=
					chunk_of(op, r, k) * after.dim[m->to_dim];
		}
		out.value[i] =
			s->tile[member[member_of(op, chunk)]].value[place_of(at, &before)];
	}
	return out;
}

static struct buffer sliced(struct sim *s, const struct xla_op *op, int32_t device)
{
	const struct buffer *tile = &s->tile[device];
	struct shape after = tile->shape;
	struct buffer out;

	for (int k = 0; k < op->nmoves; k++) {
		ck_assert_int_eq(after.dim[op->move[k].to_dim] % op->move[k].factor, 0);
		after.dim[op->move[k].to_dim] /= op->move[k].factor;
	}
	out = buffer_new(s, &after);
	for (int64_t i = 0; i < shape_elements(&after); i++) {
		int64_t at[RANK_MAX];

		coordinates(at, &after, i);
		for (int k = 0; k < op->nmoves; k++)
			at[op->move[k].to_dim] += op->chunk[device * op->nmoves + k] *
			                          after.dim[op->move[k].to_dim];
		out.value[i] = tile->value[place_of(at, &tile->shape)];
	}
	return out;
}

/* Mark what a device holds, in its tile or beside it, in `held`. */
static void mark(const struct sim *s, bool *held, int32_t device)
{
	const struct buffer *b = &s->tile[device];
	int64_t n = elements_of(s);

	for (int64_t i = 0; i < shape_elements(&b->shape); i++)
		if (b->value[i] != PADDING)
			held[b->value[i]] = true;
	for (int64_t i = 0; i < n; i++)
		held[i] |= s->beside[device * n + i];
}

/* The tile that a step claims, of elements that are held. */
static struct buffer taken(struct sim *s, const struct xla_op *op, const bool *held,
                           int32_t device)
{
	struct buffer out = buffer_new(s, &op->extent);

	for (int64_t i = 0; i < shape_elements(&op->extent); i++) {
		int64_t at[RANK_MAX];

		coordinates(at, &op->extent, i);
		out.value[i] = element(s, op->start + device * s->array.rank, at);
		if (out.value[i] != PADDING && !held[out.value[i]])
			out.value[i] = PADDING;
	}
	return out;
}

static void send_parts(struct sim *s, const struct xla_op *op)
{
	bool *sent = arena_alloc(s->a, (size_t)s->ndevices, sizeof(*sent));
	bool *got = arena_alloc(s->a, (size_t)s->ndevices, sizeof(*got));

	for (int32_t k = 0; k < op->npairs; k++) {
		struct pair p = op->pairs[k];
		const struct buffer *b = &s->tile[p.src];

		ck_assert(!sent[p.src] && !got[p.dst]);
		sent[p.src] = got[p.dst] = true;
		ck_assert(0 <= op->lo && op->lo < op->hi &&
		          op->hi <= b->shape.dim[op->dim]);
		for (int64_t i = 0; i < shape_elements(&b->shape); i++) {
			int64_t at[RANK_MAX];

			coordinates(at, &b->shape, i);
			if (b->value[i] != PADDING && at[op->dim] >= op->lo &&
			    at[op->dim] < op->hi)
				s->beside[p.dst * elements_of(s) + b->value[i]] = true;
		}
	}
}

/* The tiles after a collective step. */
static void run_groups(struct sim *s, const struct xla_op *op, struct buffer *next)
{
	for (int32_t i = 0; i < op->groups.ngroups * op->groups.size; i++) {
		int32_t r = i % op->groups.size;
		const int32_t *member = op->groups.ids + i - r;
		bool *held;

		if (op->op != OP_ALL_REDUCE) {
			next[member[r]] = pull(s, op, member, r);
			continue;
		}
		held = arena_alloc(s->a, (size_t)elements_of(s), sizeof(*held));
		for (int32_t k = 0; k < op->groups.size; k++)
			mark(s, held, member[k]);
		next[member[r]] = taken(s, op, held, member[r]);
	}
}

static void run_step(struct sim *s, const struct xla_op *op)
{
	struct buffer *next =
		arena_dup(s->a, s->tile, (size_t)s->ndevices, sizeof(*next));

	if (op->part) {
		send_parts(s, op);
	} else if (op->op == OP_PERMUTE) {
		for (int32_t k = 0; k < op->npairs; k++)
			next[op->pairs[k].dst] = s->tile[op->pairs[k].src];
	} else if (op->op == OP_SLICE) {
		for (int32_t d = 0; d < s->ndevices; d++) {
			bool *held = arena_alloc(s->a, (size_t)elements_of(s),
			                         sizeof(*held));

			if (op->window)
				mark(s, held, d);
			next[d] = op->window ? taken(s, op, held, d) : sliced(s, op, d);
		}
		memset(s->beside, 0, (size_t)s->ndevices * (size_t)elements_of(s));
	} else {
		run_groups(s, op, next);
	}
	s->tile = next;
	for (int32_t d = 0; d < s->ndevices; d++) {
		ck_assert_int_eq(shape_elements(&next[d].shape),
		                 shape_elements(&op->extent));
		for (int k = 0; k < s->array.rank; k++)
			ck_assert_int_eq(next[d].shape.dim[k], op->extent.dim[k]);
		check_tile(s, d, op->start + d * s->array.rank);
	}
}

void xla_simulate(const struct xla *x, const struct shape *array,
                  const struct tiling *s, const struct tiling *t)
{
	struct sim sim = {.a = x->arena, .array = *array, .ndevices = s->ndevices};
	int64_t start[RANK_MAX];
	int32_t index[RANK_MAX + 1];

	sim_start(&sim, s);
	for (int k = 0; k < x->nops; k++)
		run_step(&sim, &x->op[k]);
	for (int32_t p = 0; p < t->ndevices; p++) {
		const struct buffer *b = &sim.tile[t->ids[p]];

		xla_index(t, p, index);
		for (int d = 0; d < t->rank; d++) {
			int64_t local = (array->dim[d] + t->tiles[d] - 1) / t->tiles[d];

			ck_assert_int_eq(b->shape.dim[d], local);
			start[d] = index[d] * local;
		}
		check_tile(&sim, t->ids[p], start);
	}
}
