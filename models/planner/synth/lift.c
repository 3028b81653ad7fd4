/*
 * Lifting: from classes of types back to types and plans (models/README.md, The synthesizer).
 */
#include "base/assert.h"
#include "planner/synth/weak.h"

#include <string.h>

enum { UNNAMED = 32, FLAT_MAX = 32 };

struct lifting {
	const struct weak *weak;
	int n; /* types of the flat part, the first after the slice */
	struct type type[FLAT_MAX];
	int nunnamed;
	uint8_t size_class[ATOMS_MAX], name[ATOMS_MAX]; /* of the sliced atoms */
	bool named[ATOMS_MAX];
	uint32_t taken; /* atoms that cannot be given as a name any more */
};

static void move_blocks(struct lifting *lifting, const struct weak_moves *moves)
{
	struct type t = lifting->type[lifting->n - 1];

	for (int k = 0; k < moves->n; k++)
		type_shift(&t, moves->move[k].from, moves->move[k].to, moves->move[k].n);
	assert(lifting->n < FLAT_MAX);
	lifting->type[lifting->n++] = t;
}

/* Runs the flat part with the sliced atoms unnamed. */
static void run_moves(struct lifting *lifting, const struct weak_candidate *c)
{
	const struct weak *weak = lifting->weak;
	int32_t chain[FLAT_MAX];
	int n = 0;
	struct type t = weak->from;
	const struct type *start;

	for (int32_t i = c->state; i >= 0; i = weak->states.state.at[i].parent) {
		assert(n < FLAT_MAX);
		chain[n++] = i;
	}
	assert(n > 0);
	start = &weak->states.type.at[chain[n - 1]];
	for (int dim = 0; dim < t.rank; dim++) {
		for (int k = t.count[dim]; k < start->count[dim]; k++) {
			uint8_t symbol = type_stack(start, dim)[k];
			uint8_t unnamed = (uint8_t)(UNNAMED + lifting->nunnamed);

			lifting->size_class[lifting->nunnamed++] = symbol - SYMBOL_FRESH;
			type_push(&t, dim, &unnamed, 1);
		}
	}
	lifting->type[lifting->n++] = t;
	for (int k = n - 2; k >= 0; k--)
		move_blocks(lifting, &weak->moves.at[chain[k]]);
	if (c->end == WEAK_END_ALL_TO_ALL)
		move_blocks(lifting, &c->last);
}

static void give_name(struct lifting *lifting, int unnamed, int atom)
{
	lifting->name[unnamed] = (uint8_t)atom;
	lifting->named[unnamed] = true;
	lifting->taken |= UINT32_C(1) << atom;
}

/*
 * Names atoms by their places: an unnamed atom that ended in a place of the target is
 * the atom wanted there.
 */
static void name_by_place(struct lifting *lifting)
{
	const struct type *t = &lifting->type[lifting->n - 1], *to = &lifting->weak->to;

	for (int dim = 0; dim < t->rank; dim++) {
		const uint8_t *have = type_stack(t, dim), *want = type_stack(to, dim);

		for (int k = 0; k < t->count[dim] && k < to->count[dim]; k++) {
			int u = have[k] - UNNAMED;

			if (u >= 0 && !(lifting->taken >> want[k] & 1) &&
			    lifting->size_class[u] == lifting->weak->size_class[want[k]])
				give_name(lifting, u, want[k]);
		}
	}
}

/*
 * Names the other atoms: first by atoms that the target wants elsewhere, then by any.
 */
static void name_the_rest(struct lifting *lifting)
{
	const struct weak *weak = lifting->weak;

	for (int u = 0; u < lifting->nunnamed; u++) {
		int found = -1;

		for (int a = 0; a < weak->s->atoms.n && !lifting->named[u]; a++) {
			bool wanted = weak->in_to >> a & 1;

			if ((lifting->taken >> a & 1) ||
			    weak->size_class[a] != lifting->size_class[u])
				continue;
			if (found < 0 || (wanted && !(weak->in_to >> found & 1)))
				found = a;
		}
		if (!lifting->named[u]) {
			assert(found >= 0);
			give_name(lifting, u, found);
		}
	}
	for (int i = 0; i < lifting->n; i++)
		for (int k = type_first(&lifting->type[i], weak->to.rank) - 1; k >= 0;
		     k--)
			if (lifting->type[i].atom[k] >= UNNAMED)
				lifting->type[i].atom[k] =
					lifting->name[lifting->type[i].atom[k] - UNNAMED];
}

/*
 * Takes the lowest atom of a size that the target does not use and `taken` does not
 * hold.
 */
static uint8_t spare_atom(const struct weak *weak, int size_class, uint32_t *taken)
{
	int a = 0;

	while ((*taken >> a & 1) || weak->size_class[a] != size_class)
		a++;
	assert(a < weak->s->atoms.n);
	*taken |= UINT32_C(1) << a;
	return (uint8_t)a;
}

/*
 * Returns the type that a permute leads to: the target, and on top of it as many atoms
 * as `t` has, the same ones in the same dimension where possible.
 */
static struct type permuted(const struct weak *weak, const struct type *t)
{
	struct type out = weak->to;
	uint32_t taken;

	for (int dim = 0; dim < t->rank; dim++) {
		int lacks[ATOMS_MAX] = {0};
		const uint8_t *have = type_stack(t, dim),
			      *want = type_stack(&weak->to, dim);

		for (int k = 0; k < t->count[dim]; k++)
			lacks[weak->size_class[have[k]]]++;
		for (int k = 0; k < weak->to.count[dim]; k++)
			lacks[weak->size_class[want[k]]]--;
		for (int k = 0; k < t->count[dim]; k++) {
			int c = weak->size_class[have[k]];

			if ((weak->in_to >> have[k] & 1) || lacks[c] == 0)
				continue;
			type_push(&out, dim, &have[k], 1);
			lacks[c]--;
		}
	}
	taken = type_used(&out) | weak->in_to;
	for (int dim = 0; dim < t->rank; dim++) {
		const uint8_t *have = type_stack(t, dim);

		for (int k = 0; k < t->count[dim]; k++) {
			int c = weak->size_class[have[k]], n = 0;

			for (int j = 0; j < t->count[dim]; j++)
				n += weak->size_class[have[j]] == c;
			for (int j = 0; j < out.count[dim]; j++)
				n -= weak->size_class[type_stack(&out, dim)[j]] == c;
			for (; n > 0; n--) {
				uint8_t atom = spare_atom(weak, c, &taken);

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

/* Turns a path from `from` round, so that it leads to it. */
static void turn_round(struct path *p, const struct type *from)
{
	struct path old = *p;

	p->n = 0;
	for (int k = old.n - 1; k >= 0; k--)
		path_add(p, opposite(old.hop[k].op), k ? &old.hop[k - 1].after : from);
}

void weak_lift(struct path *out, const struct weak *weak, const struct weak_candidate *c)
{
	struct lifting lifting = {.weak = weak, .taken = weak->in_from};
	struct type last;

	run_moves(&lifting, c);
	name_by_place(&lifting);
	name_the_rest(&lifting);
	out->n = 0;
	if (!type_equal(&lifting.type[0], &weak->from))
		path_add(out, OP_SLICE, &lifting.type[0]);
	for (int i = 1; i < lifting.n; i++)
		path_add(out, OP_ALL_TO_ALL, &lifting.type[i]);
	last = lifting.type[lifting.n - 1];
	if (c->end == WEAK_END_PERMUTE) {
		struct type t = permuted(weak, &last);

		if (!type_equal(&t, &last))
			path_add(out, OP_PERMUTE, &t);
		last = t;
	}
	if (!type_equal(&last, &weak->to))
		path_add(out, OP_ALL_GATHER, &weak->to);
	if (weak->backwards)
		turn_round(out, &weak->from);
}
