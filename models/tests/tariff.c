#include "tariff.h"

#include <math.h>

struct price tariff_price(const struct tariff *t, enum op op, double before_bytes,
                          double q, uint32_t axes, bool unpack)
{
	double bytes = op == OP_ALL_GATHER   ? before_bytes * (q - 1)
	               : op == OP_ALL_TO_ALL ? before_bytes - before_bytes / q
	               : op == OP_PERMUTE    ? before_bytes
	                                     : 0;
	double slowest = INFINITY;

	if (!t->seconds)
		return (struct price){.cost = bytes,
		                      .collectives = op != OP_SLICE,
		                      .locals = op == OP_SLICE};
	for (int i = 0; i < 8; i++)
		if ((axes >> i & 1 || op == OP_PERMUTE) && t->axis_Bps[i] > 0)
			slowest = fmin(slowest, t->axis_Bps[i]);
	if (op == OP_SLICE)
		bytes = before_bytes / q;
	return (struct price){.cost = t->launch_s +
	                              (op == OP_SLICE ? bytes / 1e4 : bytes / slowest) +
	                              (unpack ? before_bytes * q / 1e4 : 0)};
}

static struct price tariff_step(void *self, const struct problem *p,
                                const struct step_ask *ask)
{
	uint32_t axes = 0;
	double q = 1;

	(void)p;
	for (int i = 0; i < ask->nmoves; i++) {
		q *= ask->move[i].factor;
		for (int k = 0; k < ask->move[i].nparts; k++)
			axes |= UINT32_C(1) << ask->move[i].parts[k].axis;
	}
	return tariff_price(self, ask->op, (double)ask->before_bytes, q, axes,
	                    ask->unpack);
}

/* The sum over steps, from the finished plan alone. */
struct price tariff_plan(void *self, const struct plan *plan)
{
	struct price sum = {0};
	struct shape local = layout_local(&plan->problem->from, &plan->problem->padded);

	for (int i = 0; i < plan->nsteps; i++) {
		const struct step *s = &plan->step[i];
		uint32_t axes = 0;
		double q = 1;
		bool unpack = false;

		for (int k = 0; k < s->nmoves; k++) {
			q *= s->move[k].factor;
			for (int j = 0; j < s->move[k].nparts; j++)
				axes |= UINT32_C(1) << s->move[k].parts[j].axis;
		}
		for (int k = 0; k < s->nmoves && s->op == OP_ALL_GATHER; k++)
			for (int dim = 0; dim < s->move[k].from_dim; dim++)
				unpack = unpack || local.dim[dim] > 1;
		sum = price_add(sum, tariff_price(self, s->op,
		                                  4.0 * (double)shape_elements(&local),
		                                  q, axes, unpack));
		local = s->local;
	}
	return sum;
}

struct prices tariff_prices(struct tariff *t)
{
	return (struct prices){.self = t, .step = tariff_step, .plan = tariff_plan};
}
