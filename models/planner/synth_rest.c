#include "planner/synth_rest.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/*
 * More atoms can be gathered in more orders than are worth to be priced: of these the
 * bounds of what is left to gather must do.
 */
enum { GATHERED_MAX = 4 };

/* All-gathers from one size of tiles: the atoms listed so far. */
struct gather {
	struct rest *rest;
	int64_t before, after; /* elements of a tile */
	int natoms;
	uint8_t atom[CODE_ATOMS_MAX];
	double least_cost;
};

void rest_init(struct rest *out, struct synth *s)
{
	uint32_t used = type_used(&s->to);

	*out = (struct rest){.s = s};
	for (int a = 0; a < s->atoms.n; a++)
		if (!(used >> a & 1))
			out->atom[out->natoms++] = (uint8_t)a;
	out->target = synth_elements(s, &s->to);
}

static bool is_listed(const struct gather *x, uint8_t atom)
{
	for (int i = 0; i < x->natoms; i++)
		if (x->atom[i] == atom)
			return true;
	return false;
}

/* One more atom in the list, in all ways, and what is then left to gather. */
static void append(struct gather *x)
{
	struct rest *rest = x->rest;
	struct synth *s = rest->s;
	int64_t bytes = dtype_bytes(s->problem->array.dtype, x->before);

	for (int i = 0; i < rest->natoms; i++) {
		uint8_t atom = rest->atom[i];
		int32_t size = s->atoms.atom[atom].size;
		double cost;

		if (is_listed(x, atom) || rest->target % (x->after * size) != 0)
			continue;
		x->atom[x->natoms++] = atom;
		x->after *= size;
		cost = gather_price(s, x->atom, x->natoms, bytes).cost;
		x->least_cost = fmin(x->least_cost, cost + rest_cost(rest, x->after));
		append(x);
		x->after /= size;
		x->natoms--;
	}
}

/* The target with atoms on top of its stacks, where these divide; false if they do not. */
static bool cut_target(struct type *out, const struct rest *x, uint32_t chosen)
{
	*out = x->s->to;
	for (int i = 0; i < x->natoms; i++) {
		int32_t size = x->s->atoms.atom[x->atom[i]].size;
		int dim = 0;

		if (!(chosen >> i & 1))
			continue;
		while (dim < out->rank && synth_extent(x->s, out, dim) % size != 0)
			dim++;
		if (dim == out->rank)
			return false;
		type_push(out, dim, &x->atom[i], 1);
	}
	return true;
}

/*
 * The bound of the problem that gathers some atoms. Which dimensions they cut, and in which
 * order, is but a name for the blocks that devices have of a tile. Where some blocks are
 * empty or short nothing is said.
 */
static double bound_of_gathers(const struct rest *x, uint32_t chosen)
{
	const struct synth *s = x->s;
	struct problem p = *s->problem;
	struct type cut;

	if (memcmp(&p.padded, &p.array.shape, sizeof(p.padded)) != 0 ||
	    !cut_target(&cut, x, chosen) ||
	    !layout_of_type(&p.from, &cut, &s->atoms, &p.mesh) ||
	    !layout_of_type(&p.to, &s->to, &s->atoms, &p.mesh))
		return 0;
	p.to_mesh = p.mesh;
	return s->prices->bound(s->prices->self, &p).cost;
}

/* The least of these bounds over all atoms that may be left to gather. */
static double least_bound(const struct rest *x, int64_t elements)
{
	double least = INFINITY;

	if (!x->s->prices->bound)
		return 0;
	for (uint32_t chosen = 1; chosen < UINT32_C(1) << x->natoms; chosen++) {
		int64_t after = elements;

		for (int i = 0; i < x->natoms; i++)
			if (chosen >> i & 1)
				after *= x->s->atoms.atom[x->atom[i]].size;
		if (after == x->target)
			least = fmin(least, bound_of_gathers(x, chosen));
	}
	return least;
}

double rest_cost(struct rest *x, int64_t elements)
{
	struct gather gather = {
		.rest = x,
		.before = elements,
		.after = elements,
		.least_cost = INFINITY,
	};

	if (elements >= x->target)
		return 0;
	for (int i = 0; i < x->nsizes; i++)
		if (x->size[i].elements == elements)
			return x->size[i].cost;
	if (x->natoms > GATHERED_MAX)
		gather.least_cost = least_bound(x, elements);
	else
		append(&gather);
	assert(x->nsizes < REST_SIZES_MAX);
	x->size[x->nsizes].elements = elements;
	x->size[x->nsizes++].cost = gather.least_cost;
	return gather.least_cost;
}

double rest_received_cost(const struct synth *s, int64_t elements)
{
	const struct problem *p = s->problem;
	double bytes = (double)dtype_bytes(p->array.dtype, elements);

	return s->prices->least ? s->prices->least(s->prices->self, p, bytes).cost : 0;
}

double rest_step_cost(const struct synth *s, int64_t elements)
{
	return rest_received_cost(s, elements / 2);
}

double rest_move_cost(struct synth *s, int64_t elements)
{
	int64_t bytes = dtype_bytes(s->problem->array.dtype, elements);

	return fmin(rest_step_cost(s, elements), permute_price(s, bytes).cost);
}
