#include "automap/repeat.h"

#include "base/hash.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

enum {
	RUNS_MAX = 16,    /* longer ones come first; what is left is short */
	PERIODS_MAX = 24, /* the distances between equal steps that are tried */
	WINDOW = 6        /* steps that are compared to find distances */
};

/* Where something is in the instances of a run; run -1: in none. */
struct spot {
	int32_t run, instance, place;
};

struct finder {
	struct repeats *r;
	struct arena *a;
	const struct program *p;
	const struct flat *f;
	uint64_t *sign; /* [steps] of op and shapes */
	int32_t *seen;  /* [flat values] when they were counted last */
	int32_t stamp;
	struct spot *spot; /* [flat values] of arguments: where it is read first */
};

/* --- runs ------------------------------------------------------------------------- */

static uint64_t sign_type(uint64_t h, const struct value_type *t)
{
	h = hash_bytes(h, &t->dtype, sizeof(t->dtype));
	return hash_bytes(h, t->dim, (size_t)t->rank * sizeof(*t->dim));
}

static uint64_t sign_ints(uint64_t h, struct ints x)
{
	h = hash_bytes(h, &x.n, sizeof(x.n));
	return x.n ? hash_bytes(h, x.at, (size_t)x.n * sizeof(*x.at)) : h;
}

static uint64_t sign_step(const struct finder *k, int32_t step)
{
	const struct flat_step *s = &k->f->step.at[step];
	const struct instruction *op = &k->p->op.at[s->op];
	uint64_t h = hash_bytes(HASH_START, &op->code, sizeof(op->code));

	for (int32_t i = 0; i < s->nin; i++)
		h = sign_type(h, k->f->value.at[k->f->in.at[s->first_in + i]].type);
	for (int32_t i = 0; i < s->nout; i++)
		h = sign_type(h, k->f->value.at[s->first_out + i].type);
	h = sign_ints(h, op->dims);
	h = hash_bytes(h, &s->times, sizeof(s->times));
	if (op->code == HLO_DOT && op->as.dot) {
		h = sign_ints(h, op->as.dot->lhs_contracting);
		h = sign_ints(h, op->as.dot->rhs_contracting);
		h = sign_ints(h, op->as.dot->lhs_batch);
	}
	return h;
}

struct place {
	uint64_t hash;
	int32_t step;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return compare_int32(&x->step, &y->step);
}

/* Distances between equal windows next to each other, the most frequent first. */
static int distances(int32_t *out, const struct finder *k)
{
	int32_t n = (int32_t)k->f->step.n, *count;
	struct place *place = arena_alloc(k->a, (size_t)n + 1, sizeof(*place));
	int found = 0;

	count = arena_alloc(k->a, (size_t)n + 1, sizeof(*count));
	for (int32_t i = 0; i < n; i++) {
		uint64_t h = HASH_START;

		for (int32_t j = i; j < i + WINDOW && j < n; j++)
			h = hash_word(h ^ (k->r->run_of[j] < 0 ? k->sign[j]
			                                       : (uint64_t)(j + 1)));
		place[i] = (struct place){h, i};
	}
	qsort(place, (size_t)n, sizeof(*place), compare_places);
	for (int32_t i = 0; i + 1 < n; i++)
		if (place[i].hash == place[i + 1].hash)
			count[place[i + 1].step - place[i].step]++;
	for (; found < PERIODS_MAX; found++) {
		int32_t best = 0;

		for (int32_t d = 1; d < n; d++)
			if (count[d] > count[best])
				best = d;
		if (!count[best])
			break;
		count[best] = 0;
		out[found] = best;
	}
	return found;
}

/* The stretch with a period that is longest in instances times period; n 0: none. */
static struct repeat_run longest(const struct finder *k, int32_t period, int32_t *spare)
{
	struct repeat_run best = {.period = period};
	int32_t n = (int32_t)k->f->step.n, start = 0;

	*spare = 0;
	for (int32_t i = 0; i <= n - period; i++) {
		bool alike = i < n - period && k->sign[i] == k->sign[i + period] &&
		             k->r->run_of[i] < 0 && k->r->run_of[i + period] < 0;
		int32_t instances;

		if (alike)
			continue;
		instances = (i - start) / period + 1;
		if (i - start >= period && instances > best.n) {
			best.first = start;
			best.n = instances;
			*spare = (i - start) % period;
		}
		start = i + 1;
	}
	return best;
}

/* How many arrays go from one instance to the next if the run starts there. */
static int32_t crossings(struct finder *k, const struct repeat_run *run)
{
	int32_t n = 0, second = run->first + run->period;

	k->stamp++;
	for (int32_t i = second; i < second + run->period; i++) {
		const struct flat_step *s = &k->f->step.at[i];

		for (int32_t j = 0; j < s->nin; j++) {
			int32_t v = k->f->in.at[s->first_in + j];
			int32_t from = k->f->value.at[v].step;

			if (from < run->first || from >= second ||
			    k->seen[v] == k->stamp)
				continue;
			k->seen[v] = k->stamp;
			n++;
		}
	}
	return n;
}

static bool find_run(struct finder *k)
{
	int32_t period[PERIODS_MAX], spare, best_spare = 0, least = INT32_MAX, start;
	struct repeat_run best = {0}, at;
	int n = distances(period, k);

	for (int i = 0; i < n; i++) {
		struct repeat_run r = longest(k, period[i], &spare);
		int64_t length = (int64_t)r.n * r.period,
			most = (int64_t)best.n * best.period;

		if (length > most || (length == most && r.n > best.n)) {
			best = r;
			best_spare = spare;
		}
	}
	if (best.n < 2)
		return false;
	at = best;
	start = best.first;
	for (int32_t i = 0; i <= best_spare; i++) {
		int32_t now;

		at.first = start + best_spare - i;
		now = crossings(k, &at);
		if (now <= least) {
			least = now;
			best.first = at.first;
		}
	}
	for (int32_t i = best.first; i < best.first + best.n * best.period; i++)
		k->r->run_of[i] = (int32_t)k->r->run.n;
	best.folded = best.n > 3;
	*list_add(&k->r->run, k->a) = best;
	return true;
}

/* --- arguments -------------------------------------------------------------------- */

/* Number `number` of the operands or results of a step. */
static struct spot spot_at(const struct finder *k, int32_t step, int32_t number)
{
	int32_t run = k->r->run_of[step], place = step;

	if (run >= 0)
		place = (step - k->r->run.at[run].first) % k->r->run.at[run].period;
	return (struct spot){run, repeat_instance(k->r, step), place * 64 + number % 64};
}

static void place_arguments(struct finder *k)
{
	int32_t n = k->p->region.at[k->f->region].param.n;

	k->spot = arena_alloc(k->a, (size_t)k->f->value.n + 1, sizeof(*k->spot));
	for (int64_t v = 0; v < k->f->value.n; v++)
		k->spot[v] = (struct spot){-1, 0, -1};
	for (int32_t i = 0; i < k->f->step.n; i++) {
		const struct flat_step *s = &k->f->step.at[i];

		for (int32_t j = 0; j < s->nin; j++) {
			int32_t v = k->f->in.at[s->first_in + j];

			if (v < n && k->spot[v].place < 0)
				k->spot[v] = spot_at(k, i, j);
		}
	}
}

static void group_arguments(struct finder *k)
{
	int32_t n = k->p->region.at[k->f->region].param.n;
	struct table table = {.arena = k->a};

	k->r->group = arena_alloc(k->a, (size_t)n + 1, sizeof(*k->r->group));
	for (int32_t v = 0; v < n; v++) {
		const struct spot *spot = &k->spot[v];
		uint64_t hash = hash_word((uint64_t)(spot->run + 1) << 32 ^
		                          (uint64_t)spot->place);
		int32_t like = -1;
		size_t at;

		for (int32_t w = table_first(&table, hash, &at); w >= 0 && like < 0;
		     w = table_next(&table, hash, &at))
			if (spot->run >= 0 && k->spot[w].run == spot->run &&
			    k->spot[w].place == spot->place)
				like = w;
		k->r->group[v] = like < 0 ? k->r->ngroups++ : k->r->group[like];
		/* One of each group is enough, and thousands of layers would be a long chain. */
		if (like < 0)
			table_add(&table, hash, v);
	}
}

/* --- folding ---------------------------------------------------------------------- */

/* Where a value is made, or an argument read first. */
static struct spot origin(const struct finder *k, int32_t v)
{
	int32_t step = k->f->value.at[v].step;

	return step < 0 ? k->spot[v]
	                : spot_at(k, step, v - k->f->step.at[step].first_out);
}

/* Whether instance i reads at this place what instance 1 does, as it lies to it. */
static bool joined_alike(const struct finder *k, int32_t v1, int32_t vi, int32_t i)
{
	struct spot one = origin(k, v1), other = origin(k, vi);
	int32_t apart = other.instance - one.instance;

	if (one.run < 0 || !k->r->run.at[one.run].folded)
		return v1 == vi;
	return one.run == other.run && one.place == other.place &&
	       (apart == i - 1 || apart == 1 - i);
}

static bool run_is_even(const struct finder *k, const struct repeat_run *run)
{
	for (int32_t i = 2; i <= run->n - 2; i++)
		for (int32_t j = 0; j < run->period; j++) {
			const struct flat_step *s =
				&k->f->step.at[run->first + run->period + j];
			const struct flat_step *t =
				&k->f->step.at[run->first + i * run->period + j];

			for (int32_t n = 0; n < s->nin; n++)
				if (!joined_alike(k, k->f->in.at[s->first_in + n],
				                  k->f->in.at[t->first_in + n], i))
					return false;
		}
	return true;
}

/* The instance that stands for one. */
static int32_t standing(const struct repeat_run *run, int32_t instance)
{
	return !run->folded || instance == 0 || instance == run->n - 1 ? instance : 1;
}

static void fold_values(struct finder *k)
{
	struct repeats *r = k->r;
	int32_t *argument = arena_alloc(k->a, (size_t)r->ngroups + 1, sizeof(int32_t));

	memset(argument, -1, ((size_t)r->ngroups + 1) * sizeof(*argument));
	for (int32_t v = 0; v < k->f->value.n; v++) {
		struct spot at = origin(k, v);
		int32_t step = k->f->value.at[v].step;
		const struct repeat_run *of = at.run < 0 ? NULL : &r->run.at[at.run];

		r->stands[v] = v;
		r->weight[v] = 1;
		if (!of || !of->folded || at.instance == 0 || at.instance == of->n - 1)
			continue;
		r->weight[v] = of->n - 2;
		if (step >= 0)
			r->stands[v] =
				v - k->f->step.at[step].first_out +
				k->f->step.at[step - (at.instance - 1) * of->period]
					.first_out;
		else if (at.instance == 1)
			argument[r->group[v]] = v;
	}
	for (int32_t v = 0; v < k->p->region.at[k->f->region].param.n; v++) {
		const struct spot *at = &k->spot[v];
		const struct repeat_run *of = at->run < 0 ? NULL : &r->run.at[at->run];

		if (of && of->folded && standing(of, at->instance) == 1 &&
		    argument[r->group[v]] >= 0)
			r->stands[v] = argument[r->group[v]];
	}
}

static void fold_steps(struct finder *k)
{
	struct repeats *r = k->r;

	for (int32_t i = 0; i < k->f->step.n; i++) {
		const struct repeat_run *run =
			r->run_of[i] < 0 ? NULL : &r->run.at[r->run_of[i]];
		int32_t instance = repeat_instance(r, i);

		r->kept[i] = !run || standing(run, instance) == instance;
		r->step_weight[i] = run && run->folded && instance == 1 ? run->n - 2 : 1;
	}
}

void repeats_find(struct repeats *out, struct arena *a, const struct program *p,
                  const struct flat *f, bool fold)
{
	struct finder k = {.r = out, .a = a, .p = p, .f = f};
	size_t steps = (size_t)f->step.n + 1, values = (size_t)f->value.n + 1;
	bool again = true;

	*out = (struct repeats){0};
	out->run_of = arena_alloc(a, steps, sizeof(*out->run_of));
	out->kept = arena_alloc(a, steps, sizeof(*out->kept));
	out->step_weight = arena_alloc(a, steps, sizeof(*out->step_weight));
	out->stands = arena_alloc(a, values, sizeof(*out->stands));
	out->weight = arena_alloc(a, values, sizeof(*out->weight));
	memset(out->run_of, -1, steps * sizeof(*out->run_of));
	k.sign = arena_alloc(a, steps, sizeof(*k.sign));
	for (int32_t i = 0; i < f->step.n; i++)
		k.sign[i] = sign_step(&k, i);
	k.seen = arena_alloc(a, values, sizeof(*k.seen));
	while (out->run.n < RUNS_MAX && find_run(&k))
		continue;
	place_arguments(&k);
	group_arguments(&k);
	for (int64_t i = 0; i < out->run.n; i++)
		out->run.at[i].folded &= fold;
	while (again) {
		again = false;
		for (int64_t i = 0; i < out->run.n; i++)
			if (out->run.at[i].folded && !run_is_even(&k, &out->run.at[i])) {
				out->run.at[i].folded = false;
				again = true;
			}
	}
	fold_values(&k);
	fold_steps(&k);
}
