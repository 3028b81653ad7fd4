/* The order of prices, and the price table without a platform: received bytes. */
#include "planner/planner.h"

#include <math.h>

struct price price_add(struct price a, struct price b)
{
	return (struct price){.cost = a.cost + b.cost,
	                      .collectives = a.collectives + b.collectives,
	                      .locals = a.locals + b.locals};
}

int price_compare(struct price a, struct price b)
{
	double scale = fmax(fabs(a.cost), fabs(b.cost));

	if (fabs(a.cost - b.cost) > 1e-9 * scale)
		return a.cost < b.cost ? -1 : 1;
	if (a.collectives != b.collectives)
		return a.collectives < b.collectives ? -1 : 1;
	return (a.locals > b.locals) - (a.locals < b.locals);
}

/* Received bytes of a step as spec redistribution.md 3 has them. */
static double step_bytes(const struct step_ask *ask)
{
	double q = 1, m = (double)ask->before_bytes;

	for (int i = 0; i < ask->nmoves; i++)
		q *= ask->move[i].factor;
	switch (ask->op) {
	case OP_ALL_GATHER:
		return m * (q - 1);
	case OP_ALL_TO_ALL:
	case OP_REDUCE_SCATTER:
		return m - m / q;
	case OP_ALL_REDUCE:
		return 2 * (m - m / q);
	case OP_PERMUTE:
		return m;
	default:
		return 0;
	}
}

static struct price bytes_step(void *self, const struct problem *p,
                               const struct step_ask *ask)
{
	(void)self;
	(void)p;
	return (struct price){.cost = step_bytes(ask),
	                      .collectives = op_communicates(ask->op),
	                      .locals = !op_communicates(ask->op)};
}

static struct price bytes_plan(void *self, const struct plan *plan)
{
	struct price price = {.cost = (double)plan->recv_bytes};

	(void)self;
	for (int i = 0; i < plan->nsteps; i++) {
		price.collectives += op_communicates(plan->step[i].op);
		price.locals += !op_communicates(plan->step[i].op);
	}
	return price;
}

const struct prices prices_bytes = {.self = NULL, .step = bytes_step, .plan = bytes_plan};
