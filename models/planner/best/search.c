#include "planner/best/search.h"

#include "planner/best/price.h"
#include "planner/best/rewrite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Scripts that are kept; and the work of one search, told as messages that are priced
 * (price.h), up to some number of devices. On more devices it grows with their number
 * to the power of 3/2, as exchanges have more messages, up to a limit.
 */
enum {
	POOL_MAX = 64,
	WORK_FEW = 50000,
	WORK_FEW_DEVICES = 128,
	WORK_MAX = 1500000,
	SCRIPT_WORK = 40, /* of making a script and looking whether it is known */
	PRICE_WORK = 40   /* of its price and place, besides its steps */
};

/* Scripts that cost more than so many times the cheapest plan are not rewritten. */
static const double NEAR = 1.5;

/* The part of the work that rewriting may use; the rest is for choosing senders. */
static const double REWRITING = 0.85;

/* Scripts remembered, priced or not. */
enum { SEEN_MAX = 1024 };

/* Senders are chosen anew in so many of the cheapest scripts. */
enum { PATHS_OF = 8, MIXED_OF = 3 };

struct entry {
	const struct script *script;
	struct price price;
	int64_t live_bytes;
	bool over_memory, expanded;
};

struct best_search {
	struct best *best;
	struct arena *arena;       /* of the scripts */
	struct arena *plans;       /* of a plan while it is priced */
	struct step_prices *steps; /* NULL where prices of steps do not add up */
	int64_t work, most; /* so far, without that of `steps`; at which to stop */
	int64_t most_of_all;
	int nseen;
	uint64_t seen[SEEN_MAX]; /* hashes of scripts */
	int n;
	struct entry entry[POOL_MAX + 1]; /* by rising price */
};

static int64_t most_work(int64_t ndevices)
{
	double more = fmax(1, (double)ndevices / WORK_FEW_DEVICES);

	return (int64_t)fmin(WORK_MAX, WORK_FEW * more * sqrt(more));
}

struct best_search *best_search_new(struct best *b)
{
	struct best_search *s = xmalloc(1, sizeof(*s));

	memset(s, 0, sizeof(*s));
	s->best = b;
	s->arena = arena_new();
	s->plans = arena_new();
	s->most_of_all = most_work(b->problem->ndevices);
	s->most = s->most_of_all;
	if (b->prices->bound)
		s->steps = step_prices_new(b->problem, b->prices);
	return s;
}

void best_search_free(struct best_search *s)
{
	arena_free(s->arena);
	arena_free(s->plans);
	step_prices_free(s->steps);
	free(s);
}

const struct prices *best_search_prices(const struct best_search *s)
{
	return s->best->prices;
}

struct arena *best_search_arena(struct best_search *s)
{
	return s->arena;
}

/* --- the pool -------------------------------------------------------------------- */

static int compare_entries(const struct entry *a, const struct entry *b)
{
	if (a->over_memory != b->over_memory)
		return a->over_memory ? 1 : -1;
	return price_compare(a->price, b->price);
}

/* The same ops at the same price with the same memory are taken for the same plan. */
static bool looks_same(const struct entry *a, const struct entry *b)
{
	if (compare_entries(a, b) != 0 || a->live_bytes != b->live_bytes ||
	    a->script->n != b->script->n)
		return false;
	for (int i = 0; i < a->script->n; i++)
		if (a->script->step[i].op != b->script->step[i].op)
			return false;
	return true;
}

/* False if it looks like one that is there. */
static bool insert(struct best_search *s, const struct entry *e)
{
	int at = s->n;

	for (int i = 0; i < s->n; i++)
		if (looks_same(&s->entry[i], e))
			return false;
	for (; at > 0 && compare_entries(e, &s->entry[at - 1]) < 0; at--)
		s->entry[at] = s->entry[at - 1];
	s->entry[at] = *e;
	s->n += s->n < POOL_MAX;
	return true;
}

static int64_t work_done(const struct best_search *s)
{
	int64_t steps = s->steps ? step_prices_work(s->steps) : 0;

	return s->work + steps;
}

static bool is_over(const struct best_search *s)
{
	return work_done(s) >= s->most;
}

/* Of exchanges and permutes; all other steps are priced from a table as a rule. */
static int64_t messages_of(const struct plan *plan)
{
	int64_t n = plan->problem->ndevices;

	for (int i = 0; i < plan->nsteps; i++)
		n += plan->step[i].ntransfers + plan->step[i].npairs;
	return n;
}

/* Was the same script there before? It is remembered. */
static bool seen(struct best_search *s, const struct script *script)
{
	uint64_t hash = script_hash(script);

	for (int i = 0; i < s->nseen; i++)
		if (s->seen[i] == hash)
			return true;
	if (s->nseen < SEEN_MAX)
		s->seen[s->nseen++] = hash;
	return false;
}

/*
 * Price a script, unless it costs more than the cheapest plan, or cannot be said. By its
 * steps where these add up, of which each is built once; else by its plan.
 */
static bool price_script(struct best_search *s, struct entry *e)
{
	struct best *b = s->best;
	struct plan *plan;
	int64_t array_bytes, limit = b->problem->memory_limit_bytes;

	if (s->steps) {
		struct price most = b->price;

		most.cost *= NEAR;
		step_prices_limit(s->steps, s->most_of_all - s->work);
		/* One exchange may gain most by other senders. */
		if (!step_prices_script(&e->price, s->steps, e->script,
		                        b->plan && e->script->n > 1 ? &most : NULL))
			return false;
		script_memory(&array_bytes, &e->live_bytes, e->script);
		e->over_memory = limit >= 0 && array_bytes > limit;
		return true;
	}
	arena_reset(s->plans);
	plan = script_plan(e->script, b->prices, s->plans);
	if (!plan)
		return false;
	s->work += messages_of(plan);
	e->price = b->prices->plan(b->prices->self, plan);
	e->live_bytes = plan->peak_live_bytes;
	e->over_memory = plan_over_memory(plan, limit);
	return true;
}

/* One exchange may gain most by what is done before and after it. */
static bool is_far(const struct best_search *s, const struct entry *e)
{
	return s->best->plan && e->script->n > 1 &&
	       e->price.cost > NEAR * s->best->price.cost;
}

/* Is it worth to build the plan of a script? Of equal price it may win the tie. */
static bool may_win(const struct best_search *s, const struct entry *e)
{
	return !e->over_memory &&
	       (!s->best->plan || price_compare(e->price, s->best->price) <= 0);
}

static void price(struct best_search *s, const struct script *script)
{
	struct best *b = s->best;
	struct entry e = {.script = script};

	if (!price_script(s, &e))
		return;
	e.script = script_keep(script, s->arena);
	if (insert(s, &e) && may_win(s, &e))
		best_offer_priced(b, script_plan(script, b->prices, b->arena), e.price,
		                  script->senders);
}

void best_search_add(struct best_search *s, const struct script *script)
{
	if (is_over(s))
		return;
	s->work += SCRIPT_WORK;
	if (seen(s, script))
		return;
	s->work += PRICE_WORK;
	price(s, script);
}

void best_search_add_plan(struct best_search *s, const struct plan *plan,
                          struct price price)
{
	struct script script;
	struct entry e = {.price = price};

	if (!script_of_plan(&script, plan) || seen(s, &script))
		return;
	e.script = script_keep(&script, s->arena);
	e.live_bytes = plan->peak_live_bytes;
	e.over_memory = plan_over_memory(plan, s->best->problem->memory_limit_bytes);
	insert(s, &e);
}

/* --- rewriting ------------------------------------------------------------------- */

static void steps(struct best_search *s, const struct entry *e)
{
	best_rewrite(s, e->script, !is_far(s, e));
}

static void paths(struct best_search *s, const struct entry *e)
{
	best_rewrite_paths(s, e->script);
}

static void mixed(struct best_search *s, const struct entry *e)
{
	best_rewrite_mixed(s, e->script);
}

/* The cheapest entry that has not been expanded, -1 if none; of the first `most`. */
static int next_entry(const struct best_search *s, int most)
{
	for (int i = 0; i < s->n && i < most; i++)
		if (!s->entry[i].expanded)
			return i;
	return -1;
}

/*
 * Rewrite the cheapest entries that were not rewritten so yet, one after the other, until
 * that part of the work is done.
 */
static void run(struct best_search *s, int entries, double share,
                void (*rewrite)(struct best_search *s, const struct entry *e))
{
	s->most = (int64_t)(share * (double)s->most_of_all);
	for (int i; !is_over(s) && (i = next_entry(s, entries)) >= 0;) {
		struct entry e = s->entry[i];

		s->entry[i].expanded = true;
		rewrite(s, &e);
	}
}

static void start_again(struct best_search *s)
{
	for (int i = 0; i < s->n; i++)
		s->entry[i].expanded = false;
}

/* Other senders for the cheapest plan of one step, however many are cheaper. */
static void run_single(struct best_search *s)
{
	for (int i = 0; i < s->n; i++) {
		if (s->entry[i].script->n > 1)
			continue;
		best_rewrite_mixed(s, s->entry[i].script);
		return;
	}
}

void best_search_run(struct best_search *s)
{
	/* First what is done, then who sends it, in what is cheapest by then. */
	run(s, POOL_MAX, REWRITING, steps);
	start_again(s);
	run(s, PATHS_OF, 1, paths);
	start_again(s);
	run(s, MIXED_OF, 1, mixed);
	run_single(s);
}
