#include "planner/synth/rest.h"

#include <math.h>
#include <string.h>

/*
 * All-gathers of some atoms: those listed so far for the first one, and those that are
 * left.
 */
struct gather {
	struct rest *rest;
	uint32_t left;
	int n;
	uint8_t atom[CODE_ATOMS_MAX];
	int64_t before, after; /* elements of a tile */
	double least_cost;
};

void rest_init(struct rest *out, const struct coded *coded)
{
	out->coded = coded;
	for (int i = 0; i < 1 << CODE_ATOMS_MAX; i++)
		out->set_cost[i] = -1;
	out->set_cost[0] = 0;
}

/* Returns the product of the sizes of atoms. */
static int64_t product(const struct coded *coded, uint32_t atoms)
{
	int64_t product = 1;

	for (int a = 0; a < coded->natoms; a++)
		if (atoms >> a & 1)
			product *= coded->size[a];
	return product;
}

/*
 * Puts one more atom in the list, in all ways, and finds what is then left to gather.
 */
static void append_atom(struct gather *gather)
{
	const struct coded *coded = gather->rest->coded;
	struct synth *s = coded->s;

	for (int a = 0; a < coded->natoms; a++) {
		struct list_step step = {.op = OP_ALL_GATHER, .atom = gather->atom};
		double rest;

		if (!(gather->left >> a & 1))
			continue;
		gather->atom[gather->n++] = (uint8_t)a;
		gather->left ^= UINT32_C(1) << a;
		gather->after *= coded->size[a];
		rest = rest_cost(gather->rest, gather->left);
		if (rest_received_cost(s, gather->after - gather->before) + rest <
		    gather->least_cost) {
			step.n = gather->n;
			step.before_bytes =
				dtype_bytes(s->problem->array.dtype, gather->before);
			gather->least_cost = fmin(gather->least_cost,
			                          list_price(s, &step).cost + rest);
		}
		append_atom(gather);
		gather->after /= coded->size[a];
		gather->left ^= UINT32_C(1) << a;
		gather->n--;
	}
}

double rest_cost(struct rest *rest, uint32_t atoms)
{
	struct gather gather = {.rest = rest, .left = atoms, .least_cost = INFINITY};

	if (rest->set_cost[atoms] >= 0)
		return rest->set_cost[atoms];
	gather.before = rest->coded->target / product(rest->coded, atoms);
	gather.after = gather.before;
	append_atom(&gather);
	rest->set_cost[atoms] = gather.least_cost;
	return gather.least_cost;
}

double rest_least_cost(struct rest *rest, int64_t elements)
{
	const struct coded *coded = rest->coded;
	double least = INFINITY;

	if (elements >= coded->target)
		return 0;
	for (uint32_t atoms = 1; atoms < UINT32_C(1) << coded->natoms; atoms++)
		if (!(atoms & coded->in_to) &&
		    elements * product(coded, atoms) == coded->target)
			least = fmin(least, rest_cost(rest, atoms));
	return least;
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
