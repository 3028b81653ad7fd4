#include "planner/best/search.h"

#include "planner/best/rewrite.h"
#include "planner/best/vias.h"

#include <math.h>

/*
 * The part of the work that rewriting may use; the rest is for choosing senders. With all
 * of it 73 rows are dearer.
 */
static const double REWRITING = 0.85;

/*
 * The number of the cheapest scripts in which senders are chosen anew, by the prices of
 * paths and by coordinates: 79 and 15 rows are dearer where they are chosen in none, 33
 * where in two by paths.
 */
enum { PATHS_OF = 8, MIXED_OF = 6 };

/* Of the scripts of one step so many are taken apart further. */
enum { SINGLES_MAX = 4 };

/*
 * On few devices rewriting ends where so much of the work found no cheaper plan, and scripts
 * that cost more than so many times the cheapest plan are left alone: of the work that went
 * into dearer ones on 24 devices, a third of all, 1 in 50 plans that were found came. With
 * 0.12 2 of 397 random problems on 32 devices are more than 5 % dearer.
 */
static const double PATIENCE = 0.14, PATIENCE_DIGITS = 0.1, HOPELESS = 1.2;

static void begin_stage(struct best_pool *pool)
{
	double part = best_pool_has_few_digits(pool) ? PATIENCE_DIGITS : PATIENCE;

	pool->improved = best_pool_work(pool);
	if (best_pool_is_small(pool))
		pool->patience = (int64_t)(part * (double)pool->most_of_all);
}

/* Where there are few digits, dearer scripts are worth a look. */
static bool is_hopeless(const struct best_pool *pool, const struct pooled *e)
{
	return best_pool_is_small(pool) && !best_pool_has_few_digits(pool) &&
	       pool->best->plan && e->price.cost >= HOPELESS * pool->best->price.cost;
}

static void rewrite_steps(struct best_pool *pool, const struct pooled *e)
{
	best_rewrite(pool, e->script, !best_pool_is_far(pool, e));
}

static void rewrite_paths(struct best_pool *pool, const struct pooled *e)
{
	best_rewrite_paths(pool, e->script);
}

static void rewrite_mixed(struct best_pool *pool, const struct pooled *e)
{
	best_rewrite_mixed(pool, e->script);
}

/*
 * Returns whether scripts of one step are rewritten whatever they cost, which says little of what
 * they are made of: on few devices, but where there are few digits all layouts between are tried
 * already.
 */
static bool has_singles(const struct best_pool *pool)
{
	return best_pool_is_small(pool) && !best_pool_has_few_digits(pool);
}

/*
 * Returns the cheapest of the first `most` entries that has not been expanded, or -1. Single
 * steps always count among them, for other senders gain most there. Of all entries they come
 * first: where they are dear, patience would end before it is their turn.
 */
static int next_entry(const struct best_pool *pool, int most)
{
	for (int i = 0; i < pool->n && most == BEST_POOL_MAX && has_singles(pool); i++)
		if (!pool->entry[i].expanded && pool->entry[i].script->n == 1)
			return i;
	for (int i = 0; i < pool->n; i++)
		if (!pool->entry[i].expanded && !is_hopeless(pool, &pool->entry[i]) &&
		    (i < most || pool->entry[i].script->n == 1))
			return i;
	return -1;
}

/*
 * Rewrites the cheapest entries that were not rewritten so yet, one after the other,
 * until that share of the work is done.
 */
static void rewrite_all(struct best_pool *pool, int entries, double share,
                        void (*rewrite)(struct best_pool *pool, const struct pooled *e))
{
	pool->most = (int64_t)(share * (double)pool->most_of_all);
	begin_stage(pool);
	for (int i; !best_pool_is_over(pool) && (i = next_entry(pool, entries)) >= 0;) {
		struct pooled e = pool->entry[i];

		pool->entry[i].expanded = true;
		rewrite(pool, &e);
	}
}

static void start_again(struct best_pool *pool)
{
	for (int i = 0; i < pool->n; i++)
		pool->entry[i].expanded = false;
}

/* The scripts of one step that there are before any is rewritten. */
struct singles {
	int n;
	const struct script *script[SINGLES_MAX];
};

static struct singles find_singles(const struct best_pool *pool)
{
	struct singles singles = {0};

	for (int i = 0; i < pool->n && singles.n < SINGLES_MAX && has_singles(pool); i++)
		if (pool->entry[i].script->n == 1)
			singles.script[singles.n++] = pool->entry[i].script;
	return singles;
}

/* Takes single steps apart, and goes on where what they are made of is cheaper. */
static void rewrite_singles(struct best_pool *pool, const struct singles *singles)
{
	double before = pool->best->plan ? pool->best->price.cost : INFINITY;

	begin_stage(pool);
	for (int i = 0; i < singles->n && !best_pool_is_over(pool); i++)
		best_rewrite_single(pool, singles->script[i]);
	if (pool->best->plan && pool->best->price.cost < before)
		rewrite_all(pool, BEST_POOL_MAX, REWRITING, rewrite_steps);
}

void best_search(struct best_pool *pool)
{
	struct singles singles;

	best_add_vias(pool);
	singles = find_singles(pool);
	/*
	 * what is done is chosen first, then who sends it, in what is cheapest by then
	 */
	rewrite_all(pool, BEST_POOL_MAX, REWRITING, rewrite_steps);
	rewrite_singles(pool, &singles);
	start_again(pool);
	rewrite_all(pool, PATHS_OF, 1, rewrite_paths);
	start_again(pool);
	rewrite_all(pool, MIXED_OF, 1, rewrite_mixed);
}
