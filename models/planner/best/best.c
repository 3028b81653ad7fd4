#include "planner/best/best.h"

#include "base/list.h"
#include "plan/vocabulary.h"
#include "planner/best/meshes.h"
#include "planner/best/script.h"
#include "planner/best/search.h"
#include "planner/rivals.h"

/*
 * Rewrites the cheapest plan over as few digits as it needs, if that costs the same
 * (senders that go by digits may then be others).
 */
static void join_digits(struct best *b)
{
	struct script *scripts = arena_alloc(b->arena, 2, sizeof(*scripts));
	struct plan *plan;

	if (!b->plan || !b->plan->view)
		return;
	if (b->script)
		script_copy(&scripts[0], b->script);
	else if (!script_of_plan(&scripts[0], b->plan))
		return;
	if (!script_join(&scripts[1], &scripts[0], b->arena))
		return;
	plan = script_plan(&scripts[1], b->prices, b->arena);
	if (plan && price_compare(b->prices->plan(b->prices->self, plan), b->price) <= 0)
		b->plan = plan;
}

/* The plans of other planners, which searches of either vocabulary begin with. */
struct candidate {
	struct plan *plan;
	struct price price;
	bool beaten; /* by the plan of another candidate */
};
struct candidates {
	LIST(struct candidate) of;
};

/*
 * Asks all other planners; `why` gets the reasons of those without a plan, or with one
 * beyond the vocabulary.
 */
static void ask_rivals(struct candidates *out, const struct problem *p,
                       const struct prices *prices, struct arena *arena,
                       struct text *why)
{
	for (int i = 0; rivals[i]; i++) {
		struct text reason = {0};
		struct plan *plan = NULL;
		enum answer answer;

		answer = (rivals[i]->quick ? rivals[i]->quick : rivals[i]->plan)(
			&plan, p, prices, arena, &reason);
		if (answer == ANSWER_PLAN && plan_beyond(plan, p->vocabulary))
			text_printf(&reason, "%s", plan_beyond(plan, p->vocabulary));
		if (answer == ANSWER_PLAN)
			*list_add(&out->of, arena) = (struct candidate){
				.plan = plan, .price = prices->plan(prices->self, plan)};
		if (reason.length)
			text_printf(why, "%s%s: %s", why->length ? "; " : "",
			            rivals[i]->name, reason.s);
		text_free(&reason);
	}
}

/*
 * Returns whether a plan has an exchange of contributions, which nobody wants but where a
 * schedule adds them up on the way.
 */
static bool is_sum_exchange(const struct plan *plan)
{
	for (int i = 0; i < plan->nsteps; i++)
		if (step_adds(plan, i))
			return true;
	return false;
}

static void offer_candidate(struct best *b, struct best_pool *pool,
                            const struct candidate *c)
{
	if (plan_beyond(c->plan, b->problem->vocabulary) || is_sum_exchange(c->plan))
		return;
	if (!c->beaten)
		best_offer_priced(b, c->plan, c->price, NULL);
	best_pool_add_plan(pool, c->plan, c->price);
}

/* Offers the plans of those that were not asked for all they can. */
static void offer_slow_rivals(struct best *b)
{
	for (int i = 0; rivals[i]; i++) {
		struct text reason = {0};
		struct plan *plan = NULL;

		if (rivals[i]->quick &&
		    rivals[i]->plan(&plan, b->problem, b->prices, b->arena, &reason) ==
		            ANSWER_PLAN)
			best_offer(b, plan);
		text_free(&reason);
	}
}

/*
 * Forgets what is remembered of steps of another problem. What searches of both
 * vocabularies remember of one holds for either.
 */
static void forget(const struct prices *prices)
{
	if (prices->forget)
		prices->forget(prices->self);
}

/* Offers the best plan of the same problem said by axes of the source mesh alone. */
static void offer_one_mesh(struct best *b)
{
	struct problem *q = arena_alloc(b->arena, 1, sizeof(*q));
	struct text why = {0};
	struct plan *plan;

	if (!best_one_mesh(q, b->problem, b->arena))
		return;
	if (planner_run(&planner_best, &plan, q, b->prices, b->arena, &why) ==
	            ANSWER_PLAN &&
	    best_plan_of_problem(plan, b->problem, b->arena))
		best_offer(b, plan);
	forget(b->prices);
	text_free(&why);
}

/* Rewrites scripts as long as that pays. */
static void search_scripts(struct best *b, struct best_pool *pool)
{
	if (b->problem->from.nunreduced > 0)
		best_pool_add_sums(pool);
	best_search(pool);
	join_digits(b);
	best_pool_free(pool);
}

/* Searches within the vocabulary of the problem. Returns what it found, or NULL. */
static struct plan *search(const struct problem *p, const struct prices *prices,
                           struct arena *arena, const struct candidates *candidates)
{
	struct best b = {.problem = p, .prices = prices, .arena = arena};
	struct best_pool *pool = best_pool_new(&b);

	for (int64_t i = 0; i < candidates->of.n; i++)
		offer_candidate(&b, pool, &candidates->of.at[i]);
	search_scripts(&b, pool);
	offer_one_mesh(&b);
	best_gather_after(&b);
	if (!b.plan)
		offer_slow_rivals(&b);
	return b.plan ? b.plan : b.smallest;
}

/*
 * Searches within the portable vocabulary, and adds the plan to the candidates, so that none
 * of a wider vocabulary is dearer. Returns the plan, or NULL.
 */
static struct plan *add_portable(struct candidates *candidates, const struct problem *p,
                                 const struct prices *prices, struct arena *arena)
{
	struct problem *q = arena_dup(arena, p, 1, sizeof(*p));
	struct plan *plan;

	q->vocabulary = VOCABULARY_PORTABLE;
	plan = search(q, prices, arena, candidates);
	for (int64_t i = 0; i < candidates->of.n && plan; i++) {
		struct candidate *c = &candidates->of.at[i];

		c->beaten = c->plan != plan && !plan_beyond(c->plan, q->vocabulary);
	}
	if (plan)
		*list_add(&candidates->of, arena) = (struct candidate){
			.plan = plan, .price = prices->plan(prices->self, plan)};
	return plan;
}

/*
 * Takes another planner's one exchange where it is the cheapest as a schedule: that of
 * `direct`, which may be of contributions, with a slice before and a gather behind, or of
 * `digit` where others send, which its other price tells. Finding it takes
 * longer than the search itself, and is done only where the runtime takes schedules.
 */
static void take_scheduled(struct plan **out, const struct prices *prices,
                           const struct candidates *candidates)
{
	double tried = -1;

	for (int64_t i = 0; i < candidates->of.n && *out && prices->scheduled; i++) {
		const struct candidate *c = &candidates->of.at[i];
		struct price most;

		bool exchange =
			c->plan->nsteps == 1 && c->plan->step[0].op == OP_EXCHANGE;

		if ((!exchange && !is_sum_exchange(c->plan)) ||
		    c->price.cost == tried || plan_over_memory(c->plan))
			continue;
		tried = c->price.cost;
		most = prices->plan(prices->self, *out);
		if (price_compare(prices->scheduled(prices->self, c->plan, most),
		                  most) < 0)
			*out = c->plan;
	}
}

/* Puts the name of a planner on its plan, of which there must be one. */
static enum answer answer_plan(struct plan **out, struct plan *plan,
                               const struct problem *p, const struct planner *planner)
{
	plan->problem = p;
	plan->planner = planner->name;
	*out = plan;
	return ANSWER_PLAN;
}

/*
 * On so few devices the search of `best` finds what is portable by itself: on no pair of
 * layouts (tests/exhaust_layouts.c) it is dearer than `best-portable`. A search for that
 * first takes a quarter of the planning. It is done wherever there are sums: an exchange, by
 * which the wider search would move tiles before they are summed, cannot carry them, so that
 * this search begins with the sum and does not find moves before it.
 */
enum { ALL_FOUND_DEVICES = 8 };

static bool has_own_portable(const struct problem *p)
{
	return p->ndevices <= ALL_FOUND_DEVICES && p->from.nunreduced == 0;
}

static enum answer best_plan(struct plan **out, const struct problem *p,
                             const struct prices *prices, struct arena *arena,
                             struct text *why)
{
	struct candidates candidates = {0};
	struct text reasons = {0};
	struct plan *plan;

	ask_rivals(&candidates, p, prices, arena, &reasons);
	forget(prices);
	if (p->vocabulary == VOCABULARY_ANY && !has_own_portable(p))
		add_portable(&candidates, p, prices, arena);
	plan = search(p, prices, arena, &candidates);
	if (p->vocabulary == VOCABULARY_ANY)
		take_scheduled(&plan, prices, &candidates);
	if (!plan)
		text_printf(why, "%s", reasons.s ? reasons.s : "no planner has a plan");
	text_free(&reasons);
	return plan ? answer_plan(out, plan, p, &planner_best) : ANSWER_NOT_APPLICABLE;
}

/*
 * Returns the portable plan on few devices, or NULL. The search of `best` may end with a plan
 * that happens to be portable, found by way of others that are not.
 */
static struct plan *small_portable(const struct problem *p, const struct prices *prices,
                                   struct arena *arena)
{
	struct problem *q = arena_dup(arena, p, 1, sizeof(*p));
	struct candidates candidates = {0};
	struct text reasons = {0};
	struct plan *portable, *plan;

	q->vocabulary = VOCABULARY_ANY;
	ask_rivals(&candidates, q, prices, arena, &reasons);
	text_free(&reasons);
	forget(prices);
	portable = add_portable(&candidates, q, prices, arena);
	plan = portable ? search(q, prices, arena, &candidates) : NULL;
	return plan && !plan_beyond(plan, VOCABULARY_PORTABLE) ? plan : portable;
}

static enum answer portable_plan(struct plan **out, const struct problem *p,
                                 const struct prices *prices, struct arena *arena,
                                 struct text *why)
{
	struct problem *q = arena_dup(arena, p, 1, sizeof(*p));
	struct plan *plan = p->ndevices <= BEST_SMALL_DEVICES
	                            ? small_portable(p, prices, arena)
	                            : NULL;

	q->vocabulary = VOCABULARY_PORTABLE;
	if (!plan && best_plan(&plan, q, prices, arena, why) != ANSWER_PLAN)
		return ANSWER_NOT_APPLICABLE;
	return answer_plan(out, plan, p, &planner_best_portable);
}

const struct planner planner_best_portable = {
	.name = "best-portable",
	.help = "the cheapest that JAX, PyTorch and MPI can all say: no boxes, no "
		"strides",
	.plan = portable_plan,
};

const struct planner planner_best = {
	.name = "best",
	.help = "the cheapest over all planners and candidates of its own",
	.plan = best_plan,
};
