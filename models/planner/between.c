#include "planner/between.h"

#include "base/assert.h"

#include <string.h>

/*
 * So few prime digits are pieces each: halves of axes may be on top of each other then.
 * With four of them layouts are often too many for the work there is: 82 of 2,352 pairs
 * stay open then on 24 devices of a torus, and 17 with this.
 */
enum { PRIMES_MAX = 3 };

/* --- pieces ----------------------------------------------------------------------- */

/* Returns whether the type lists neither of two atoms, or the second behind the first. */
static bool are_together(const struct type *t, int first, int second)
{
	int at = 0;

	for (int dim = 0; dim < t->rank; dim++)
		for (int k = 0; k < t->count[dim]; k++, at++) {
			if (t->atom[at] == first)
				return k + 1 < t->count[dim] &&
				       t->atom[at + 1] == second;
			if (t->atom[at] == second)
				return false;
		}
	return true;
}

static int axis_of(const struct mesh *m, struct atom atom)
{
	for (int axis = 0; axis < m->naxes; axis++)
		if (atom.stride >= mesh_stride(m, axis))
			return axis;
	return m->naxes;
}

/* Joins atoms of one axis that both ends list together, or not at all. */
static void join_atoms(struct types_between *t, const struct mesh *m,
                       const struct atoms *prime)
{
	t->pieces.n = 0;
	for (int i = 0; i < prime->n; i++) {
		struct atom atom = prime->atom[i];
		struct atom *last =
			t->pieces.n > 0 ? &t->pieces.atom[t->pieces.n - 1] : NULL;

		if (last && axis_of(m, atom) == axis_of(m, *last) &&
		    are_together(&t->from, i - 1, i) && are_together(&t->to, i - 1, i))
			*last = (struct atom){atom.stride, last->size * atom.size};
		else
			t->pieces.atom[t->pieces.n++] = atom;
	}
}

/* --- tiles ------------------------------------------------------------------------ */

static bool divides(const struct types_between *t, const struct type *type)
{
	const int64_t *extent = t->shape.dim;
	const uint8_t *atom = type->atom;

	for (int dim = 0; dim < type->rank; dim++) {
		int64_t shards = 1;

		for (int k = 0; k < type->count[dim]; k++)
			shards *= t->pieces.atom[*atom++].size;
		if (shards > 1 && extent[dim] % shards != 0)
			return false;
	}
	return true;
}

/* Returns whether the tiles of both ends are even. */
static bool ends_divide(const struct types_between *t)
{
	return divides(t, &t->from) && divides(t, &t->to);
}

bool types_between(struct types_between *out, const struct types_ends *ends)
{
	const struct mesh *m = ends->mesh;
	struct atoms prime;
	struct text why = {0};
	bool done = mesh_equal(m, ends->to_mesh) &&
	            atoms_common(&prime, ends->from, m, ends->to, m, &why);

	text_free(&why);
	if (!done)
		return false;
	out->mesh = m;
	out->shape = *ends->shape;
	out->elements = shape_elements(&out->shape);
	out->from = type_of_layout(ends->from, m, &prime);
	out->to = type_of_layout(ends->to, m, &prime);
	if (ends->primes || prime.n <= PRIMES_MAX)
		out->pieces = prime;
	else
		join_atoms(out, m, &prime);
	out->from = type_of_layout(ends->from, m, &out->pieces);
	out->to = type_of_layout(ends->to, m, &out->pieces);
	out->even = ends_divide(out);
	return true;
}

static int64_t elements_of(const struct types_between *t, const struct type *type)
{
	int64_t shards = 1;

	for (int k = type_first(type, type->rank) - 1; k >= 0; k--)
		shards *= t->pieces.atom[type->atom[k]].size;
	return t->elements / shards;
}

/* The pieces of two types, dimension after dimension. */
struct walk {
	const struct type *before_type, *after_type;
	const uint8_t *next_before, *next_after; /* of the next dimension */
};

static struct walk walk_of(const struct type *before, const struct type *after)
{
	return (struct walk){before, after, before->atom, after->atom};
}

/* The pieces of a dimension behind those that two types have in common there. */
struct rest {
	int nbefore, nafter;
	const uint8_t *before, *after;
};

/* Takes the next dimension, which is `dim`. */
static struct rest walk_next(struct walk *w, int dim)
{
	struct rest rest = {w->before_type->count[dim], w->after_type->count[dim],
	                    w->next_before, w->next_after};

	w->next_before += rest.nbefore;
	w->next_after += rest.nafter;
	while (rest.nbefore && rest.nafter && *rest.before == *rest.after) {
		rest.nbefore--;
		rest.nafter--;
		rest.before++;
		rest.after++;
	}
	return rest;
}

int64_t type_lacks(const struct types_between *t, const struct type *before,
                   const struct type *after)
{
	const struct atom *atom = t->pieces.atom;
	const uint8_t *had = before->atom, *has = after->atom;
	int64_t shards = 1, union_shards = 1;

	for (int dim = 0; dim < before->rank; dim++) {
		int nhad = before->count[dim], nhas = after->count[dim], k = 0;

		for (; k < nhad && k < nhas && had[k] == has[k]; k++)
			shards *= atom[has[k]].size;
		/* two pieces have any coordinates: somewhere tiles do not meet that both cut */
		if (k < nhad && k < nhas)
			union_shards = 0;
		for (int i = k; i < nhas; i++)
			shards *= atom[has[i]].size;
		for (int i = k; i < nhad; i++)
			union_shards *= atom[had[i]].size;
		had += nhad;
		has += nhas;
	}
	if (union_shards == 0)
		return t->elements / shards;
	return t->elements / shards - t->elements / (shards * union_shards);
}

/* --- keys ------------------------------------------------------------------------- */

/* This bit says that a piece cuts the layout before. */
enum { BEFORE = 1 << 7 };
static_assert((int)ATOMS_MAX < (int)BEFORE, "a piece is one byte, with room for a bit");

/* Lists of pieces in the order of their bytes; each begins with its length. */
struct lists {
	int n, nbytes;
	uint8_t *list[2 * ATOMS_MAX], byte[4 * ATOMS_MAX];
};

static int compare_lists(const uint8_t *a, const uint8_t *b)
{
	return *a != *b ? *a - *b : memcmp(a + 1, b + 1, *a);
}

static void lists_add(struct lists *lists, uint8_t *list)
{
	int at = lists->n++;

	for (; at > 0 && compare_lists(list, lists->list[at - 1]) < 0; at--)
		lists->list[at] = lists->list[at - 1];
	lists->list[at] = list;
	lists->nbytes += 1 + *list;
}

static size_t lists_write(uint8_t *out, const struct lists *lists)
{
	size_t size = 0;

	for (int i = 0; i < lists->n; i++) {
		memcpy(out + size, lists->list[i], 1 + (size_t)*lists->list[i]);
		size += 1 + *lists->list[i];
	}
	return size;
}

/*
 * Lists the pieces of a dimension up to where both types cut it into as many tiles, and so
 * on; behind the end of one of them in lists of one piece.
 */
static void list_pieces(struct lists *lists, const struct types_between *t,
                        const struct type *before, const struct type *after, int dim)
{
	struct rest rest = {before->count[dim], after->count[dim],
	                    type_stack(before, dim), type_stack(after, dim)};

	while (rest.nbefore || rest.nafter) {
		uint8_t *list = lists->byte + lists->nbytes;
		bool both = rest.nbefore && rest.nafter;
		int64_t had = 1, has = 1;

		*list = 0;
		do {
			bool left = !rest.nafter || (rest.nbefore && had <= has);
			uint8_t piece = left ? *rest.before++ : *rest.after++;

			list[++*list] = left ? piece | BEFORE : piece;
			*(left ? &had : &has) *= t->pieces.atom[piece].size;
			*(left ? &rest.nbefore : &rest.nafter) -= 1;
		} while (both && had != has && (rest.nbefore || rest.nafter));
		lists_add(lists, list);
	}
}

size_t type_key(uint8_t out[TYPE_KEY_MAX], const struct types_between *t,
                const struct type *before, const struct type *after)
{
	struct lists lists;

	lists.n = lists.nbytes = 0;
	for (int dim = 0; dim < before->rank; dim++)
		list_pieces(&lists, t, before, after, dim);
	return lists_write(out, &lists);
}

/* --- neighbours ------------------------------------------------------------------- */

struct visitor {
	const struct types_between *t;
	void (*visit)(void *self, const struct type *type);
	void *self;
};

static void visit(const struct visitor *v, const struct type *type)
{
	if (!v->t->even || divides(v->t, type))
		v->visit(v->self, type);
}

/* Returns the type without its atom number `at`, which it stores. */
static struct type without(uint8_t *piece, const struct type *type, int dim, int at)
{
	struct type out = *type;
	int end = type_first(type, type->rank);

	*piece = out.atom[at];
	memmove(out.atom + at, out.atom + at + 1, (size_t)(end - at - 1));
	out.atom[end - 1] = 0;
	out.count[dim]--;
	return out;
}

/* Visits the type with the piece at every place. */
static void visit_with(const struct visitor *v, const struct type *type, uint8_t piece)
{
	int end = type_first(type, type->rank);

	for (int dim = 0; dim < type->rank; dim++)
		for (int k = 0; k <= type->count[dim]; k++) {
			struct type out = *type;
			int at = type_first(type, dim) + k;

			memmove(out.atom + at + 1, out.atom + at, (size_t)(end - at));
			out.atom[at] = piece;
			out.count[dim]++;
			visit(v, &out);
		}
}

static void visit_swaps(const struct visitor *v, const struct type *type)
{
	int end = type_first(type, type->rank);

	for (int i = 0; i < end; i++) {
		for (int k = i + 1; k < end; k++) {
			struct type out = *type;

			out.atom[i] = type->atom[k];
			out.atom[k] = type->atom[i];
			visit(v, &out);
		}
		for (int piece = 0; piece < v->t->pieces.n; piece++) {
			struct type out = *type;

			out.atom[i] = (uint8_t)piece;
			if (!(type_used(type) >> piece & 1))
				visit(v, &out);
		}
	}
}

void type_neighbours(const struct types_between *t, const struct type *type,
                     void (*visit_one)(void *self, const struct type *type), void *self)
{
	const struct visitor v = {t, visit_one, self};
	uint32_t used = type_used(type);

	for (int dim = 0, at = 0; dim < type->rank; dim++)
		for (int k = 0; k < type->count[dim]; k++, at++) {
			uint8_t piece;
			struct type out = without(&piece, type, dim, at);

			visit(&v, &out);
			visit_with(&v, &out, piece);
		}
	for (int piece = 0; piece < t->pieces.n; piece++)
		if (!(used >> piece & 1))
			visit_with(&v, type, (uint8_t)piece);
	visit_swaps(&v, type);
}

struct all {
	const struct visitor *v;
	int piece;
};

/* Visits a type without pieces from `piece` on, and all that have more of these. */
static void visit_from(void *self, const struct type *type)
{
	const struct all *all = self;
	const struct visitor *v = all->v;

	v->visit(v->self, type);
	for (int piece = all->piece; piece < v->t->pieces.n; piece++) {
		struct all more = {v, piece + 1};
		const struct visitor next = {v->t, visit_from, &more};

		visit_with(&next, type, (uint8_t)piece);
	}
}

bool type_all(const struct types_between *t, int most,
              void (*visit_one)(void *self, const struct type *type), void *self)
{
	const struct visitor v = {t, visit_one, self};
	struct all all = {&v, 0};
	struct type none = {.rank = t->from.rank};
	double n = 0, lists = 1;

	/* of each number of pieces: which they are, their order, and where dimensions end */
	for (int count = 0; count <= t->pieces.n; count++) {
		n += lists;
		lists *= (double)(t->pieces.n - count) * (count + none.rank) /
		         (count + 1);
	}
	if (n > most)
		return false;
	visit_from(&all, &none);
	return true;
}

/* --- steps ------------------------------------------------------------------------ */

enum op type_op(const struct type *before, const struct type *after)
{
	uint32_t lost = 0, won = 0;

	struct walk w = walk_of(before, after);

	for (int dim = 0; dim < before->rank; dim++) {
		struct rest rest = walk_next(&w, dim);

		if (rest.nbefore && rest.nafter)
			return OP_EXCHANGE;
		while (rest.nbefore > 0)
			lost |= UINT32_C(1) << rest.before[--rest.nbefore];
		while (rest.nafter > 0)
			won |= UINT32_C(1) << rest.after[--rest.nafter];
	}
	if (lost == won)
		return OP_ALL_TO_ALL;
	if (lost && won)
		return OP_EXCHANGE;
	return won ? OP_SLICE : OP_ALL_GATHER;
}

/* Returns whether what all-gathers in a dimension bring has to be unpacked (planner.h). */
static bool has_outer(const struct types_between *t, const struct type *before, int dim)
{
	for (int outer = 0; outer < dim; outer++)
		if (t->shape.dim[outer] > type_shards(before, &t->pieces, outer))
			return true;
	return false;
}

size_t type_moves(uint8_t out[TYPE_MOVES_MAX], const struct types_between *t,
                  enum op op, const struct type *before, const struct type *after)
{
	int64_t elements = elements_of(t, before);
	struct walk w = walk_of(before, after);
	struct lists lists;
	size_t size = 2;

	out[0] = (uint8_t)op;
	out[1] = 0;
	memcpy(out + size, &elements, sizeof(elements));
	size += sizeof(elements);
	lists.n = lists.nbytes = 0;
	for (int dim = 0; dim < before->rank; dim++) {
		struct rest rest = walk_next(&w, dim);
		uint8_t *list = lists.byte + lists.nbytes;

		if (rest.nbefore + rest.nafter == 0)
			continue;
		*list = (uint8_t)(rest.nbefore + rest.nafter);
		for (int k = 0; k < *list; k++)
			list[1 + k] =
				rest.nbefore ? rest.before[k] | BEFORE : rest.after[k];
		lists_add(&lists, list);
		if (op == OP_ALL_GATHER && !out[1])
			out[1] = has_outer(t, before, dim);
	}
	return size + lists_write(out + size, &lists);
}
