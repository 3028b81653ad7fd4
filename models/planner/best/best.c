#include "planner/best/best.h"

#include "plan/plan_text.h"
#include "planner/best/meshes.h"
#include "planner/best/search.h"

/* Is it cheaper than the cheapest, or does it win the tie? */
static bool would_take(const struct best *b, const struct plan *plan, struct price price)
{
	int order = b->plan ? price_compare(price, b->price) : -1;

	return order < 0 || (order == 0 && plan_wins_tie(plan, b->plan));
}

void best_offer_priced(struct best *b, struct plan *plan, struct price price,
                       uint32_t senders)
{
	if (plan_over_memory(plan, b->problem->memory_limit_bytes)) {
		if (!b->smallest ||
		    plan->peak_array_bytes < b->smallest->peak_array_bytes)
			b->smallest = plan;
	} else if (would_take(b, plan, price)) {
		b->plan = plan;
		b->price = price;
		b->senders = senders;
	}
}

struct price best_offer(struct best *b, struct plan *plan)
{
	struct price price = b->prices->plan(b->prices->self, plan);

	best_offer_priced(b, plan, price, 0);
	return price;
}

/*
 * Say the cheapest plan over as few digits as it needs, if that costs the same (senders
 * that go by digits may be others).
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

/* The plans of all other planners; their reasons if none has one. */
static void offer_planners(struct best *b, struct best_search *search, struct text *why)
{
	for (int i = 0; planners[i]; i++) {
		struct text reason = {0};
		struct plan *plan = NULL;
		enum answer answer;

		if (planners[i] == &planner_best)
			continue;
		answer = (planners[i]->quick ? planners[i]->quick : planners[i]->plan)(
			&plan, b->problem, b->prices, b->arena, &reason);
		if (answer == ANSWER_PLAN) {
			best_search_add_plan(search, plan, best_offer(b, plan));
		} else {
			text_printf(why, "%s%s: %s", why->length ? "; " : "",
			            planners[i]->name, reason.s ? reason.s : "");
		}
		text_free(&reason);
	}
}

/* The plans of those that were not asked for all they can. */
static void offer_slow_planners(struct best *b)
{
	for (int i = 0; planners[i]; i++) {
		struct text reason = {0};
		struct plan *plan = NULL;

		if (planners[i]->quick &&
		    planners[i]->plan(&plan, b->problem, b->prices, b->arena,
		                      &reason) == ANSWER_PLAN)
			best_offer(b, plan);
		text_free(&reason);
	}
}

static enum answer best_plan(struct plan **out, const struct problem *p,
                             const struct prices *prices, struct arena *arena,
                             struct text *why)
{
	struct best b = {.problem = p, .prices = prices, .arena = arena};
	struct best_search *search = best_search_new(&b);
	struct text reasons = {0};

	offer_planners(&b, search, &reasons);
	if (p->from.nunreduced > 0)
		best_search_sums(search, p, arena);
	best_search_run(search);
	best_search_free(search);
	join_digits(&b);
	best_one_mesh(&b);
	best_gather_after(&b);
	if (!b.plan)
		offer_slow_planners(&b);
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

const struct planner planner_best = {
	.name = "best",
	.help = "the cheapest over all planners and candidates of its own",
	.plan = best_plan,
};
