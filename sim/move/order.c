#include "move/order.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what sites hold ------------------------------------------------------------------ */

static double held_before(const struct order_call *call, int32_t site)
{
	return call->on[site] & SITE_FROM ? call->source : 0;
}

static double held_after(const struct order_case *c, const struct order_call *call,
                         int32_t site)
{
	uint8_t on = call->on[site];

	return (on & SITE_TO ? call->target : 0) +
	       (on & SITE_FROM && !c->free_source ? call->source : 0);
}

/* Returns by how much a call in flight raises what a site holds. */
static double rise(const struct order_call *call, int32_t site)
{
	return call->live[call->on[site]] - held_before(call, site);
}

static double most(const double *held, int32_t n)
{
	double max = 0;

	for (int32_t i = 0; i < n; i++)
		max = fmax(max, held[i]);
	return max;
}

/* Returns what every site holds before the first call, [nsites]. */
static double *start(const struct order_case *c, const struct order_run *run,
                     int64_t nruns, struct arena *a)
{
	double *held = arena_alloc(a, (size_t)c->nsites, sizeof(*held));

	for (int64_t i = 0; i < nruns; i++)
		for (int32_t s = 0; s < c->nsites; s++)
			held[s] += (double)run[i].count *
			           held_before(&c->call[run[i].call], s);
	return held;
}

/* --- waves ---------------------------------------------------------------------------- */

/* A wave that is being filled. */
struct filling {
	const struct order_case *c;
	struct arena *arena;
	double *held, *with; /* [nsites]: before the wave, and with it in flight */
	LIST(struct order_run) run;
	int64_t calls;
};

static void take_call(struct filling *f, int32_t call)
{
	struct order_run *last = f->run.n ? &f->run.at[f->run.n - 1] : NULL;

	for (int32_t s = 0; s < f->c->nsites; s++)
		f->with[s] += rise(&f->c->call[call], s);
	if (last && last->call == call)
		last->count++;
	else
		*list_add(&f->run, f->arena) = (struct order_run){call, 1};
	f->calls++;
}

static bool has_room(const struct filling *f, int32_t call)
{
	if (!f->calls)
		return true;
	if (f->calls >= f->c->concurrent)
		return false;
	for (int32_t s = 0; f->c->limit > 0 && s < f->c->nsites; s++)
		if (f->with[s] + rise(&f->c->call[call], s) > f->c->limit)
			return false;
	return true;
}

static bool runs_equal(const struct order_run *a, const struct order_run *b, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (a[i].call != b[i].call || a[i].count != b[i].count)
			return false;
	return true;
}

/* Adds the wave that was filled, or counts the one before once more. */
static void end_wave(struct order_waves *out, struct filling *f)
{
	double peak = most(f->with, f->c->nsites);
	struct order_wave *last = out->wave.n ? &out->wave.at[out->wave.n - 1] : NULL;

	for (int64_t i = 0; i < f->run.n; i++)
		for (int32_t s = 0; s < f->c->nsites; s++) {
			const struct order_call *call = &f->c->call[f->run.at[i].call];

			f->held[s] += (double)f->run.at[i].count *
			              (held_after(f->c, call, s) - held_before(call, s));
		}
	out->peak = fmax(out->peak, peak);
	if (last && last->nruns == f->run.n &&
	    runs_equal(&out->run.at[last->first], f->run.at, f->run.n)) {
		last->repeats++;
		last->peak = fmax(last->peak, peak);
	} else {
		*list_add(&out->wave, f->arena) =
			(struct order_wave){out->run.n, (int32_t)f->run.n, 1, peak};
		for (int64_t i = 0; i < f->run.n; i++)
			*list_add(&out->run, f->arena) = f->run.at[i];
	}
	f->run.n = f->calls = 0;
	memcpy(f->with, f->held, (size_t)f->c->nsites * sizeof(*f->with));
}

void order_waves(struct order_waves *out, const struct order_case *c,
                 const struct order_run *run, int64_t nruns, struct arena *a)
{
	struct filling f = {.c = c, .arena = a};

	*out = (struct order_waves){.peak = 0};
	f.held = start(c, run, nruns, a);
	f.with = arena_dup(a, f.held, (size_t)c->nsites, sizeof(*f.held));
	out->before = out->peak = most(f.held, c->nsites);
	for (int64_t i = 0; i < nruns; i++)
		for (int64_t k = 0; k < run[i].count; k++) {
			if (!has_room(&f, run[i].call))
				end_wave(out, &f);
			take_call(&f, run[i].call);
		}
	if (f.calls)
		end_wave(out, &f);
	out->after = most(f.held, c->nsites);
	out->peak = fmax(out->peak, out->after);
}

/* --- orders --------------------------------------------------------------------------- */

/* A kind of calls with its key in an order. */
struct keyed {
	struct order_run run;
	int rank;
	double key;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank - y->rank;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->run.call > y->run.call) - (x->run.call < y->run.call);
}

/* Returns the first site that has just these bits of a call, -1 if none has. */
static int32_t site_of(const struct order_case *c, const struct order_call *call,
                       uint8_t bits)
{
	for (int32_t s = 0; s < c->nsites; s++)
		if (call->on[s] == bits)
			return s;
	return -1;
}

/* Counts the calls of every kind, in the order in which they come first. */
static int64_t count_kinds(struct keyed *out, const struct order_case *c,
                           const struct order_run *run, int64_t nruns, struct arena *a)
{
	int64_t *at = arena_alloc(a, (size_t)c->ncalls, sizeof(*at)), n = 0;

	for (int64_t i = 0; i < nruns; i++) {
		int64_t *place = &at[run[i].call];

		if (!*place) {
			*place = ++n;
			out[n - 1] = (struct keyed){.run = {run[i].call, 0}};
		}
		out[*place - 1].run.count += run[i].count;
	}
	return n;
}

/* Orders the kinds by what they do to the sites with these bits. */
static void order_by_sites(struct keyed *kind, int64_t n, const struct order_case *c,
                           uint8_t bits)
{
	for (int64_t i = 0; i < n; i++) {
		const struct order_call *call = &c->call[kind[i].run.call];
		int32_t s = site_of(c, call, bits);
		double up = s < 0 ? 0 : rise(call, s);
		double change =
			s < 0 ? 0 : held_after(c, call, s) - held_before(call, s);

		kind[i].rank = change > 0;
		kind[i].key = change > 0 ? change - up : up;
	}
	qsort(kind, (size_t)n, sizeof(*kind), by_key);
}

/* The most work of a search, in sites looked at: about a second. */
static const double SEARCH_WORK = 2e8;

/* Orders calls one by one: the one next with which the most that is held is least. */
static bool order_greedily(struct order_run *out, int64_t *nout,
                           const struct keyed *kind, int64_t n,
                           const struct order_case *c, const struct order_run *run,
                           int64_t nruns, struct arena *a)
{
	int64_t *left = arena_alloc(a, (size_t)n, sizeof(*left)), ncalls = 0;
	double *held = start(c, run, nruns, a);

	for (int64_t i = 0; i < n; i++)
		ncalls += left[i] = kind[i].run.count;
	if ((double)ncalls * (double)n * c->nsites > SEARCH_WORK)
		return false;
	*nout = 0;
	for (int64_t k = 0; k < ncalls; k++) {
		double best = INFINITY, best_change = 0;
		int64_t chosen = -1;
		const struct order_call *call;

		for (int64_t i = 0; i < n; i++) {
			double peak = 0, change = 0;

			call = &c->call[kind[i].run.call];
			for (int32_t s = 0; s < c->nsites && left[i]; s++) {
				peak = fmax(peak, held[s] + rise(call, s));
				change += held_after(c, call, s) - held_before(call, s);
			}
			if (left[i] &&
			    (peak < best || (peak == best && change < best_change))) {
				best = peak;
				best_change = change;
				chosen = i;
			}
		}
		call = &c->call[kind[chosen].run.call];
		for (int32_t s = 0; s < c->nsites; s++)
			held[s] += held_after(c, call, s) - held_before(call, s);
		left[chosen]--;
		if (*nout && out[*nout - 1].call == kind[chosen].run.call)
			out[*nout - 1].count++;
		else
			out[(*nout)++] = (struct order_run){kind[chosen].run.call, 1};
	}
	return true;
}

/* The most kinds of calls whose sites are compared with those of every other kind. */
enum { SETS_MAX = 4096 };

/* Numbers the sets of sites that kinds of calls are on, set[ncalls]; returns how many. */
static int32_t number_sets(int32_t *set, const struct order_case *c)
{
	int32_t n = 0;

	for (int32_t i = 0; i < c->ncalls; i++) {
		int32_t k = 0;

		while (k < i &&
		       memcmp(c->call[k].on, c->call[i].on, (size_t)c->nsites) != 0)
			k++;
		set[i] = k < i ? set[k] : n++;
	}
	return n;
}

/*
 * Lets calls on different sites alternate: one of each set of sites in turn, each set in
 * the order that it had. Returns false where all are on the same.
 */
static bool alternate(struct order_run *out, int64_t *nout, const struct order_case *c,
                      const struct order_run *run, int64_t nruns, struct arena *a)
{
	int32_t *set = arena_alloc(a, (size_t)c->ncalls, sizeof(*set)), nsets;
	int64_t *left = arena_alloc(a, (size_t)nruns, sizeof(*left)), remain = 0;
	int64_t *next;

	if (c->ncalls > SETS_MAX)
		return false;
	nsets = number_sets(set, c);
	next = arena_alloc(a, (size_t)nsets, sizeof(*next));
	for (int64_t i = 0; i < nruns; i++)
		remain += left[i] = run[i].count;
	*nout = 0;
	for (int32_t turn = 0; remain > 0 && nsets > 1; turn = (turn + 1) % nsets) {
		int64_t *i = &next[turn];

		while (*i < nruns && (set[run[*i].call] != turn || !left[*i]))
			++*i;
		if (*i == nruns)
			continue;
		left[*i]--;
		remain--;
		out[(*nout)++] = (struct order_run){run[*i].call, 1};
	}
	return nsets > 1;
}

static void keep_order(struct orders *out, const char *name,
                       const struct order_run *run, int64_t n, struct arena *a)
{
	out->name[out->n] = name;
	out->run[out->n] = arena_dup(a, run, (size_t)n, sizeof(*run));
	out->nruns[out->n++] = n;
}

/* Returns the most that a site holds, one call after another, as order_waves() finds it. */
static double order_peak(const struct order_case *c, const struct order_run *run,
                         int64_t n, const double *before, double *held)
{
	double peak = most(before, c->nsites);

	memcpy(held, before, (size_t)c->nsites * sizeof(*held));
	for (int64_t i = 0; i < n; i++) {
		const struct order_call *call = &c->call[run[i].call];
		double last = (double)run[i].count - 1;

		/* What is held changes evenly, so one end of the run is the worst. */
		for (int32_t s = 0; s < c->nsites; s++) {
			double up = rise(call, s);
			double change = held_after(c, call, s) - held_before(call, s);

			peak = fmax(peak, held[s] + up + fmax(0, last * change));
			held[s] += (last + 1) * change;
		}
	}
	return fmax(peak, most(held, c->nsites));
}

/* Moves the run at place `from` to place `to`, those between by one. */
static void move_run_to(struct order_run *run, int64_t from, int64_t to)
{
	struct order_run moved = run[from];

	if (from < to)
		memmove(&run[from], &run[from + 1], (size_t)(to - from) * sizeof(*run));
	else
		memmove(&run[to + 1], &run[to], (size_t)(from - to) * sizeof(*run));
	run[to] = moved;
}

/*
 * Moves single runs to other places as long as that lowers the peak. Returns false where
 * nothing does, or where to look at all places would take too long.
 */
static bool order_by_moves(struct order_run *run, int64_t n, const struct order_case *c,
                           struct arena *a)
{
	double *before = start(c, run, n, a);
	double *held = arena_alloc(a, (size_t)c->nsites, sizeof(*held));
	double least = order_peak(c, run, n, before, held), once = (double)n * c->nsites;
	double work = SEARCH_WORK / 4;
	bool lowered = false, again = true;

	if (once * (double)n * (double)n > work)
		return false;
	while (again && work > 0) {
		again = false;
		for (int64_t i = 0; i < n; i++)
			for (int64_t k = 0; k < n; k++, work -= once) {
				double peak;

				move_run_to(run, i, k);
				peak = order_peak(c, run, n, before, held);
				if (peak < least * (1 - 1e-12)) {
					least = peak;
					lowered = again = true;
				} else {
					move_run_to(run, k, i);
				}
			}
	}
	return lowered;
}

/* Adds the order of those there are that holds least, with single runs elsewhere. */
static void add_moved_order(struct orders *out, const struct order_case *c,
                            struct arena *a)
{
	double least = INFINITY;
	struct order_run *run;
	int best = 0;

	for (int i = 0; i < out->n; i++) {
		double *before = start(c, out->run[i], out->nruns[i], a);
		double *held = arena_alloc(a, (size_t)c->nsites, sizeof(*held));
		double peak = order_peak(c, out->run[i], out->nruns[i], before, held);

		if (peak < least) {
			least = peak;
			best = i;
		}
	}
	run = arena_dup(a, out->run[best], (size_t)out->nruns[best], sizeof(*run));
	if (order_by_moves(run, out->nruns[best], c, a))
		keep_order(out, "the least peak found", run, out->nruns[best], a);
}

/* Adds the orders by kinds of calls, of which there are `n`. */
static void add_kind_orders(struct orders *out, const struct order_case *c,
                            struct keyed *kind, int64_t n, const struct order_run *given,
                            int64_t ngiven, struct arena *a)
{
	static const uint8_t bits[] = {SITE_FROM | SITE_TO, SITE_TO, SITE_FROM};
	static const char *const name[] = {"by what stays on devices of both meshes",
	                                   "by what stays on target devices",
	                                   "by what stays on source devices"};
	struct order_run *run;
	int64_t ncalls = 0, nrun;

	for (int64_t i = 0; i < n; i++)
		ncalls += kind[i].run.count;
	run = arena_alloc(a, (size_t)ncalls, sizeof(*run));
	for (int k = 0; k < 3; k++) {
		order_by_sites(kind, n, c, bits[k]);
		for (int64_t i = 0; i < n; i++)
			run[i] = kind[i].run;
		keep_order(out, name[k], run, n, a);
	}
	if (order_greedily(run, &nrun, kind, n, c, given, ngiven, a))
		keep_order(out, "the least peak next", run, nrun, a);
}

void orders_of(struct orders *out, const struct order_case *c,
               const struct order_run *given, int64_t ngiven, struct arena *a)
{
	struct keyed *kind = arena_alloc(a, (size_t)c->ncalls + 1, sizeof(*kind));
	int64_t n = count_kinds(kind, c, given, ngiven, a), ncalls = 0, nrun;
	struct order_run *run;
	int straight;

	out->n = 0;
	keep_order(out, "as given", given, ngiven, a);
	add_kind_orders(out, c, kind, n, given, ngiven, a);
	add_moved_order(out, c, a);
	straight = out->n;
	for (int64_t i = 0; i < n; i++)
		ncalls += kind[i].run.count;
	run = arena_alloc(a, (size_t)ncalls + 1, sizeof(*run));
	for (int i = 0; i < straight && c->concurrent > 1; i++)
		if (alternate(run, &nrun, c, out->run[i], out->nruns[i], a))
			keep_order(out,
			           arena_printf(a, "%s, devices in turn", out->name[i]),
			           run, nrun, a);
}
