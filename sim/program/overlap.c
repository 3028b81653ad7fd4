#include "program/overlap.h"

#include "program/kernels.h"

#include <math.h>

struct overlapper {
	struct program_price *price;
	const struct program *p;
	const int32_t *devices;
	enum overlap overlap;
	double *time_s; /* [ops] of one run of a collective; 0: none */
	struct overlapped *out;
	struct arena *a;
	double compute_s; /* of the entry and what it calls, in a step */
};

enum overlap overlap_usual(const struct program *p)
{
	for (int64_t i = 0; i < p->op.n && p->stage == STAGE_OPTIMISED; i++)
		if (p->op.at[i].async == ASYNC_START)
			return OVERLAP_STREAM;
	return OVERLAP_ASYNC;
}

/* The stream of a collective: the fabric that its first group needs, nearest first. */
static int8_t stream_of(const struct overlapper *o, const struct instruction *op)
{
	const struct collective_attr *c = op->as.collective;
	int32_t first = 0, last = 0, most = 0;
	int fabric;

	if (!o->devices || !c)
		return 0;
	if (c->groups >= 0) {
		const struct replica_groups *g = &o->p->groups.at[c->groups];

		first = g->ids[0];
		for (int32_t i = 1; i < g->first[1]; i++) {
			int f = machine_fabric(o->price->machine, o->devices[first],
			                       o->devices[g->ids[i]]);

			if (f > most) {
				most = f;
				last = g->ids[i];
			}
		}
		return (int8_t)(most < TIMELINE_STREAMS ? most : TIMELINE_STREAMS - 1);
	}
	if (c->pairs.n < 2)
		return 0;
	first = (int32_t)c->pairs.at[0];
	last = (int32_t)c->pairs.at[1];
	fabric = machine_fabric(o->price->machine, o->devices[first], o->devices[last]);
	return (int8_t)(fabric < 0                  ? 0
	                : fabric < TIMELINE_STREAMS ? fabric
	                                            : TIMELINE_STREAMS - 1);
}

static double run_region(struct overlapper *o, int32_t region, double runs,
                         double trips, double *compute_s);

/* Seconds of a loop, a branch or another call; what it computes adds to *compute_s. */
static double run_called(struct overlapper *o, const struct instruction *op,
                         double runs, double *compute_s)
{
	double most = 0;

	for (int32_t k = 0; k < op->ncalled; k++) {
		int32_t region = op_called(o->p, op, k);
		double inner = 0, s;

		if (o->p->region.at[region].kind != REGION_CODE ||
		    (op->code == HLO_WHILE && k == 0))
			continue;
		s = run_region(o, region, runs,
		               op->code == HLO_WHILE ? (double)op->as.loop->trips : 1,
		               &inner);
		if (s > most) {
			most = s;
			*compute_s = inner;
		}
	}
	return most;
}

static double run_region(struct overlapper *o, int32_t region, double runs,
                         double trips, double *compute_s)
{
	struct arena *scratch = arena_new();
	struct kernels k;
	struct timeline line = {0};
	struct timed_step *step;
	double inner = 0;
	bool entry = region == o->p->entry;

	if (trips <= 0 || !kernels_make(&k, scratch, o->p, region)) {
		arena_free(scratch);
		return 0;
	}
	step = arena_alloc(scratch, (size_t)k.flat.step.n + 1, sizeof(*step));
	for (int64_t i = 0; i < k.flat.step.n; i++)
		step[i].stream = -1;
	for (int64_t i = 0; i < k.kernel.n; i++) {
		const struct kernel *one = &k.kernel.at[i];
		const struct instruction *op = &o->p->op.at[one->op];

		if (op->async == ASYNC_DONE || op->async == ASYNC_UPDATE)
			continue;
		if (one->class == CLASS_COLLECTIVE) {
			step[one->step] = (struct timed_step){o->time_s[one->op],
			                                      stream_of(o, op)};
		} else if (one->class == CLASS_LOOP || one->class == CLASS_BRANCH ||
		           (one->class == CLASS_CALL && op->code != HLO_FUSION)) {
			double within = 0;

			step[one->step].s = run_called(o, op, runs * trips, &within);
			inner += trips * within - trips * step[one->step].s;
		} else {
			/* What is fused into an op differs from call to call. */
			step[one->step].s = price_kernel_s(o->price->machine, one);
		}
	}
	timeline_run(&line, o->a,
	             &(struct timeline_ask){o->p, &k.flat, step, o->overlap, trips});
	/* A loop is one step of the line, in which its own collectives were waited for. */
	*compute_s = line.compute_s + inner;
	for (int64_t i = 0; i < k.flat.step.n; i++)
		o->out->exposed_s[k.flat.step.at[i].op] += runs * line.exposed[i];
	for (int64_t i = 0; entry && i < line.span.n; i++) {
		const struct timeline_span *s = &line.span.at[i];

		*list_add(&o->out->span, o->a) = (struct overlap_span){
			k.flat.step.at[s->step].op, step[s->step].stream >= 0,
			s->start_s, s->end_s};
	}
	arena_free(scratch);
	return line.s;
}

void program_overlap(struct overlapped *out, struct arena *a,
                     struct program_price *price, const int32_t *devices,
                     enum overlap overlap)
{
	struct overlapper o = {.price = price,
	                       .p = price->program,
	                       .devices = devices,
	                       .overlap = overlap,
	                       .out = out,
	                       .a = a};
	double compute_s = 0, s;

	*out = (struct overlapped){0};
	if (!price->machine || isnan(price->compute_s) || isnan(price->communication_s))
		return;
	out->exposed_s = arena_alloc(a, (size_t)o.p->op.n + 1, sizeof(double));
	o.time_s = arena_alloc(a, (size_t)o.p->op.n + 1, sizeof(double));
	for (int64_t i = 0; i < price->collective.n; i++)
		o.time_s[price->collective.at[i].op] = price->collective.at[i].time_s;
	s = run_region(&o, o.p->entry, 1, 1, &compute_s);
	/* What goes to the host and back is a kernel of the line, but counted apart. */
	price->step_s = s;
	/* Without communication the difference is that of rounding. */
	price->exposed_s = price->communication_s > 0 ? fmax(0, s - compute_s) : 0;
}
