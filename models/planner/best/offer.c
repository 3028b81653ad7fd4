#include "planner/best/offer.h"

#include "plan/plan_text.h"
#include "plan/vocabulary.h"

/* Returns whether the plan is cheaper than the cheapest, or wins the tie. */
static bool takes_lead(const struct best *b, const struct plan *plan, struct price price)
{
	int order = b->plan ? price_compare(price, b->price) : -1;

	return order < 0 || (order == 0 && plan_wins_tie(plan, b->plan));
}

void best_offer_priced(struct best *b, struct plan *plan, struct price price,
                       uint32_t senders)
{
	if (plan_beyond(plan))
		return;
	if (plan_over_memory(plan, b->problem->memory_limit_bytes)) {
		if (!b->smallest ||
		    plan->peak_array_bytes < b->smallest->peak_array_bytes)
			b->smallest = plan;
	} else if (takes_lead(b, plan, price)) {
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
