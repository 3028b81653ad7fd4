#include "program/overlap.h"

#include "program/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct overlapper {
	struct program_price *price;
	const struct program *p;
	const int32_t *devices;
	enum overlap overlap;
	double *time_s; /* [ops] of one run of a collective; 0: none */
	struct overlapped *out;
	struct arena *a, *scratch; /* what is given out; of the region that runs */
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

			most = f > most ? f : most;
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

/* A region while it runs: its time line, and which of its steps have others within. */
struct region_run {
	struct kernels k;
	struct timed_step *step;
	/* Of each step, where the spans within it are in out->span; the same: there are none. */
	int64_t *within, *within_end;
	int8_t depth;
};

static double run_region(struct overlapper *o, int32_t region, double runs,
                         double trips, int8_t depth, double *compute_s);

/* Seconds of a loop, a branch or another call; what it computes adds to *compute_s. */
static double run_called(struct overlapper *o, const struct instruction *op,
                         double runs, int8_t depth, double *compute_s)
{
	int64_t first = o->out->span.n, before, n;
	double most = 0;

	for (int32_t k = 0; k < op->ncalled; k++) {
		int32_t region = op_called(o->p, op, k);
		double inner = 0, s;

		if (o->p->region.at[region].kind != REGION_CODE ||
		    (op->code == HLO_WHILE && k == 0))
			continue;
		before = o->out->span.n;
		s = run_region(o, region, runs,
		               op->code == HLO_WHILE ? (double)op->as.loop->trips : 1,
		               depth, &inner);
		n = o->out->span.n - before;
		/* Of branches the longest one runs. */
		if (s > most) {
			most = s;
			*compute_s = inner;
			memmove(o->out->span.at + first, o->out->span.at + before,
			        (size_t)n * sizeof(*o->out->span.at));
			o->out->span.n = first + n;
		} else {
			o->out->span.n = before;
		}
	}
	return most;
}

/* Finds what each step of a region takes; the sum of what its loops compute otherwise. */
static double time_steps(struct overlapper *o, struct region_run *r, double runs,
                         double trips)
{
	double inner = 0;

	for (int64_t i = 0; i < r->k.flat.step.n; i++)
		r->step[i].stream = -1;
	for (int64_t i = 0; i < r->k.kernel.n; i++) {
		const struct kernel *one = &r->k.kernel.at[i];
		const struct instruction *op = &o->p->op.at[one->op];
		struct timed_step *step = &r->step[one->step];

		if (op->async == ASYNC_DONE || op->async == ASYNC_UPDATE)
			continue;
		if (one->class == CLASS_COLLECTIVE) {
			*step = (struct timed_step){o->time_s[one->op],
			                            stream_of(o, op)};
		} else if (one->class == CLASS_LOOP || one->class == CLASS_BRANCH ||
		           (one->class == CLASS_CALL && op->code != HLO_FUSION)) {
			double within = 0;

			r->within[one->step] = o->out->span.n;
			step->s = run_called(o, op, runs * trips,
			                     (int8_t)(r->depth + 1), &within);
			r->within_end[one->step] = o->out->span.n;
			inner += trips * within - trips * step->s;
		} else {
			/* What is fused into an op differs from call to call. */
			step->s = price_kernel_s(o->price->machine, one);
		}
	}
	return inner;
}

/* Puts the spans of a region into the place of those within it, which are `from` on. */
static void place_spans(struct overlapper *o, const struct region_run *r,
                        const struct timeline *line, int64_t from)
{
	int64_t n = o->out->span.n - from;
	struct overlap_span *within =
		arena_alloc(o->scratch, (size_t)n + 1, sizeof(*within));

	if (n)
		memcpy(within, o->out->span.at + from, (size_t)n * sizeof(*within));
	o->out->span.n = from;
	for (int64_t i = 0; i < line->span.n; i++) {
		const struct timeline_span *s = &line->span.at[i];
		const struct instruction *op =
			&o->p->op.at[r->k.flat.step.at[s->step].op];

		*list_add(&o->out->span, o->a) = (struct overlap_span){
			r->k.flat.step.at[s->step].op,
			r->step[s->step].stream,
			r->depth,
			op->code == HLO_WHILE ? (double)op->as.loop->trips : 0,
			s->start_s,
			s->end_s};
		for (int64_t k = r->within[s->step]; k < r->within_end[s->step]; k++) {
			struct overlap_span *one = list_add(&o->out->span, o->a);

			*one = within[k - from];
			one->start_s += s->start_s;
			one->end_s += s->start_s;
		}
	}
}

static double run_region(struct overlapper *o, int32_t region, double runs,
                         double trips, int8_t depth, double *compute_s)
{
	struct arena *scratch = arena_new();
	struct region_run r = {.depth = depth};
	struct timeline line = {0};
	int64_t from = o->out->span.n;
	size_t n;
	double inner;

	if (trips <= 0 || !kernels_make(&r.k, scratch, o->p, region)) {
		arena_free(scratch);
		return 0;
	}
	n = (size_t)r.k.flat.step.n + 1;
	r.step = arena_alloc(scratch, n, sizeof(*r.step));
	r.within = arena_alloc(scratch, n, sizeof(*r.within));
	r.within_end = arena_alloc(scratch, n, sizeof(*r.within_end));
	inner = time_steps(o, &r, runs, trips);
	timeline_run(&line, scratch,
	             &(struct timeline_ask){o->p, &r.k.flat, r.step, o->overlap, trips,
	                                    NULL});
	/* A loop is one step of the line, in which its own collectives were waited for. */
	*compute_s = line.compute_s + inner;
	for (int64_t i = 0; i < r.k.flat.step.n; i++)
		o->out->exposed_s[r.k.flat.step.at[i].op] += runs * line.exposed[i];
	o->scratch = scratch;
	place_spans(o, &r, &line, from);
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
	double compute_s = 0, s, apart_s;

	*out = (struct overlapped){0};
	if (!price->machine || isnan(price->compute_s) || isnan(price->communication_s))
		return;
	out->exposed_s = arena_alloc(a, (size_t)o.p->op.n + 1, sizeof(double));
	o.time_s = arena_alloc(a, (size_t)o.p->op.n + 1, sizeof(double));
	for (int64_t i = 0; i < price->collective.n; i++)
		o.time_s[price->collective.at[i].op] = price->collective.at[i].time_s;
	s = run_region(&o, o.p->entry, 1, 1, 0, &compute_s);
	/* What goes to the host and back is a kernel of the line, but counted apart. */
	price->step_s = s;
	/* Without communication, or below one rounding for each op, it is that of rounding. */
	apart_s = s - compute_s;
	price->exposed_s = price->communication_s > 0 &&
	                                   apart_s > (double)o.p->op.n * DBL_EPSILON * s
	                           ? apart_s
	                           : 0;
}
