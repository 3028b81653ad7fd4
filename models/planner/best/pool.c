#include "planner/best/pool.h"

#include "plan/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The work of one search, told as messages that are priced (price.h), up to some number
 * of devices. On more devices it grows with their number to the power of 3/2, as exchanges
 * have more messages, up to a limit. With 25,000 72 rows are dearer; 65,000 make
 * 28 cheaper for a fifth more time. On few devices there is more, of which searches that find
 * nothing take a part (search.c): with 70,000 22 of 14,442 pairs of layouts on up to 24
 * devices stay open, the worst by 15 %, and with this 12, by 9 %, for a tenth more time. Where
 * a mesh has few digits, all ways by a layout take less.
 */
enum {
	WORK_DIGITS = 70000,
	WORK_SMALL = 100000,
	WORK_FEW = 50000,
	WORK_FEW_DEVICES = 128,
	WORK_MAX = 1500000,
	SCRIPT_WORK = 40, /* of making a script and seeing whether it is known */
	PRICE_WORK = 40,  /* of its price and place, besides its steps */
	DIGITS_MAX = 3    /* of a mesh of few prime digits */
};

/*
 * Scripts that cost more than so many times the cheapest plan are not rewritten: without
 * this 25 rows are dearer and 23 cheaper, with 1.1 98 dearer.
 */
static const double NEAR = 1.5;

/* What is cheaper by less is no reason to go on. */
static const double GAIN = 0.999;

bool best_pool_is_small(const struct best_pool *pool)
{
	return pool->best->problem->ndevices <= BEST_SMALL_DEVICES;
}

bool best_pool_has_few_digits(const struct best_pool *pool)
{
	const struct mesh *m = &pool->best->problem->mesh;
	int n = 0;

	for (int x = 0; x < m->naxes; x++) {
		const struct part whole = {x, 1, m->axis[x].size};
		struct part digit[LAYOUT_PARTS_MAX];

		n += parts_digits(digit, &whole, 1);
	}
	return n <= DIGITS_MAX;
}

static int64_t most_work(const struct best_pool *pool)
{
	int64_t ndevices = pool->best->problem->ndevices;
	double more = fmax(1, (double)ndevices / WORK_FEW_DEVICES);

	if (best_pool_is_small(pool))
		return best_pool_has_few_digits(pool) ? WORK_DIGITS : WORK_SMALL;
	return (int64_t)fmin(WORK_MAX, WORK_FEW * more * sqrt(more));
}

struct best_pool *best_pool_new(struct best *b)
{
	struct best_pool *pool = xmalloc(1, sizeof(*pool));

	memset(pool, 0, sizeof(*pool));
	pool->best = b;
	pool->arena = arena_new();
	pool->plans = arena_new();
	pool->most_of_all = most_work(pool);
	pool->most = pool->most_of_all;
	pool->patience = INT64_MAX;
	pool->seen.arena = pool->arena;
	if (b->prices->note)
		pool->steps = step_prices_new(b->problem, b->prices);
	return pool;
}

void best_pool_free(struct best_pool *pool)
{
	arena_free(pool->arena);
	arena_free(pool->plans);
	step_prices_free(pool->steps);
	script_key_free(&pool->key);
	xfree(pool);
}

/* --- entries ---------------------------------------------------------------------- */

static int compare_entries(const struct pooled *a, const struct pooled *b)
{
	if (a->over_memory != b->over_memory)
		return a->over_memory ? 1 : -1;
	return price_compare(a->price, b->price);
}

/*
 * Returns whether two entries have the same ops, price and memory: they count as one
 * plan.
 */
static bool looks_same(const struct pooled *a, const struct pooled *b)
{
	if (compare_entries(a, b) != 0 || a->live_bytes != b->live_bytes ||
	    a->script->n != b->script->n)
		return false;
	for (int i = 0; i < a->script->n; i++)
		if (a->script->step[i].op != b->script->step[i].op)
			return false;
	return true;
}

/* Puts a script in its place. Returns false if it looks like one that is there. */
static bool pool_insert(struct best_pool *pool, const struct pooled *e)
{
	int at = pool->n;

	for (int i = 0; i < pool->n; i++)
		if (looks_same(&pool->entry[i], e))
			return false;
	for (; at > 0 && compare_entries(e, &pool->entry[at - 1]) < 0; at--)
		pool->entry[at] = pool->entry[at - 1];
	pool->entry[at] = *e;
	pool->n += pool->n < BEST_POOL_MAX;
	return true;
}

int64_t best_pool_work(const struct best_pool *pool)
{
	return pool->work + (pool->steps ? step_prices_work(pool->steps) : 0);
}

bool best_pool_is_over(const struct best_pool *pool)
{
	int64_t work = best_pool_work(pool);

	return work >= pool->most || work - pool->improved >= pool->patience;
}

/* Returns whether the same script was there before, and remembers the script. */
static bool was_seen(struct best_pool *pool, const struct script *script)
{
	bool fresh;

	script_key(&pool->key, script);
	keys_add(&pool->seen, pool->key.at, script_key_size(&pool->key), &fresh);
	return !fresh;
}

static void note_memory(struct pooled *e, const struct plan *plan)
{
	e->array_bytes = plan->peak_array_bytes;
	e->live_bytes = plan->peak_live_bytes;
	e->over_memory = plan_over_memory(plan);
}

/*
 * Prices a script, by its steps where their prices add up, each of which is built once,
 * else by its plan. Returns false if it is so dear that it is not kept, or cannot be
 * said.
 */
static bool price_script(struct best_pool *pool, struct pooled *e)
{
	struct best *b = pool->best;
	struct plan *plan;

	if (pool->steps) {
		struct price most = b->price;

		most.cost *= NEAR;
		step_prices_limit(pool->steps, pool->most_of_all - pool->work);
		/* a single exchange may gain most by other senders */
		if (!step_prices_script(&e->price, pool->steps, e->script,
		                        b->plan && e->script->n > 1 ? &most : NULL))
			return false;
		script_memory(&e->array_bytes, &e->live_bytes, e->script);
		e->over_memory =
			memory_exceeded(b->problem, e->array_bytes, e->live_bytes);
		return true;
	}
	arena_reset(pool->plans);
	plan = script_plan(e->script, b->prices, pool->plans);
	if (!plan)
		return false;
	pool->work += b->problem->ndevices + step_prices_messages(plan);
	e->price = b->prices->plan(b->prices->self, plan);
	note_memory(e, plan);
	return true;
}

bool best_pool_is_far(const struct best_pool *pool, const struct pooled *e)
{
	return pool->best->plan && e->script->n > 1 &&
	       e->price.cost > NEAR * pool->best->price.cost;
}

/*
 * Returns whether the plan of a script is worth building: at an equal price it may win
 * the tie.
 */
static bool may_win(const struct best_pool *pool, const struct pooled *e)
{
	const struct best *b = pool->best;

	if (e->over_memory)
		return best_needs_less(b, e->array_bytes, e->live_bytes);
	return !b->plan || price_compare(e->price, b->price) <= 0;
}

static void price_and_keep(struct best_pool *pool, const struct script *script)
{
	struct best *b = pool->best;
	struct pooled e = {.script = script};

	if (!price_script(pool, &e))
		return;
	e.script = script_keep(script, pool->arena);
	if (pool->steps && !e.over_memory && e.price.cost < GAIN * b->price.cost)
		pool->improved = best_pool_work(pool);
	if (pool_insert(pool, &e) && may_win(pool, &e))
		best_offer_priced(b, script_plan(script, b->prices, b->arena), e.price,
		                  e.script);
}

/*
 * Writes the script in the portable vocabulary. Returns false where that cannot say it.
 */
static bool make_portable(struct script *out, const struct script *script,
                          struct arena *a)
{
	for (int i = 0; i < script->n; i++)
		if (script->step[i].op == OP_EXCHANGE)
			return false;
	return script_unsplit(out, script, a);
}

void best_pool_add(struct best_pool *pool, const struct script *script)
{
	struct script portable;

	if (best_pool_is_over(pool))
		return;
	pool->work += SCRIPT_WORK;
	if (pool->best->problem->vocabulary == VOCABULARY_PORTABLE) {
		if (!make_portable(&portable, script, pool->arena))
			return;
		script = &portable;
	}
	if (was_seen(pool, script))
		return;
	pool->work += PRICE_WORK;
	price_and_keep(pool, script);
}

void best_pool_add_plan(struct best_pool *pool, const struct plan *plan,
                        struct price price)
{
	struct script script;
	struct pooled e = {.price = price};

	if (!script_of_plan(&script, plan))
		return;
	/* a plan may be of the problem with the other vocabulary */
	script.problem = pool->best->problem;
	if (was_seen(pool, &script))
		return;
	e.script = script_keep(&script, pool->arena);
	note_memory(&e, plan);
	pool_insert(pool, &e);
}
