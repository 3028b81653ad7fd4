#include "planner/synth_rest.h"

#include <assert.h>
#include <math.h>

/* More atoms can be gathered in more orders than are worth to be priced. */
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
	if (out->natoms <= GATHERED_MAX)
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
	append(&gather);
	assert(x->nsizes < REST_SIZES_MAX);
	x->size[x->nsizes].elements = elements;
	x->size[x->nsizes++].cost = gather.least_cost;
	return gather.least_cost;
}

double rest_step_cost(const struct synth *s, int64_t elements)
{
	const struct problem *p = s->problem;
	double bytes = (double)dtype_bytes(p->array.dtype, elements) / 2;

	return s->prices->least ? s->prices->least(s->prices->self, p, bytes).cost : 0;
}
