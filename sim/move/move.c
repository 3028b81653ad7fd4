#include "move/move.h"

#include "base/hash.h"
#include "base/table.h"
#include "base/units.h"
#include "system/wall.h"

#include <math.h>
#include <string.h>

/* --- planning ------------------------------------------------------------------------- */

static int32_t platform_device(const struct problem *p, const struct mesh *m, int32_t i)
{
	int32_t d = mesh_device(m, i);

	return p->platform ? p->platform[d] : d;
}

/* Says what each device of the machine has of the array. */
static const uint8_t *devices_of(const struct problem *p, int32_t ndevices,
                                 struct arena *a)
{
	uint8_t *on = arena_alloc(a, (size_t)ndevices, sizeof(*on));

	for (int32_t i = 0; i < p->mesh.ndevices; i++)
		on[platform_device(p, &p->mesh, i)] |= SITE_FROM;
	for (int32_t i = 0; i < p->to_mesh.ndevices; i++)
		on[platform_device(p, &p->to_mesh, i)] |= SITE_TO;
	return on;
}

static double step_bytes(const struct plan *p, const struct shape *s)
{
	return (double)dtype_bytes(p->problem->array.dtype, shape_elements(s));
}

/* Returns whether a device with these bits is in a mesh of the problem. */
static bool in_mesh(const struct plan *p, const struct mesh *m, int bits)
{
	if (p->problem->same_devices)
		return bits != 0;
	return bits & (m == &p->problem->to_mesh ? SITE_TO : SITE_FROM);
}

/*
 * Finds what an array holds on devices of each kind. While it moves that is the most over
 * the steps of its source, the operand unless that is the source, and the result, each
 * where its mesh is (plan/memory.h has all of them on every device).
 */
static void hold(struct order_call *out, const struct plan *p, bool free_source)
{
	struct shape source = layout_local(&p->from, &p->shape);
	const struct mesh *before = &p->problem->mesh;

	out->source = out->target = step_bytes(p, &source);
	for (int bits = 0; bits < SITE_KINDS; bits++)
		out->live[bits] = bits & SITE_FROM ? out->source : 0;
	for (int i = 0; i < p->nsteps; i++) {
		const struct step *s = &p->step[i];
		double result = step_bytes(p, s->gathers ? &s->summed : &s->local);
		double operand = s->gathers ? result : i ? out->target : 0;

		for (int bits = 0; bits < SITE_KINDS; bits++) {
			double live = bits & SITE_FROM ? out->source : 0;

			live += in_mesh(p, before, bits) ? operand : 0;
			live += in_mesh(p, s->mesh, bits) ? result : 0;
			out->live[bits] = fmax(out->live[bits], live);
		}
		out->target = result;
		before = s->mesh;
	}
	/* What does not move needs no copy: its source stays where it is kept. */
	if (!p->nsteps && !free_source)
		out->target = 0;
}

/* Copies the devices of the bench, which the next problem takes away. */
static struct placement keep_placement(const struct bench *b, struct arena *a)
{
	const struct placement *p = &b->placement;

	if (!p->platform)
		return *p;
	return (struct placement){
		p->n, arena_dup(a, p->platform, (size_t)p->n, sizeof(*p->platform))};
}

static void note_status(struct move_result *out, const struct moved_array *array,
                        enum outcome status, const char *message, struct arena *a)
{
	if (status <= out->status)
		return;
	out->status = status;
	out->message = arena_printf(a, "%s: %s", array->array->name.at[0], message);
}

static enum status plan_array(struct moved_array *out, const struct move_array *array,
                              const struct move_work *w, const struct move_how *how,
                              const struct planner *planner, struct bench *b,
                              struct arena *a, struct error *e)
{
	struct problem_text text = array->text;

	*out = (struct moved_array){.array = array};
	if (w->any_memory && !text.memory_limit)
		text.memory_limit = "none";
	if (problem_make(&out->problem, a, &text, e) != OK)
		return e->code;
	bench_place(b, &out->problem);
	out->place = keep_placement(b, a);
	out->bytes = dtype_bytes(out->problem.array.dtype,
	                         shape_elements(&out->problem.array.shape));
	measure_plan(&out->m, b, &out->problem, planner, a);
	for (int k = 0; k < b->nclocks && out->m.plan; k++)
		measure_time(&out->m, b, k, a);
	if (!out->m.plan)
		return OK;
	out->on = devices_of(&out->problem, b->machine->ndevices, a);
	hold(&out->held, out->m.plan, how->free_source);
	return OK;
}

static enum status plan_arrays(struct move_result *out, const struct move_work *w,
                               const struct move_how *how, const struct planner *planner,
                               struct bench *b, struct arena *a, struct error *e)
{
	double start = wall_s();

	out->array = arena_alloc(a, (size_t)w->array.n, sizeof(*out->array));
	for (int64_t i = 0; i < w->array.n; i++) {
		struct moved_array *array = &out->array[i];

		if (plan_array(array, &w->array.at[i], w, how, planner, b, a, e) != OK)
			return e->code;
		note_status(out, array, array->m.status, array->m.message, a);
	}
	out->planning_s = wall_s() - start;
	return OK;
}

/* --- sites ---------------------------------------------------------------------------- */

/*
 * Numbers the sites: devices that have the same of every kind of call. on[ncalls * nsites]
 * is filled, call after call.
 */
static int32_t number_sites(uint8_t **on, const struct move_result *r, int32_t ndevices,
                            struct arena *a)
{
	int32_t *site = arena_alloc(a, (size_t)ndevices, sizeof(*site)), nsites = 1;
	int32_t *first = arena_alloc(a, (size_t)ndevices, sizeof(*first));

	for (int32_t c = 0; c < r->ncalls; c++) {
		const uint8_t *bits = r->array[r->call[c].run[0].array].on;
		int32_t *next =
			arena_alloc(a, (size_t)nsites * SITE_KINDS, sizeof(*next));
		int32_t n = 0;

		for (int32_t d = 0; d < ndevices; d++) {
			int32_t *to = &next[site[d] * SITE_KINDS + bits[d]];

			if (!*to)
				*to = ++n;
			site[d] = *to - 1;
		}
		nsites = n;
	}
	for (int32_t d = ndevices - 1; d >= 0; d--)
		first[site[d]] = d;
	*on = arena_alloc(a, (size_t)r->ncalls * (size_t)nsites, sizeof(**on));
	for (int32_t c = 0; c < r->ncalls; c++)
		for (int32_t s = 0; s < nsites; s++)
			(*on)[c * nsites + s] =
				r->array[r->call[c].run[0].array].on[first[s]];
	return nsites;
}

/* Adds up what the arrays of every kind of call hold. */
static struct order_case order_case_of(const struct move_result *r,
                                       const struct move_how *how, int32_t ndevices,
                                       struct arena *a)
{
	struct order_call *call = arena_alloc(a, (size_t)r->ncalls, sizeof(*call));
	uint8_t *on;
	int32_t nsites = number_sites(&on, r, ndevices, a);

	for (int32_t c = 0; c < r->ncalls; c++) {
		call[c].on = &on[c * nsites];
		for (int32_t i = 0; i < r->call[c].nruns; i++) {
			const struct move_run *run = &r->call[c].run[i];
			const struct order_call *held = &r->array[run->array].held;
			double n = (double)run->count;

			call[c].source += n * held->source;
			call[c].target += n * held->target;
			for (int k = 0; k < SITE_KINDS; k++)
				call[c].live[k] += n * held->live[k];
		}
	}
	return (struct order_case){.nsites = nsites,
	                           .ncalls = r->ncalls,
	                           .call = call,
	                           .free_source = how->free_source,
	                           .concurrent = how->concurrent,
	                           .limit = how->limit_bytes};
}

/* --- waves ---------------------------------------------------------------------------- */

/* Times of waves that were met before: those of another order are often the same. */
struct memo {
	struct table index;
	LIST(struct order_wave) wave;
	LIST(struct order_waves *) of; /* whose wave it is */
	LIST(struct moved_wave) timed;
};

/* A move that is being put in order and timed. */
struct timing {
	struct move_result *out;
	const struct order_case *order;
	struct bench *bench;
	struct arena *arena;
	struct memo memo;
};

static uint64_t wave_hash(const struct order_waves *w, const struct order_wave *wave)
{
	uint64_t hash = HASH_START;

	for (int32_t i = 0; i < wave->nruns; i++) {
		const struct order_run *run = &w->run.at[wave->first + i];

		hash = hash_bytes(hash, &run->call, sizeof(run->call));
		hash = hash_bytes(hash, &run->count, sizeof(run->count));
	}
	return hash;
}

static bool wave_equal(const struct order_waves *x, const struct order_wave *a,
                       const struct order_waves *y, const struct order_wave *b)
{
	if (a->nruns != b->nruns)
		return false;
	for (int32_t i = 0; i < a->nruns; i++) {
		const struct order_run *r = &x->run.at[a->first + i];
		const struct order_run *s = &y->run.at[b->first + i];

		if (r->call != s->call || r->count != s->count)
			return false;
	}
	return true;
}

/* Returns the memo's entry of a wave, a new one without times if there is none. */
static struct moved_wave *wave_known(struct timing *t, struct order_waves *w, int64_t i)
{
	const struct order_wave *wave = &w->wave.at[i];
	uint64_t hash = wave_hash(w, wave);
	struct memo *memo = &t->memo;
	struct moved_wave none = {.nsteps = 0};
	size_t slot;

	for (int32_t k = table_first(&memo->index, hash, &slot); k >= 0;
	     k = table_next(&memo->index, hash, &slot))
		if (wave_equal(w, wave, memo->of.at[k], &memo->wave.at[k]))
			return &memo->timed.at[k];
	for (int k = 0; k < CLOCKS_MAX; k++)
		none.time_s[k] = NAN;
	memo->index.arena = t->arena;
	table_add(&memo->index, hash, (int32_t)memo->wave.n);
	*list_add(&memo->wave, t->arena) = *wave;
	*list_add(&memo->of, t->arena) = w;
	*list_add(&memo->timed, t->arena) = none;
	return &memo->timed.at[memo->timed.n - 1];
}

/* Times all waves by a clock; NaN with the reason in the result where it cannot. */
static double time_waves(struct timing *t, struct order_waves *w, int clock)
{
	struct wave_case c = {t->out, t->order, t->bench->machine, w};
	double total_s = 0;

	for (int64_t i = 0; i < w->wave.n; i++) {
		struct moved_wave *wave = wave_known(t, w, i);
		char message[256] = "";

		if (isnan(wave->time_s[clock]))
			wave->time_s[clock] =
				wave_time(wave, &c, i, t->bench, clock, t->arena,
			                  message, sizeof(message));
		if (wave->time_s[clock] < 0) {
			enum outcome status = wave->time_s[clock] == CLOCK_FAILED_S
			                              ? OUTCOME_FAILED
			                              : OUTCOME_NOT_APPLICABLE;

			wave->time_s[clock] = NAN;
			t->out->clock_message[clock] =
				arena_printf(t->arena, "%s: %s",
			                     t->bench->clock[clock]->name, message);
			if (status > t->out->status) {
				t->out->status = status;
				t->out->message = t->out->clock_message[clock];
			}
			return NAN;
		}
		total_s += (double)w->wave.at[i].repeats * wave->time_s[clock];
	}
	return total_s;
}

/* What an order is judged by: what is beyond the limit, seconds, and the most held. */
struct judged {
	double beyond, time_s, peak;
};

static bool better(const struct judged *a, const struct judged *b)
{
	if (a->beyond != b->beyond)
		return a->beyond < b->beyond;
	if (fabs(a->time_s - b->time_s) > 1e-9 * b->time_s)
		return a->time_s < b->time_s;
	return a->peak < b->peak * (1 - 1e-12);
}

/*
 * Takes the best of all orders: within the limit, then the fastest by the first clock, then
 * the one that holds least. One call after another takes the same time in every order.
 */
static void choose_order(struct timing *t, const struct order_run *run, int64_t nruns,
                         const struct move_how *how)
{
	struct orders orders = {.n = 1, {"as given"}, {(struct order_run *)run}, {nruns}};
	struct judged best = {INFINITY, INFINITY, INFINITY};
	struct order_waves *waves;

	if (!how->given_order)
		orders_of(&orders, t->order, run, nruns, t->arena);
	waves = arena_alloc(t->arena, (size_t)orders.n, sizeof(*waves));
	for (int i = 0; i < orders.n; i++) {
		struct judged now = {0};

		order_waves(&waves[i], t->order, orders.run[i], orders.nruns[i],
		            t->arena);
		now.peak = waves[i].peak;
		if (how->limit_bytes > 0)
			now.beyond = fmax(0, waves[i].peak - how->limit_bytes);
		if (t->order->concurrent > 1 && orders.n > 1 && now.beyond == 0)
			now.time_s = time_waves(t, &waves[i], 0);
		if (!i || better(&now, &best)) {
			best = now;
			t->out->waves = waves[i];
			t->out->order = orders.name[i];
		}
	}
}

static void copy_times(struct timing *t)
{
	struct move_result *out = t->out;

	out->wave = arena_alloc(t->arena, (size_t)out->waves.wave.n + 1,
	                        sizeof(*out->wave));
	for (int64_t i = 0; i < out->waves.wave.n; i++) {
		out->wave[i] = *wave_known(t, &out->waves, i);
		out->nwaves += out->waves.wave.at[i].repeats;
	}
}

/* Says what is needed, in the units of the limit too, and what it would take. */
static void over_memory(struct timing *t, const struct move_how *how)
{
	struct move_result *out = t->out;
	struct text need = {0}, capacity = {0};

	text_printf(&need, "needs ");
	units_print_bytes(&need, out->waves.peak);
	text_printf(&need, " (%.0f bytes) on a device for all arrays, %s ",
	            out->waves.peak, how->limit_what);
	units_print_bytes(&need, how->limit_bytes);
	units_print_capacity(&capacity, how->limit_bytes);
	if (!strstr(need.s, capacity.s))
		text_printf(&need, " (%s)", capacity.s);
	text_free(&capacity);
	if (t->bench->nclocks > 0) {
		text_printf(&need, "; with more memory it takes ");
		units_print_time(&need, time_waves(t, &out->waves, 0));
		text_printf(&need, ", as --memory-limit none tells in full");
	}
	out->status = OUTCOME_OVER_MEMORY;
	out->message = text_take(&need, t->arena);
}

static enum status order_and_time(struct move_result *out, const struct move_work *w,
                                  const struct move_how *how, struct bench *b,
                                  struct arena *a, struct error *e)
{
	struct order_run *run;
	struct order_case order;
	struct timing t = {.out = out, .order = &order, .bench = b, .arena = a};
	int64_t nruns;

	move_calls(out, &run, &nruns, w, how, a);
	order = order_case_of(out, how, b->machine->ndevices, a);
	choose_order(&t, run, nruns, how);
	if (how->limit_bytes > 0 && out->waves.peak > how->limit_bytes) {
		over_memory(&t, how);
		return OK;
	}
	for (int k = 0; k < b->nclocks; k++)
		out->time_s[k] = time_waves(&t, &out->waves, k);
	copy_times(&t);
	if (how->host && out->status == OUTCOME_OK)
		return move_host(out, w, &order, how->host, b, a, e);
	return OK;
}

enum status move_run(struct move_result *out, const struct move_work *w,
                     const struct move_how *how, const struct planner *planner,
                     struct bench *b, struct arena *a, struct error *e)
{
	*out = (struct move_result){.planner = planner->name, .message = ""};
	for (int k = 0; k < CLOCKS_MAX; k++)
		out->time_s[k] = NAN;
	if (plan_arrays(out, w, how, planner, b, a, e) != OK)
		return e->code;
	for (int64_t i = 0; i < w->array.n; i++)
		if (!out->array[i].m.plan)
			return OK;
	return order_and_time(out, w, how, b, a, e);
}
