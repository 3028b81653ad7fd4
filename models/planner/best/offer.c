#include "planner/best/offer.h"

#include "plan/memory.h"
#include "plan/plan_text.h"
#include "plan/vocabulary.h"

/* Returns whether the plan is cheaper than the cheapest, or wins the tie. */
static bool takes_lead(const struct best *b, const struct plan *plan, struct price price)
{
	int order = b->plan ? price_compare(price, b->price) : -1;

	return order < 0 || (order == 0 && plan_wins_tie(plan, b->plan));
}

/* Returns what is to be told of an array: the limit that it needs, if it needs another. */
static int64_t limit_for(const struct best *b, int64_t array_bytes)
{
	int64_t limit = b->problem->memory_limit_bytes;

	return limit >= 0 && array_bytes > limit ? array_bytes : 0;
}

bool best_needs_less(const struct best *b, int64_t array_bytes, int64_t live_bytes)
{
	int64_t limit = limit_for(b, array_bytes), least;

	if (b->plan)
		return false;
	if (!b->smallest)
		return true;
	least = limit_for(b, b->smallest->peak_array_bytes);
	return limit < least ||
	       (limit == least && live_bytes < b->smallest->peak_live_bytes);
}

void best_offer_priced(struct best *b, struct plan *plan, struct price price,
                       const struct script *script)
{
	if (plan_beyond(plan, b->problem->vocabulary))
		return;
	if (plan_over_memory(plan)) {
		if (best_needs_less(b, plan->peak_array_bytes, plan->peak_live_bytes))
			b->smallest = plan;
	} else if (takes_lead(b, plan, price)) {
		b->plan = plan;
		b->price = price;
		b->script = script;
	}
}

struct price best_offer(struct best *b, struct plan *plan)
{
	struct price price = b->prices->plan(b->prices->self, plan);

	best_offer_priced(b, plan, price, NULL);
	return price;
}
