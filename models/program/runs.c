/* How often each region runs in one step. */
#include "program/program.h"
#include "program/work.h"

#include <string.h>

/* Flops for which present machines move a byte, to compare branches by. */
static const double FLOPS_PER_BYTE = 300;

/* Bytes, and flops as bytes, of one run of each region with all that it calls. */
static double *region_costs(const struct program *p)
{
	double *cost = arena_alloc(p->arena, (size_t)p->region.n, sizeof(*cost));

	for (int64_t i = 0; i < p->region.n; i++) {
		int32_t r = p->calls_first[i];
		const struct region *region = &p->region.at[r];

		for (int32_t k = 0; k < region->nops; k++) {
			const struct instruction *op = &p->op.at[region->op[k]];
			struct work w = op_work(p, op);
			double trips = 1;

			cost[r] += w.bytes + w.flops / FLOPS_PER_BYTE;
			if (op->code == HLO_WHILE && op->as.loop)
				trips = (double)op->as.loop->trips;
			for (int32_t j = 0; j < op->ncalled; j++)
				if (p->region.at[op_called(p, op, j)].kind == REGION_CODE)
					cost[r] += trips * cost[op_called(p, op, j)];
		}
	}
	return cost;
}

static int32_t costliest(const struct program *p, const struct instruction *op,
                         const double *cost)
{
	int32_t best = op_called(p, op, 0);

	for (int32_t k = 1; k < op->ncalled; k++)
		if (cost[op_called(p, op, k)] > cost[best])
			best = op_called(p, op, k);
	return best;
}

void program_count_runs(struct program *p)
{
	double *cost = NULL;

	for (int64_t i = 0; i < p->region.n; i++)
		p->region.at[i].runs = 0;
	p->region.at[p->entry].runs = 1;
	for (int64_t i = p->region.n; i-- > 0;) {
		const struct region *r = &p->region.at[p->calls_first[i]];

		for (int32_t k = 0; k < r->nops && r->runs > 0; k++) {
			const struct instruction *op = &p->op.at[r->op[k]];

			if (!op->ncalled || op->async == ASYNC_DONE ||
			    op->async == ASYNC_UPDATE)
				continue;
			if (op->code == HLO_CONDITIONAL) {
				cost = cost ? cost : region_costs(p);
				p->region.at[costliest(p, op, cost)].runs += r->runs;
				continue;
			}
			for (int32_t j = 0; j < op->ncalled; j++) {
				struct region *called =
					&p->region.at[op_called(p, op, j)];
				double trips = 1;

				if (called->kind == REGION_APPLIED)
					continue;
				if (op->code == HLO_WHILE)
					trips = (double)op->as.loop->trips + (j == 0);
				called->runs += r->runs * trips;
			}
		}
	}
}

static bool names_loop(const struct program *p, const struct instruction *op,
                       const char *name)
{
	return span_is(op->name, name) ||
	       span_is(p->region.at[op_called(p, op, 1)].name, name);
}

int program_set_trips(struct program *p, const char *name, int64_t trips)
{
	int n = 0;

	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];

		if (op->code != HLO_WHILE || !op->as.loop || !names_loop(p, op, name))
			continue;
		op->as.loop->trips = trips;
		op->as.loop->known = true;
		n++;
	}
	if (n)
		program_count_runs(p);
	return n;
}
