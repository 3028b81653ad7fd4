#include "planner/synth/path.h"

#include "base/assert.h"
#include "planner/types.h"

#include <string.h>

int64_t synth_extent(const struct synth *s, const struct type *t, int dim)
{
	return s->problem->padded.dim[dim] / type_shards(t, &s->atoms, dim);
}

int64_t synth_elements(const struct synth *s, const struct type *t)
{
	int64_t elements = 1;

	for (int dim = 0; dim < t->rank; dim++)
		elements *= synth_extent(s, t, dim);
	return elements;
}

int64_t synth_bytes(const struct synth *s, const struct type *t)
{
	return dtype_bytes(s->problem->array.dtype, synth_elements(s, t));
}

/*
 * Returns an atom as a part of the source mesh, by way of a layout that has nothing
 * else. Atoms are cut at the ends of every axis of both meshes, so there always is one.
 */
static struct part part_of(const struct synth *s, int atom)
{
	struct layout l;
	struct type one;
	bool said;

	memset(&one, 0, sizeof(one));
	one.rank = one.count[0] = 1;
	one.atom[0] = (uint8_t)atom;
	said = layout_of_type(&l, &one, &s->atoms, &s->problem->mesh);
	assert(said);
	(void)said;
	return l.part[0];
}

static bool has_unreduced(const struct layout *l)
{
	return l->nunreduced > 0;
}

bool synth_begin(struct synth *out, const struct problem *p,
                 const struct prices *prices, struct arena *a, struct text *why)
{
	*out = (struct synth){
		.problem = p, .prices = prices, .arena = a, .atoms = p->atoms};
	if (has_unreduced(&p->from) || has_unreduced(&p->to)) {
		text_printf(why, "unreduced axes");
		return false;
	}
	if (!types_say(p, why))
		return false;
	for (int i = 0; i < p->atoms.n; i++) {
		out->first[i] = (uint8_t)i;
		out->parts[i] = 1;
		out->part[i] = part_of(out, i);
	}
	out->from = type_of_layout(&p->from, &p->mesh, &p->atoms);
	out->to = type_of_layout(&p->to, &p->to_mesh, &p->atoms);
	out->from_bytes = synth_bytes(out, &out->from);
	out->to_bytes = synth_bytes(out, &out->to);
	return true;
}

static void add_hop_move(struct hop_moves *out, const struct synth *s, int from, int to,
                         const uint8_t *atoms, int n)
{
	struct move *m = &out->move[out->n++];

	*m = (struct move){.from_dim = from,
	                   .to_dim = to,
	                   .factor = 1,
	                   .nparts = n,
	                   .parts = out->part + out->natoms};
	for (int k = 0; k < n; k++) {
		out->part[out->natoms] = s->part[atoms[k]];
		out->atom[out->natoms++] = atoms[k];
		m->factor *= s->atoms.atom[atoms[k]].size;
	}
}

/* Returns the dimension whose stack before the step held an atom. */
static int dim_of_atom(const struct type *t, uint8_t atom)
{
	int at = 0;

	for (int dim = 0; dim < t->rank; dim++)
		for (int k = 0; k < t->count[dim]; k++)
			if (t->atom[at++] == atom)
				return dim;
	assert(!"an all-to-all moves listed atoms");
	return -1;
}

void hop_moves(struct hop_moves *out, const struct synth *s, enum op op,
               const struct type *before, const struct type *after)
{
	const uint8_t *b = before->atom, *c = after->atom;

	out->n = out->natoms = 0;
	for (int dim = 0; dim < before->rank; dim++) {
		int nb = before->count[dim], nc = after->count[dim];

		if (op == OP_ALL_GATHER && nb > nc)
			add_hop_move(out, s, dim, -1, b + nc, nb - nc);
		else if (op != OP_ALL_GATHER && nc > nb)
			add_hop_move(out, s,
			             op == OP_SLICE ? -1 : dim_of_atom(before, c[nb]),
			             dim, c + nb, nc - nb);
		b += nb;
		c += nc;
	}
}

/*
 * Returns whether atoms a and a + 1 are neighbours in the type's stacks, or both not in
 * use.
 */
static bool atoms_together(const struct type *t, int a)
{
	uint32_t used = type_used(t);
	const uint8_t *stack = t->atom;

	if (!(used >> a & 3))
		return true;
	for (int dim = 0; dim < t->rank; dim++) {
		for (int k = 0; k + 1 < t->count[dim]; k++)
			if (stack[k] == a && stack[k + 1] == a + 1)
				return true;
		stack += t->count[dim];
	}
	return false;
}

bool synth_coarsen(struct synth *out, const struct synth *s)
{
	const struct problem *p = s->problem;

	*out = *s;
	out->atoms.n = 0;
	for (int a = 0; a < s->atoms.n; a++) {
		struct atom atom = s->atoms.atom[a];
		int n = out->atoms.n++;

		out->first[n] = (uint8_t)a;
		out->parts[n] = 1;
		while (a + 1 < s->atoms.n && s->part[a].axis == s->part[a + 1].axis &&
		       atoms_together(&s->from, a) && atoms_together(&s->to, a)) {
			a++;
			atom.size *= s->atoms.atom[a].size;
			atom.stride = s->atoms.atom[a].stride;
			out->parts[n]++;
		}
		out->atoms.atom[n] = atom;
	}
	for (int a = 0; a < out->atoms.n; a++)
		out->part[a] = part_of(out, a);
	out->from = type_of_layout(&p->from, &p->mesh, &out->atoms);
	out->to = type_of_layout(&p->to, &p->to_mesh, &out->atoms);
	return out->atoms.n < s->atoms.n;
}

/* --- prices ---------------------------------------------------------------------- */

static bool needs_unpack(const struct synth *s, const struct hop_moves *m,
                         const struct type *before)
{
	struct shape local = {.rank = before->rank};

	for (int dim = 0; dim < before->rank; dim++)
		local.dim[dim] = synth_extent(s, before, dim);
	return moves_unpack(m->move, m->n, &local);
}

static struct price ask_price(const struct synth *s, const struct step_ask *ask)
{
	return s->prices->step(s->prices->self, s->problem, ask);
}

struct price hop_price(const struct synth *s, enum op op, const struct type *before,
                       const struct type *after, double most_cost)
{
	struct hop_moves moves = {0};
	struct step_ask ask = {.op = op,
	                       .before_bytes = synth_bytes(s, before),
	                       .most_cost = most_cost};

	if (op != OP_PERMUTE)
		hop_moves(&moves, s, op, before, after);
	ask.nmoves = moves.n;
	ask.move = moves.move;
	ask.unpack = op == OP_ALL_GATHER && needs_unpack(s, &moves, before);
	return ask_price(s, &ask);
}

struct price list_price(const struct synth *s, const struct list_step *step)
{
	bool gather = step->op == OP_ALL_GATHER;
	struct hop_moves moves;
	struct step_ask ask = {.op = step->op,
	                       .nmoves = 1,
	                       .move = moves.move,
	                       .before_bytes = step->before_bytes,
	                       .unpack = step->unpack,
	                       .most_cost = step->most_cost};

	moves.n = moves.natoms = 0;
	add_hop_move(&moves, s, 0, gather ? -1 : 1, step->atom, step->n);
	return ask_price(s, &ask);
}

struct price permute_price(const struct synth *s, int64_t before_bytes)
{
	struct step_ask ask = {.op = OP_PERMUTE, .before_bytes = before_bytes};

	return ask_price(s, &ask);
}

/* --- plans ----------------------------------------------------------------------- */

void path_add(struct path *p, enum op op, const struct type *after)
{
	if (op == OP_SLICE && p->n > 0 && p->hop[p->n - 1].op == OP_SLICE) {
		p->hop[p->n - 1].after = *after;
		return;
	}
	assert(p->n < HOPS_MAX);
	p->hop[p->n++] = (struct hop){.op = op, .after = *after};
}

struct plan *path_plan(const struct synth *s, const struct path *path,
                       const char *planner)
{
	struct plan *plan = plan_new(s->arena, s->problem, planner);
	const struct type *before = &s->from;

	for (int i = 0; i < path->n; i++) {
		const struct hop *h = &path->hop[i];

		if (h->op == OP_PERMUTE) {
			struct layout after;
			bool said = layout_of_type(&after, &h->after, &s->atoms,
			                           &s->problem->mesh);

			assert(said);
			(void)said;
			plan_permute(plan, &after);
		} else {
			struct hop_moves moves;

			hop_moves(&moves, s, h->op, before, &h->after);
			plan_axes_step(plan, h->op, moves.move, moves.n);
		}
		before = &h->after;
	}
	assert(type_equal(before, &s->to));
	plan_finish(plan);
	return plan;
}
