#include "planner/best/best.h"

#include "plan/vocabulary.h"
#include "planner/best/meshes.h"
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

	if (!b->plan || !b->plan->view || !script_of_plan(&scripts[0], b->plan))
		return;
	scripts[0].senders = b->senders;
	if (!script_join(&scripts[1], &scripts[0], b->arena))
		return;
	plan = script_plan(&scripts[1], b->prices, b->arena);
	if (plan && price_compare(b->prices->plan(b->prices->self, plan), b->price) <= 0)
		b->plan = plan;
}

/*
 * Offers the plans of all other planners; `why` gets the reasons of those without one, or
 * with one beyond the vocabulary.
 */
static void offer_rivals(struct best *b, struct best_pool *pool, struct text *why)
{
	for (int i = 0; rivals[i]; i++) {
		struct text reason = {0};
		struct plan *plan = NULL;
		enum answer answer;

		answer = (rivals[i]->quick ? rivals[i]->quick : rivals[i]->plan)(
			&plan, b->problem, b->prices, b->arena, &reason);
		if (answer == ANSWER_PLAN && plan_beyond(plan))
			text_printf(&reason, "%s", plan_beyond(plan));
		else if (answer == ANSWER_PLAN)
			best_pool_add_plan(pool, plan, best_offer(b, plan));
		if (reason.length)
			text_printf(why, "%s%s: %s", why->length ? "; " : "",
			            rivals[i]->name, reason.s);
		text_free(&reason);
	}
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

/* Offers the best plan of the same problem said by axes of the source mesh alone. */
static void offer_one_mesh(struct best *b)
{
	struct problem *q = arena_alloc(b->arena, 1, sizeof(*q));
	struct text why = {0};
	struct plan *plan;

	if (best_one_mesh(q, b->problem, b->arena) &&
	    planner_run(&planner_best, &plan, q, b->prices, b->arena, &why) ==
	            ANSWER_PLAN &&
	    best_plan_of_problem(plan, b->problem, b->arena))
		best_offer(b, plan);
	text_free(&why);
}

/* Offers the plan that `best-portable` has, so that this search is never dearer. */
static void offer_portable(struct best *b, struct best_pool *pool)
{
	struct text why = {0};
	struct plan *plan;

	if (b->problem->vocabulary == VOCABULARY_ANY &&
	    planner_best_portable.plan(&plan, b->problem, b->prices, b->arena, &why) ==
	            ANSWER_PLAN)
		best_pool_add_plan(pool, plan, best_offer(b, plan));
	text_free(&why);
}

/* Rewrites scripts as long as that pays. */
static void search_scripts(struct best *b, struct best_pool *pool)
{
	if (b->problem->from.nunreduced > 0)
		best_pool_add_sums(pool);
	best_search(pool);
	best_pool_free(pool);
	join_digits(b);
}

static enum answer best_plan(struct plan **out, const struct problem *p,
                             const struct prices *prices, struct arena *arena,
                             struct text *why)
{
	struct best b = {.problem = p, .prices = prices, .arena = arena};
	struct best_pool *pool = best_pool_new(&b);
	struct text reasons = {0};

	offer_portable(&b, pool);
	offer_rivals(&b, pool, &reasons);
	search_scripts(&b, pool);
	offer_one_mesh(&b);
	best_gather_after(&b);
	if (!b.plan)
		offer_slow_rivals(&b);
	if (!b.plan && !b.smallest) {
		text_printf(why, "%s", reasons.s ? reasons.s : "no planner has a plan");
		text_free(&reasons);
		return ANSWER_NOT_APPLICABLE;
	}
	text_free(&reasons);
	*out = b.plan ? b.plan : b.smallest;
	(*out)->planner = planner_best.name;
	return ANSWER_PLAN;
}

static enum answer portable_plan(struct plan **out, const struct problem *p,
                                 const struct prices *prices, struct arena *arena,
                                 struct text *why)
{
	struct problem *q = arena_dup(arena, p, 1, sizeof(*p));
	enum answer answer;

	q->vocabulary = VOCABULARY_PORTABLE;
	answer = best_plan(out, q, prices, arena, why);
	if (answer == ANSWER_PLAN) {
		(*out)->problem = p;
		(*out)->planner = planner_best_portable.name;
	}
	return answer;
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
