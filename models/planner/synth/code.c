#include "planner/synth/code.h"

#include "base/assert.h"

#include <string.h>

static_assert(8 * TYPE_RANK_MAX < 1 << CODE_BITS, "room for every place");

void coded_init(struct coded *out, struct synth *s)
{
	const struct atoms *atoms = &s->atoms;

	assert(atoms->n <= CODE_ATOMS_MAX);
	*out = (struct coded){.s = s,
	                      .rank = s->from.rank,
	                      .natoms = atoms->n,
	                      .from_code = code_of_type(&s->from),
	                      .to_code = code_of_type(&s->to),
	                      .in_to = type_used(&s->to),
	                      .source = synth_elements(s, &s->from),
	                      .target = synth_elements(s, &s->to)};
	for (int a = atoms->n - 1; a >= 0; a--) {
		out->size[a] = atoms->atom[a].size;
		for (int b = atoms->n - 1; b >= 0; b--)
			if (atoms->atom[b].size == atoms->atom[a].size)
				out->size_class[a] = (uint8_t)b;
	}
}

uint64_t code_of_type(const struct type *t)
{
	const uint8_t *atom = t->atom;
	uint64_t code = 0;

	for (int dim = 0; dim < t->rank; dim++)
		for (int k = 0; k < t->count[dim]; k++)
			code += code_of_atom(*atom++, dim, k);
	return code;
}

uint32_t code_used(uint64_t code)
{
	uint32_t used = 0;

	for (int a = 0; a < CODE_ATOMS_MAX; a++)
		if (code >> CODE_BITS * a & ((1 << CODE_BITS) - 1))
			used |= UINT32_C(1) << a;
	return used;
}

void code_stacks(struct stacks *out, uint64_t code, int rank)
{
	memset(out->count, 0, sizeof(out->count));
	out->rank = rank;
	for (int a = 0; a < CODE_ATOMS_MAX; a++) {
		int place = (int)(code >> CODE_BITS * a & ((1 << CODE_BITS) - 1)) - 1;

		if (place < 0)
			continue;
		out->atom[place / 8][place % 8] = (uint8_t)a;
		out->count[place / 8]++;
	}
}

bool code_lists(uint64_t code, uint64_t listed, int natoms)
{
	uint64_t mask = 0;

	for (int a = 0; a < natoms; a++)
		if (listed >> CODE_BITS * a & ((1 << CODE_BITS) - 1))
			mask |= (UINT64_C(1) << CODE_BITS * (a + 1)) -
			        (UINT64_C(1) << CODE_BITS * a);
	return (code & mask) == listed;
}

uint64_t code_of_shape(const struct stacks *t, const uint8_t *size_class, int natoms)
{
	uint64_t shape = 0;
	int at = 0;

	for (int dim = 0; dim < t->rank; dim++) {
		int count[CODE_ATOMS_MAX] = {0};

		for (int k = 0; k < t->count[dim]; k++)
			count[size_class[t->atom[dim][k]]]++;
		for (int c = natoms - 1; c >= 0; c--)
			for (; count[c] > 0; count[c]--)
				shape += code_of_atom(at++, dim, c);
	}
	return shape;
}

struct local_shape {
	int n, natoms;
	const uint8_t *size_class;
	uint8_t dim[CODE_ATOMS_MAX + 1];             /* of each atom listed */
	uint8_t left[TYPE_RANK_MAX][CODE_ATOMS_MAX]; /* of each size, not yet placed */
};

/* Adds all types of a shape, where `code` has atoms in its first `at` places. */
static void add_types(struct shape_types *out, struct local_shape *shape, uint64_t code,
                      int at, uint32_t used)
{
	int dim, place = 0;

	if (at == shape->n) {
		assert(out->n < SHAPE_TYPES_MAX);
		out->code[out->n++] = code;
		return;
	}
	dim = shape->dim[at];
	while (place < at && shape->dim[at - 1 - place] == dim)
		place++;
	for (int a = 0; a < shape->natoms; a++) {
		uint8_t *left = &shape->left[dim][shape->size_class[a]];

		if ((used >> a & 1) || *left == 0)
			continue;
		--*left;
		add_types(out, shape, code + code_of_atom(a, dim, place), at + 1,
		          used | UINT32_C(1) << a);
		++*left;
	}
}

void shape_types_list(struct shape_types *out, uint64_t shape,
                      const uint8_t *size_class, int natoms)
{
	struct local_shape local = {.natoms = natoms, .size_class = size_class};

	for (; local.n < natoms; local.n++) {
		int place =
			(int)(shape >> CODE_BITS * local.n & ((1 << CODE_BITS) - 1)) - 1;

		if (place < 0)
			break;
		local.dim[local.n] = (uint8_t)(place / 8);
		local.left[place / 8][place % 8]++;
	}
	out->n = 0;
	add_types(out, &local, 0, 0, 0);
}

struct type code_type(uint64_t code, int rank)
{
	struct stacks stacks;
	struct type t;

	memset(&t, 0, sizeof(t));
	t.rank = (uint8_t)rank;
	code_stacks(&stacks, code, rank);
	for (int dim = 0; dim < rank; dim++)
		type_push(&t, dim, stacks.atom[dim], stacks.count[dim]);
	return t;
}

void stacks_extents(int64_t *extent, const struct stacks *t, const struct synth *s)
{
	for (int dim = 0; dim < t->rank; dim++) {
		int64_t shards = 1;

		for (int k = 0; k < t->count[dim]; k++)
			shards *= s->atoms.atom[t->atom[dim][k]].size;
		extent[dim] = s->problem->padded.dim[dim] / shards;
	}
}

static int add_list(struct lists *lists, int natoms, uint32_t used, const uint8_t *atom,
                    int n)
{
	int list = lists->n++;

	lists->count[list] = (uint8_t)n;
	memcpy(lists->atom[list], atom, sizeof(lists->atom[list]));
	for (int a = 0; a < natoms; a++) {
		uint8_t more[CODE_ATOMS_MAX];

		if (used >> a & 1)
			continue;
		memcpy(more, atom, sizeof(more));
		more[n] = (uint8_t)a;
		lists->after[list][a] = (int16_t)add_list(
			lists, natoms, used | UINT32_C(1) << a, more, n + 1);
	}
	return list;
}

void lists_make(struct lists *out, int natoms)
{
	const uint8_t none[CODE_ATOMS_MAX] = {0};

	assert(natoms <= CODE_ATOMS_MAX);
	out->n = 0;
	add_list(out, natoms, 0, none, 0);
	assert(out->n <= LISTS_MAX);
}

/*
 * Returns whether a factor divides an extent. Nearly all factors are powers of two, and
 * a division is slow.
 */
static bool divides(int64_t factor, int64_t extent)
{
	if (factor & (factor - 1))
		return extent % factor == 0;
	return (extent & (factor - 1)) == 0;
}

void block_moves_list(struct block_moves *out, const struct stacks *t,
                      const int64_t *extent, const struct synth *s)
{
	out->n = 0;
	for (int from = 0; from < t->rank; from++) {
		int count = t->count[from], first = out->n;
		const uint8_t *end = t->atom[from] + count;
		uint64_t ones = 0;
		int64_t factor = 1;

		for (int n = 1; n <= count; n++) {
			factor *= s->atoms.atom[end[-n]].size;
			ones += UINT64_C(1) << CODE_BITS * end[-n];
			for (int to = 0; to < t->rank; to++) {
				uint64_t there = 8 * (uint64_t)to + t->count[to];
				uint64_t was = 8 * (uint64_t)from + count - n;

				if (to == from || !divides(factor, extent[to]))
					continue;
				out->move[out->n++] =
					(struct block_move){.from = (uint8_t)from,
				                            .to = (uint8_t)to,
				                            .n = (uint8_t)n,
				                            .add = (there - was) * ones};
			}
		}
		for (int i = first; i < out->n; i++)
			out->move[i].next = out->n;
	}
}

int chosen_list(const struct lists *lists, const struct stacks *t,
                const struct chosen *chosen)
{
	const struct block_move *by_arrival[TYPE_RANK_MAX / 2];
	int list = 0;

	for (int i = 0; i < chosen->n; i++) {
		int at = i;

		for (; at > 0 && by_arrival[at - 1]->to > chosen->move[i]->to; at--)
			by_arrival[at] = by_arrival[at - 1];
		by_arrival[at] = chosen->move[i];
	}
	for (int i = 0; i < chosen->n; i++) {
		const struct block_move *m = by_arrival[i];
		const uint8_t *end = t->atom[m->from] + t->count[m->from];

		list = lists_append(lists, list, end - m->n, m->n);
	}
	return list;
}
