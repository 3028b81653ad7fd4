/*
 * Lifting: from classes of types back to types and plans (models/README.md, The synthesizer).
 */
#include "planner/synth/weak.h"

#include <assert.h>
#include <string.h>

enum { UNNAMED = 32, FLAT_MAX = 32 };

struct lifting {
	const struct weak *w;
	int n; /* types of the flat part, the first after the slice */
	struct type type[FLAT_MAX];
	int nunnamed;
	uint8_t size_class[ATOMS_MAX], name[ATOMS_MAX]; /* of the sliced atoms */
	bool named[ATOMS_MAX];
	uint32_t taken; /* atoms that cannot be given as a name any more */
};

static void move_blocks(struct lifting *x, const struct weak_moves *moves)
{
	struct type t = x->type[x->n - 1];

	for (int k = 0; k < moves->n; k++)
		type_shift(&t, moves->move[k].from, moves->move[k].to, moves->move[k].n);
	assert(x->n < FLAT_MAX);
	x->type[x->n++] = t;
}

/* The flat part with the sliced atoms unnamed. */
static void run_moves(struct lifting *x, const struct weak_candidate *c)
{
	const struct weak *w = x->w;
	int32_t chain[FLAT_MAX];
	int n = 0;
	struct type t = w->from;
	const struct type *start;

	for (int32_t i = c->state; i >= 0; i = w->states.state.at[i].parent) {
		assert(n < FLAT_MAX);
		chain[n++] = i;
	}
	assert(n > 0);
	start = &w->states.type.at[chain[n - 1]];
	for (int dim = 0; dim < t.rank; dim++) {
		for (int k = t.count[dim]; k < start->count[dim]; k++) {
			uint8_t symbol = type_stack(start, dim)[k];
			uint8_t unnamed = (uint8_t)(UNNAMED + x->nunnamed);

			x->size_class[x->nunnamed++] = symbol - SYMBOL_FRESH;
			type_push(&t, dim, &unnamed, 1);
		}
	}
	x->type[x->n++] = t;
	for (int k = n - 2; k >= 0; k--)
		move_blocks(x, &w->moves.at[chain[k]]);
	if (c->end == WEAK_END_ALL_TO_ALL)
		move_blocks(x, &c->last);
}

static void give_name(struct lifting *x, int unnamed, int atom)
{
	x->name[unnamed] = (uint8_t)atom;
	x->named[unnamed] = true;
	x->taken |= UINT32_C(1) << atom;
}

/* Where an unnamed atom ended in a place of the target, it is the atom wanted there. */
static void name_by_place(struct lifting *x)
{
	const struct type *t = &x->type[x->n - 1], *to = &x->w->to;

	for (int dim = 0; dim < t->rank; dim++) {
		const uint8_t *have = type_stack(t, dim), *want = type_stack(to, dim);

		for (int k = 0; k < t->count[dim] && k < to->count[dim]; k++) {
			int u = have[k] - UNNAMED;

			if (u >= 0 && !(x->taken >> want[k] & 1) &&
			    x->size_class[u] == x->w->size_class[want[k]])
				give_name(x, u, want[k]);
		}
	}
}

/* The others: atoms that the target wants elsewhere, then any. */
static void name_the_rest(struct lifting *x)
{
	const struct weak *w = x->w;

	for (int u = 0; u < x->nunnamed; u++) {
		int found = -1;

		for (int a = 0; a < w->s->atoms.n && !x->named[u]; a++) {
			bool wanted = w->in_to >> a & 1;

			if ((x->taken >> a & 1) || w->size_class[a] != x->size_class[u])
				continue;
			if (found < 0 || (wanted && !(w->in_to >> found & 1)))
				found = a;
		}
		if (!x->named[u]) {
			assert(found >= 0);
			give_name(x, u, found);
		}
	}
	for (int i = 0; i < x->n; i++)
		for (int k = type_first(&x->type[i], w->to.rank) - 1; k >= 0; k--)
			if (x->type[i].atom[k] >= UNNAMED)
				x->type[i].atom[k] =
					x->name[x->type[i].atom[k] - UNNAMED];
}

/*
 * Take the lowest atom of a size that the target does not use and `taken` does not
 * hold.
 */
static uint8_t spare_atom(const struct weak *w, int size_class, uint32_t *taken)
{
	int a = 0;

	while ((*taken >> a & 1) || w->size_class[a] != size_class)
		a++;
	assert(a < w->s->atoms.n);
	*taken |= UINT32_C(1) << a;
	return (uint8_t)a;
}

/*
 * The type that a permute leads to: the target, and on top of it as many atoms as `t`
 * has, the same ones in the same dimension where possible.
 */
static struct type permuted(const struct weak *w, const struct type *t)
{
	struct type out = w->to;
	uint32_t taken;

	for (int dim = 0; dim < t->rank; dim++) {
		int lacks[ATOMS_MAX] = {0};
		const uint8_t *have = type_stack(t, dim),
			      *want = type_stack(&w->to, dim);

		for (int k = 0; k < t->count[dim]; k++)
			lacks[w->size_class[have[k]]]++;
		for (int k = 0; k < w->to.count[dim]; k++)
			lacks[w->size_class[want[k]]]--;
		for (int k = 0; k < t->count[dim]; k++) {
			int c = w->size_class[have[k]];

			if ((w->in_to >> have[k] & 1) || lacks[c] == 0)
				continue;
			type_push(&out, dim, &have[k], 1);
			lacks[c]--;
		}
	}
	taken = type_used(&out) | w->in_to;
	for (int dim = 0; dim < t->rank; dim++) {
		const uint8_t *have = type_stack(t, dim);

		for (int k = 0; k < t->count[dim]; k++) {
			int c = w->size_class[have[k]], n = 0;

			for (int j = 0; j < t->count[dim]; j++)
				n += w->size_class[have[j]] == c;
			for (int j = 0; j < out.count[dim]; j++)
				n -= w->size_class[type_stack(&out, dim)[j]] == c;
			for (; n > 0; n--) {
				uint8_t atom = spare_atom(w, c, &taken);

				type_push(&out, dim, &atom, 1);
			}
		}
	}
	return out;
}

static enum op opposite(enum op op)
{
	if (op == OP_SLICE)
		return OP_ALL_GATHER;
	return op == OP_ALL_GATHER ? OP_SLICE : op;
}

/* Turn a path from `from` round, so that it leads to it. */
static void turn_round(struct path *p, const struct type *from)
{
	struct path old = *p;

	p->n = 0;
	for (int k = old.n - 1; k >= 0; k--)
		path_add(p, opposite(old.hop[k].op), k ? &old.hop[k - 1].after : from);
}

void weak_lift(struct path *out, const struct weak *w, const struct weak_candidate *c)
{
	struct lifting x = {.w = w, .taken = w->in_from};
	struct type last;

	run_moves(&x, c);
	name_by_place(&x);
	name_the_rest(&x);
	out->n = 0;
	if (!type_equal(&x.type[0], &w->from))
		path_add(out, OP_SLICE, &x.type[0]);
	for (int i = 1; i < x.n; i++)
		path_add(out, OP_ALL_TO_ALL, &x.type[i]);
	last = x.type[x.n - 1];
	if (c->end == WEAK_END_PERMUTE) {
		struct type t = permuted(w, &last);

		if (!type_equal(&t, &last))
			path_add(out, OP_PERMUTE, &t);
		last = t;
	}
	if (!type_equal(&last, &w->to))
		path_add(out, OP_ALL_GATHER, &w->to);
	if (w->backwards)
		turn_round(out, &w->from);
}
