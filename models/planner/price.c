/* The order of prices, and the price table without a platform: received bytes. */
#include "planner/planner.h"

#include <math.h>

struct price price_add(struct price a, struct price b)
{
	return (struct price){.cost = a.cost + b.cost,
	                      .then = a.then + b.then,
	                      .collectives = a.collectives + b.collectives,
	                      .locals = a.locals + b.locals};
}

static int compare_costs(double a, double b)
{
	if (fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)))
		return 0;
	return a < b ? -1 : 1;
}

int price_compare(struct price a, struct price b)
{
	int order = compare_costs(a.cost, b.cost);

	if (order == 0)
		order = compare_costs(a.then, b.then);
	if (order != 0)
		return order;
	if (a.collectives != b.collectives)
		return a.collectives < b.collectives ? -1 : 1;
	return (a.locals > b.locals) - (a.locals < b.locals);
}

bool moves_unpack(const struct move *move, int n, const struct shape *local)
{
	for (int i = 0; i < n; i++)
		for (int dim = 0; dim < move[i].from_dim; dim++)
			if (local->dim[dim] > 1)
				return true;
	return false;
}

/* Returns the received bytes of a step (models/README.md, Collectives). */
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

static double bytes_path(void *self, const struct problem *p, int32_t src, int32_t dst)
{
	(void)self;
	(void)p;
	(void)src;
	(void)dst;
	return 1;
}

const struct prices prices_bytes = {
	.self = NULL, .step = bytes_step, .plan = bytes_plan, .path = bytes_path};

static struct price memory_step(void *self, const struct problem *p,
                                const struct step_ask *ask)
{
	const struct prices *base = self;

	return base->step(base->self, p, ask);
}

static struct price memory_plan(void *self, const struct plan *plan)
{
	const struct prices *base = self;
	struct price price = base->plan(base->self, plan);

	price.then = price.cost;
	price.cost = (double)plan->peak_live_bytes;
	return price;
}

static double memory_path(void *self, const struct problem *p, int32_t src, int32_t dst)
{
	const struct prices *base = self;

	return base->path(base->self, p, src, dst);
}

struct prices prices_memory(struct prices *base)
{
	return (struct prices){.self = base,
	                       .step = memory_step,
	                       .plan = memory_plan,
	                       .path = memory_path};
}
