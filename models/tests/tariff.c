#include "tariff.h"

#include <check.h>
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

static bool above(double cost, const struct step_ask *ask)
{
	return ask->most_cost > 0 && cost > ask->most_cost;
}

static struct price asked_step(void *self, const struct problem *p,
                               const struct step_ask *ask)
{
	struct asked *x = self;
	uint32_t axes = 0;
	uint64_t parts = 0;
	struct price price;
	double q = 1;

	(void)p;
	for (int i = 0; i < ask->nmoves; i++) {
		q *= ask->move[i].factor;
		for (int k = 0; k < ask->move[i].nparts; k++) {
			struct part part = ask->move[i].parts[k];

			axes |= UINT32_C(1) << part.axis;
			parts = parts * 9 + (uint64_t)part.axis + 1;
			parts = parts * 64 + (uint64_t)part.pre;
			parts = parts * 64 + (uint64_t)part.size;
		}
	}
	/*
	 * Prices may be dear: nothing is asked twice, unless the price was above the limit,
	 * so that it need not have been exact, and is not above that of now. A slice is told
	 * by its result.
	 */
	for (int i = 0; i < x->n && ask->op != OP_SLICE; i++)
		ck_assert(x->ask[i].op != ask->op || x->parts[i] != parts ||
		          x->ask[i].before_bytes != ask->before_bytes ||
		          x->ask[i].unpack != ask->unpack ||
		          (above(x->cost[i], &x->ask[i]) && !above(x->cost[i], ask)));
	ck_assert_int_lt(x->n, ASKED_MAX);
	price = tariff_price(&x->tariff, ask->op, (double)ask->before_bytes, q, axes,
	                     ask->unpack);
	x->ask[x->n] = *ask;
	x->parts[x->n] = parts;
	x->cost[x->n++] = price.cost;
	return price;
}

/* The sum over steps, from the finished plan alone. */
struct price asked_plan(void *self, const struct plan *plan)
{
	const struct asked *x = self;
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
		sum = price_add(sum, tariff_price(&x->tariff, s->op,
		                                  4.0 * (double)shape_elements(&local),
		                                  q, axes, unpack));
		local = s->local;
	}
	return sum;
}

struct prices asked_prices(struct asked *x)
{
	return (struct prices){.self = x, .step = asked_step, .plan = asked_plan};
}
