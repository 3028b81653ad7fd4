#include "program/timeline.h"

#include "base/heap.h"

#include <math.h>

/* Trips that are run one by one: the last of three starts and ends amid its neighbours. */
enum { TRIPS_RUN = 3 };

struct run {
	const struct timeline_ask *ask;
	const struct flat *f;
	struct timeline *out;
	struct arena *a, *keep; /* scratch; of what is given out */
	int32_t nsteps, trips;  /* those that are run one by one */
	/* Of each value the steps that read it, and the value it becomes in the next trip. */
	int32_t *first_user, *user;
	int32_t *first_carried,
		*next_carried; /* parameters that a value becomes; -1: end */
	bool *ahead; /* of steps: of what comes in from outside alone, and light */
	/* Of each step of each trip: operands to come, and when those that came were there. */
	int32_t *pending;
	double *ready;
	int32_t *cause; /* the collective that was there last; -1: none */
	struct heap waiting[TIMELINE_STREAMS], able[TIMELINE_STREAMS];
	double free_s[TIMELINE_STREAMS];
	/* Gathers ahead, in the order of the text, and the bytes up to each. */
	LIST(int32_t) early;
	double *early_bytes;
	double window;
	int64_t passed,
		released; /* of `early`: before the next kernel; started or queued */
	int32_t last[TIMELINE_STREAMS];
	double *last_exposed; /* of the last trip that is run */
	LIST(int32_t) stack;
};

static const struct instruction *op_of(const struct run *r, int32_t step)
{
	return &r->ask->program->op.at[r->f->step.at[step].op];
}

static bool is_collective(const struct run *r, int32_t step)
{
	return r->ask->step[step].stream >= 0;
}

/* --- what depends on what --------------------------------------------------------- */

static void find_users(struct run *r)
{
	const struct flat *f = r->f;
	int64_t n = f->value.n, m = f->in.n + 1;

	r->first_user = arena_alloc(r->a, (size_t)n + 2, sizeof(*r->first_user));
	r->user = arena_alloc(r->a, (size_t)m, sizeof(*r->user));
	for (int32_t k = 0; k < r->nsteps; k++)
		for (int32_t i = 0; i < f->step.at[k].nin; i++)
			r->first_user[f->in.at[f->step.at[k].first_in + i] + 2]++;
	for (int64_t v = 0; v < n; v++)
		r->first_user[v + 2] += r->first_user[v + 1];
	for (int32_t k = 0; k < r->nsteps; k++)
		for (int32_t i = 0; i < f->step.at[k].nin; i++) {
			int32_t v = f->in.at[f->step.at[k].first_in + i];

			r->user[r->first_user[v + 1]++] = k;
		}
}

/* Ops that bring a parameter into the form in which it is gathered or read. */
static bool only_forms(const struct run *r, int32_t step)
{
	const struct instruction *op;
	enum op_class c;

	if (r->ask->fact)
		return r->ask->fact[step].forms;
	op = op_of(r, step);
	c = opcode_class(op->code);
	return c == CLASS_FREE || c == CLASS_ELEMENTWISE || c == CLASS_MOVE ||
	       op->code == HLO_DYNAMIC_SLICE;
}

/*
 * Finds what only brings into a form what comes in and stays as it is from trip to trip, and
 * the collectives on that.
 */
static void find_ahead(struct run *r)
{
	const struct flat *f = r->f;
	bool *fixed = arena_alloc(r->a, (size_t)f->value.n + 1, sizeof(*fixed));
	bool changed = true;

	r->ahead = arena_alloc(r->a, (size_t)r->nsteps + 1, sizeof(*r->ahead));
	for (int64_t v = 0; v < f->value.n && f->value.at[v].step < 0; v++)
		fixed[v] = true;
	while (changed) {
		changed = false;
		for (int32_t k = 0; k < r->nsteps; k++) {
			const struct flat_step *s = &f->step.at[k];

			r->ahead[k] = is_collective(r, k) || only_forms(r, k);
			for (int32_t i = 0; i < s->nin; i++)
				r->ahead[k] &= fixed[f->in.at[s->first_in + i]];
			for (int32_t i = 0; i < s->nout; i++)
				fixed[s->first_out + i] =
					r->ahead[k] && !is_collective(r, k);
		}
		for (int32_t i = 0; r->trips > 1 && i < f->result.n; i++)
			if (fixed[i] && !fixed[f->result.at[i]]) {
				fixed[i] = false;
				changed = true;
			}
	}
}

static double result_bytes(const struct run *r, int32_t step)
{
	return r->ask->fact ? r->ask->fact[step].bytes
	                    : (double)op_result_bytes(r->ask->program, op_of(r, step));
}

/* Bytes that are gathered ahead for the layer that gathers most; layers are numbered in order. */
static double fact_layer_bytes(const struct run *r)
{
	const struct timeline_fact *fact = r->ask->fact;
	double sum = 0, most = 0;
	int32_t layer = -1;

	for (int32_t k = 0; k < r->nsteps; k++) {
		if (!is_collective(r, k) || !r->ahead[k] || fact[k].layer < 0)
			continue;
		sum = (fact[k].layer == layer ? sum : 0) + fact[k].bytes;
		layer = fact[k].layer;
		most = fmax(most, sum);
	}
	return most > 0 ? most : INFINITY;
}

/* Bytes that are gathered ahead in what is called most, or in the body of a loop. */
static double layer_bytes(const struct run *r)
{
	const struct program *p = r->ask->program;
	double *sum = arena_alloc(r->a, (size_t)p->region.n, sizeof(*sum)), most = 0;

	for (int32_t k = 0; k < r->nsteps; k++) {
		const struct instruction *op = op_of(r, k);

		if (!is_collective(r, k) || !r->ahead[k] ||
		    (op->region == r->f->region && r->ask->trips <= 1))
			continue;
		sum[op->region] += (double)op_result_bytes(p, op);
	}
	/* A region that is in line n times has n times its bytes in the sum. */
	for (int64_t i = 0; i < p->region.n; i++) {
		double runs = p->region.at[i].runs;
		double body = p->region.at[r->f->region].runs;

		if (sum[i] > 0 && runs > 0)
			most = fmax(most, sum[i] / fmax(1, runs / fmax(1, body)));
	}
	return most > 0 ? most : INFINITY;
}

static void find_early(struct run *r)
{
	double sum = 0;

	for (int32_t trip = 0; trip < r->trips; trip++)
		for (int32_t k = 0; k < r->nsteps; k++)
			if (is_collective(r, k) && r->ahead[k])
				*list_add(&r->early, r->a) = trip * r->nsteps + k;
	r->early_bytes = arena_alloc(r->a, (size_t)r->early.n + 1, sizeof(double));
	for (int64_t i = 0; i < r->early.n; i++) {
		sum += result_bytes(r, r->early.at[i] % r->nsteps);
		r->early_bytes[i] = sum;
	}
	r->window = 2 * (r->ask->fact ? fact_layer_bytes(r) : layer_bytes(r));
}

/* --- what happens ----------------------------------------------------------------- */

static bool before(const void *context, int32_t a, int32_t b)
{
	(void)context;
	return a < b;
}

static bool ready_before(const void *context, int32_t a, int32_t b)
{
	const struct run *r = context;

	if (r->ready[a] != r->ready[b])
		return r->ready[a] < r->ready[b];
	return a < b;
}

static void wait_for_stream(struct run *r, int32_t at)
{
	heap_queue(&r->waiting[r->ask->step[at % r->nsteps].stream], ready_before, r,
	           at, r->ready[at]);
}

/* An operand is there; what takes no time hands on when all its operands are. */
static void arrive(struct run *r, int32_t at, double when, int32_t cause)
{
	int32_t step = at % r->nsteps;

	if (when > r->ready[at]) {
		r->ready[at] = when;
		r->cause[at] = cause;
	}
	if (--r->pending[at] > 0)
		return;
	if (is_collective(r, step) && !r->ahead[step])
		wait_for_stream(r, at);
	else if (!is_collective(r, step) && (r->ask->step[step].s <= 0 || r->ahead[step]))
		*list_add(&r->stack, r->a) = at;
}

/* A value is there, and what it becomes in the next trips. */
static void value_arrives(struct run *r, int32_t trip, int32_t v, double when,
                          int32_t cause)
{
	for (int32_t u = r->first_user[v]; u < r->first_user[v + 1]; u++)
		arrive(r, trip * r->nsteps + r->user[u], when, cause);
	if (trip + 1 < r->trips)
		for (int32_t i = r->first_carried[v]; i >= 0; i = r->next_carried[i])
			value_arrives(r, trip + 1, i, when, cause);
}

static void results_arrive(struct run *r, int32_t at, double when, int32_t cause)
{
	const struct flat_step *s = &r->f->step.at[at % r->nsteps];

	for (int32_t i = 0; i < s->nout; i++)
		value_arrives(r, at / r->nsteps, s->first_out + i, when, cause);
}

static void empty_stack(struct run *r)
{
	while (r->stack.n > 0) {
		int32_t at = r->stack.at[--r->stack.n];

		results_arrive(r, at, r->ready[at], r->cause[at]);
	}
}

static void start_all(struct run *r)
{
	const struct flat *f = r->f;
	int64_t n = (int64_t)r->trips * r->nsteps;

	r->pending = arena_alloc(r->a, (size_t)n + 1, sizeof(*r->pending));
	r->ready = arena_alloc(r->a, (size_t)n + 1, sizeof(*r->ready));
	r->cause = arena_alloc(r->a, (size_t)n + 1, sizeof(*r->cause));
	for (int64_t at = 0; at < n; at++) {
		r->pending[at] = f->step.at[at % r->nsteps].nin;
		r->cause[at] = -1;
		if (r->pending[at] == 0) {
			r->pending[at] = 1;
			arrive(r, (int32_t)at, 0, -1);
		}
	}
	for (int32_t v = 0; v < f->value.n && f->value.at[v].step < 0; v++)
		value_arrives(r, 0, v, 0, -1);
	empty_stack(r);
}

/* Lets the gathers start that are no more than two layers ahead of a kernel, `at`. */
static void release(struct run *r, int32_t at, double when)
{
	int64_t n = r->early.n;

	while (r->passed < n && r->early.at[r->passed] < at)
		r->passed++;
	for (; r->released < n &&
	       (r->released < r->passed ||
	        r->early_bytes[r->released] <=
	                (r->passed ? r->early_bytes[r->passed - 1] : 0) + r->window);
	     r->released++) {
		int32_t one = r->early.at[r->released];

		if (when > r->ready[one])
			r->ready[one] = when;
		wait_for_stream(r, one);
	}
}

static bool is_kernel(const struct run *r, int32_t at)
{
	return !is_collective(r, at % r->nsteps) && r->ask->step[at % r->nsteps].s > 0;
}

/* Finds the stream whose next collective starts first; -1: none has one. */
static int next_stream(struct run *r, double *start)
{
	int best = -1;

	for (int i = 0; i < TIMELINE_STREAMS; i++) {
		struct heap *w = &r->waiting[i];
		double at;

		while (w->n > 0 && r->ready[w->item[0].number] <= r->free_s[i])
			heap_queue(&r->able[i], before, r,
			           heap_take(w, ready_before, r), 0);
		if (r->able[i].n == 0 && w->n == 0)
			continue;
		at = r->able[i].n ? r->free_s[i] : r->ready[w->item[0].number];
		if (best < 0 || at < *start) {
			best = i;
			*start = at;
		}
	}
	return best;
}

static void note_span(struct run *r, int32_t at, double start, double end)
{
	if (at < r->nsteps)
		*list_add(&r->out->span, r->keep) =
			(struct timeline_span){at, start, end};
}

static void run_collective(struct run *r, int stream, double start)
{
	struct heap *h = r->able[stream].n ? &r->able[stream] : &r->waiting[stream];
	int32_t at = h == &r->able[stream] ? heap_take(h, before, r)
	                                   : heap_take(h, ready_before, r);
	double end = start + r->ask->step[at % r->nsteps].s;

	r->free_s[stream] = end;
	r->last[stream] = at % r->nsteps;
	note_span(r, at, start, end);
	results_arrive(r, at, end, at % r->nsteps);
	empty_stack(r);
}

/* Waiting of the kernels, in the last trip apart. */
static void expose(struct run *r, int32_t step, int32_t trip, double s)
{
	r->out->exposed[step] += s;
	if (trip == r->trips - 1)
		r->last_exposed[step] += s;
}

/* Runs kernels in the order of the text, and collectives as streams take them. */
static double run_trips(struct run *r, double *end_of)
{
	int32_t n = r->trips * r->nsteps, at = -1;
	double now = 0;

	for (bool moved = true;;) {
		double start = 0, kernel = INFINITY;
		int stream;

		while (moved && ++at < n && !is_kernel(r, at))
			end_of[at / r->nsteps] = now;
		if (moved)
			release(r, at, now);
		moved = false;
		if (at < n && r->pending[at] <= 0)
			kernel = fmax(now, r->ready[at]);
		stream = next_stream(r, &start);
		if (stream >= 0 && start <= kernel) {
			run_collective(r, stream, start);
			continue;
		}
		if (isinf(kernel))
			break;
		if (kernel > now && r->cause[at] >= 0)
			expose(r, r->cause[at], at / r->nsteps, kernel - now);
		now = kernel + r->ask->step[at % r->nsteps].s;
		end_of[at / r->nsteps] = now;
		note_span(r, at, kernel, now);
		if (!r->ahead[at % r->nsteps]) {
			results_arrive(r, at, now, -1);
			empty_stack(r);
		}
		moved = true;
	}
	return now;
}

static void carry(struct run *r)
{
	const struct flat *f = r->f;

	r->first_carried = arena_alloc(r->a, (size_t)f->value.n + 1, sizeof(int32_t));
	r->next_carried = arena_alloc(r->a, (size_t)f->result.n + 1, sizeof(int32_t));
	for (int64_t v = 0; v < f->value.n; v++)
		r->first_carried[v] = -1;
	for (int32_t i = 0; i < f->result.n; i++) {
		r->next_carried[i] = r->first_carried[f->result.at[i]];
		r->first_carried[f->result.at[i]] = i;
	}
}

static void run_async(struct run *r)
{
	struct timeline *out = r->out;
	double end_of[TRIPS_RUN] = {0}, more = r->ask->trips - r->trips, end, now;
	int last = -1;

	r->last_exposed = arena_alloc(r->a, (size_t)r->nsteps + 1, sizeof(double));
	find_users(r);
	carry(r);
	find_ahead(r);
	find_early(r);
	start_all(r);
	end = now = run_trips(r, end_of);
	for (int i = 0; i < TIMELINE_STREAMS; i++)
		if (r->free_s[i] > end) {
			end = r->free_s[i];
			last = r->last[i];
		}
	if (last >= 0)
		out->exposed[last] += end - now;
	out->s = end;
	if (more > 0) {
		out->s += more * (end_of[r->trips - 1] - end_of[r->trips - 2]);
		for (int32_t k = 0; k < r->nsteps; k++)
			out->exposed[k] += more * r->last_exposed[k];
	}
	for (int i = 0; i < TIMELINE_STREAMS; i++) {
		heap_free(&r->waiting[i]);
		heap_free(&r->able[i]);
	}
}

/* --- as the text says --------------------------------------------------------------- */

static void run_stream(struct run *r, bool overlap)
{
	const struct flat *f = r->f;
	double *ready = arena_alloc(r->a, (size_t)f->value.n + 1, sizeof(*ready));
	int32_t *cause = arena_alloc(r->a, (size_t)f->value.n + 1, sizeof(*cause));
	double now = 0;

	for (int32_t k = 0; k < r->nsteps; k++) {
		const struct flat_step *s = &f->step.at[k];
		const struct timed_step *t = &r->ask->step[k];
		enum async async = op_of(r, k)->async;
		double start = now, end;
		int32_t by = -1;

		for (int32_t i = 0; i < s->nin; i++) {
			int32_t v = f->in.at[s->first_in + i];

			if (ready[v] > start) {
				start = ready[v];
				by = cause[v];
			}
		}
		if (t->stream >= 0 && overlap && async == ASYNC_START) {
			start = fmax(start, r->free_s[t->stream]);
			end = r->free_s[t->stream] = start + t->s;
			by = k;
		} else {
			if (by >= 0)
				r->out->exposed[by] += r->ask->trips * (start - now);
			if (t->stream >= 0)
				r->out->exposed[k] += r->ask->trips * t->s;
			end = now = start + t->s;
			by = t->stream >= 0 ? k : -1;
		}
		if (t->s > 0)
			*list_add(&r->out->span, r->keep) =
				(struct timeline_span){k, start, end};
		for (int32_t i = 0; i < s->nout; i++) {
			ready[s->first_out + i] = end;
			cause[s->first_out + i] = by;
		}
	}
	r->out->s = r->ask->trips * now;
}

void timeline_run(struct timeline *out, struct arena *a, const struct timeline_ask *ask)
{
	struct run r = {
		.ask = ask, .f = ask->flat, .out = out, .a = arena_new(), .keep = a};

	*out = (struct timeline){0};
	r.nsteps = (int32_t)ask->flat->step.n;
	out->exposed = arena_alloc(a, (size_t)r.nsteps + 1, sizeof(*out->exposed));
	r.trips = (int32_t)fmax(1, fmin(ask->trips, TRIPS_RUN));
	for (int32_t k = 0; k < r.nsteps; k++)
		if (ask->step[k].stream < 0)
			out->compute_s += ask->trips * ask->step[k].s;
	if (r.nsteps > 0 && ask->overlap == OVERLAP_ASYNC)
		run_async(&r);
	else
		run_stream(&r, ask->overlap == OVERLAP_STREAM);
	out->exposed_s = out->s - out->compute_s;
	arena_free(r.a);
}
