#include "array/type.h"

#include "base/assert.h"

#include <string.h>

static_assert((int)ATOMS_MAX < (int)LAYOUT_PARTS_MAX,
              "a layout has room for all atoms");

enum { CUTS_MAX = 4 * LAYOUT_PARTS_MAX + 2 * MESH_AXES_MAX + 2 };

/* Boundaries between digits of the position: a set of divisors of N. */
struct cuts {
	int n;
	int64_t at[CUTS_MAX];
};

static void cuts_add(struct cuts *c, int64_t at)
{
	int i = c->n;

	for (int k = 0; k < c->n; k++)
		if (c->at[k] == at)
			return;
	assert(c->n < CUTS_MAX);
	for (; i > 0 && c->at[i - 1] > at; i--)
		c->at[i] = c->at[i - 1];
	c->at[i] = at;
	c->n++;
}

static void cuts_of_layout(struct cuts *c, const struct layout *l, const struct mesh *m)
{
	int n = l->nunreduced;

	for (int i = 0; i < l->rank; i++)
		n += l->nparts[i];
	for (int i = 0; i < n; i++) {
		struct part p = l->part[i];
		int64_t top = mesh_stride(m, p.axis) * m->axis[p.axis].size / p.pre;

		cuts_add(c, top);
		cuts_add(c, top / p.size);
	}
	for (int x = 0; x < m->naxes; x++)
		cuts_add(c, mesh_stride(m, x));
}

/*
 * Adds the prime factors between two cuts, the smallest most minor; returns false when
 * too many.
 */
static bool add_atoms(struct atoms *out, int64_t lo, int64_t hi)
{
	int64_t rest = hi / lo, stride = lo;

	for (int64_t p = 2; rest > 1; p += rest % p ? 1 : 0) {
		if (p * p > rest)
			p = rest;
		if (rest % p)
			continue;
		if (out->n == ATOMS_MAX)
			return false;
		memmove(out->atom + 1, out->atom, (size_t)out->n * sizeof(out->atom[0]));
		out->atom[0] =
			(struct atom){.stride = (int32_t)stride, .size = (int32_t)p};
		out->n++;
		stride *= p;
		rest /= p;
	}
	return true;
}

static bool same_ids(const struct mesh *a, const struct mesh *b)
{
	if (a->ndevices != b->ndevices)
		return false;
	if (a->ids == b->ids)
		return true;
	for (int32_t i = 0; i < a->ndevices; i++)
		if (mesh_device(a, i) != mesh_device(b, i))
			return false;
	return true;
}

bool atoms_common(struct atoms *out, const struct layout *l1, const struct mesh *m1,
                  const struct layout *l2, const struct mesh *m2, struct text *why)
{
	struct cuts cuts = {.n = 1, .at = {1}};

	memset(out, 0, sizeof(*out));
	if (l1->kind != LAYOUT_AXES || l2->kind != LAYOUT_AXES) {
		text_printf(why, "a layout is a device list that no mesh axes can say");
		return false;
	}
	if (!same_ids(m1, m2)) {
		text_printf(why, "the two meshes order their devices differently");
		return false;
	}
	if (l1->rank > TYPE_RANK_MAX) {
		text_printf(why, "more than %d dimensions", TYPE_RANK_MAX);
		return false;
	}
	cuts_of_layout(&cuts, l1, m1);
	cuts_of_layout(&cuts, l2, m2);
	cuts_add(&cuts, m1->ndevices);
	for (int i = 1; i < cuts.n; i++) {
		if (cuts.at[i] % cuts.at[i - 1] != 0) {
			text_printf(
				why,
				"the layouts have no common sub-axes (digits ending "
				"at strides %lld and %lld of the device position)",
				(long long)cuts.at[i - 1], (long long)cuts.at[i]);
			return false;
		}
		if (!add_atoms(out, cuts.at[i - 1], cuts.at[i])) {
			text_printf(why, "more than %d prime factors in the mesh",
			            ATOMS_MAX);
			return false;
		}
	}
	return true;
}

int atoms_of_part(uint8_t *out, const struct atoms *atoms, const struct mesh *m,
                  struct part part)
{
	int64_t top = mesh_stride(m, part.axis) * m->axis[part.axis].size / part.pre;
	int64_t low = top / part.size;
	int n = 0;

	/* Atoms are in falling stride. */
	for (int i = 0; i < atoms->n; i++)
		if (atoms->atom[i].stride >= low && atoms->atom[i].stride < top)
			out[n++] = (uint8_t)i;
	return n;
}

struct type type_of_layout(const struct layout *l, const struct mesh *m,
                           const struct atoms *atoms)
{
	struct type t;
	int at = 0;

	memset(&t, 0, sizeof(t));
	assert(l->kind == LAYOUT_AXES && l->rank <= TYPE_RANK_MAX);
	t.rank = (uint8_t)l->rank;
	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++) {
			int count = atoms_of_part(t.atom + at, atoms, m, part[k]);

			at += count;
			t.count[dim] = (uint8_t)(t.count[dim] + count);
		}
	}
	return t;
}

/*
 * Finds the part that an atom is on mesh m; returns false if it is in no single axis.
 */
static bool part_of_atom(struct part *out, struct atom atom, const struct mesh *m)
{
	for (int x = 0; x < m->naxes; x++) {
		int64_t lo = mesh_stride(m, x), hi = lo * m->axis[x].size;
		int64_t top = (int64_t)atom.stride * atom.size;

		if (atom.stride < lo || atom.stride >= hi)
			continue;
		if (atom.stride % lo || top > hi || hi % top)
			return false;
		*out = (struct part){.axis = (int16_t)x,
		                     .pre = (int32_t)(hi / top),
		                     .size = atom.size};
		return true;
	}
	return false;
}

/* Merges a part with the one before where it continues that, and returns whether it does. */
static bool part_continues(struct part *last, const struct part *part)
{
	if (last->axis != part->axis || last->pre * last->size != part->pre)
		return false;
	last->size *= part->size;
	return true;
}

bool layout_of_type(struct layout *out, const struct type *t, const struct atoms *atoms,
                    const struct mesh *m)
{
	const uint8_t *atom = t->atom;
	int n = 0;

	*out = layout_replicated(t->rank);
	for (int dim = 0; dim < t->rank; dim++) {
		int first = n;

		for (const uint8_t *end = atom + t->count[dim]; atom < end; atom++) {
			struct part *part = &out->part[n];

			if (!part_of_atom(part, atoms->atom[*atom], m))
				return false;
			if (n == first || !part_continues(&part[-1], part))
				n++;
		}
		out->nparts[dim] = (uint8_t)(n - first);
	}
	out->part[n] = (struct part){0};
	return true;
}

int type_first(const struct type *t, int dim)
{
	int n = 0;

	for (int i = 0; i < dim; i++)
		n += t->count[i];
	return n;
}

int64_t type_shards(const struct type *t, const struct atoms *atoms, int dim)
{
	int64_t shards = 1;
	int first = type_first(t, dim);

	for (int k = 0; k < t->count[dim]; k++)
		shards *= atoms->atom[t->atom[first + k]].size;
	return shards;
}

/* --- stacks ----------------------------------------------------------------------- */

const uint8_t *type_stack(const struct type *t, int dim)
{
	return t->atom + type_first(t, dim);
}

void type_push(struct type *t, int dim, const uint8_t *atoms, int n)
{
	int at = type_first(t, dim + 1), end = type_first(t, t->rank);

	assert(end + n <= ATOMS_MAX);
	memmove(t->atom + at + n, t->atom + at, (size_t)(end - at));
	memcpy(t->atom + at, atoms, (size_t)n);
	t->count[dim] = (uint8_t)(t->count[dim] + n);
}

void type_pop(struct type *t, int dim, uint8_t *out, int n)
{
	int at = type_first(t, dim + 1), end = type_first(t, t->rank);

	assert(n <= t->count[dim]);
	if (out)
		memcpy(out, t->atom + at - n, (size_t)n);
	memmove(t->atom + at - n, t->atom + at, (size_t)(end - at));
	memset(t->atom + end - n, 0, (size_t)n);
	t->count[dim] = (uint8_t)(t->count[dim] - n);
}

void type_shift(struct type *t, int from, int to, int n)
{
	uint8_t block[ATOMS_MAX];

	type_pop(t, from, block, n);
	type_push(t, to, block, n);
}

bool type_equal(const struct type *a, const struct type *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

uint32_t type_used(const struct type *t)
{
	uint32_t used = 0;

	for (int i = type_first(t, t->rank) - 1; i >= 0; i--)
		used |= UINT32_C(1) << t->atom[i];
	return used;
}
