#include "planner/best.h"

#include "plan/plan_text.h"
#include "planner/best_search.h"

bool best_would_take(const struct best *b, const struct plan *plan, struct price price)
{
	int order = b->plan ? price_compare(price, b->price) : -1;

	return !plan_over_memory(plan, b->problem->memory_limit_bytes) &&
	       (order < 0 || (order == 0 && plan_wins_tie(plan, b->plan)));
}

bool best_offer(struct best *b, struct plan *plan)
{
	struct price price;

	if (plan_over_memory(plan, b->problem->memory_limit_bytes)) {
		if (!b->smallest ||
		    plan->peak_array_bytes < b->smallest->peak_array_bytes)
			b->smallest = plan;
		return false;
	}
	price = b->prices->plan(b->prices->self, plan);
	if (!best_would_take(b, plan, price))
		return false;
	b->plan = plan;
	b->price = price;
	return true;
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
		answer = planners[i]->plan(&plan, b->problem, b->prices, b->arena,
		                           &reason);
		if (answer == ANSWER_PLAN) {
			best_offer(b, plan);
			best_search_add_plan(search, plan);
		} else {
			text_printf(why, "%s%s: %s", why->length ? "; " : "",
			            planners[i]->name, reason.s ? reason.s : "");
		}
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
