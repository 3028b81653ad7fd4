#include "planner/best/price.h"

#include "planner/best/key.h"

#include <math.h>
#include <stdlib.h>

/* The work of a step besides its messages, in messages that take as long. */
enum { STEP_WORK = 60 };

struct step_prices {
	const struct problem *problem;
	const struct prices *prices;
	struct arena *arena;   /* of a plan while it is priced */
	struct script_key key; /* of the step that is looked at */
	int64_t work, most;    /* messages */
};

struct step_prices *step_prices_new(const struct problem *p, const struct prices *prices)
{
	struct step_prices *steps = xmalloc(1, sizeof(*steps));

	*steps = (struct step_prices){.problem = p, .prices = prices, .most = INT64_MAX};
	steps->arena = arena_new();
	return steps;
}

void step_prices_free(struct step_prices *steps)
{
	if (!steps)
		return;
	arena_free(steps->arena);
	script_key_free(&steps->key);
	xfree(steps);
}

int64_t step_prices_work(const struct step_prices *steps)
{
	return steps->work;
}

void step_prices_limit(struct step_prices *steps, int64_t most)
{
	steps->most = most;
}

/*
 * Returns about how many tiles of the layout before a step meet one of that after it.
 */
static int64_t boxes_of(const struct script *s, int i)
{
	struct shape before = layout_local(script_before(s, i), &s->view.shape);
	struct shape after = layout_local(&s->step[i].after, &s->view.shape);
	int64_t n = 1;

	for (int dim = 0; dim < before.rank; dim++)
		if (after.dim[dim] > before.dim[dim])
			n *= after.dim[dim] / before.dim[dim];
	return n;
}

/* Returns the note on a permute or an exchange. */
static struct price_note *note_of(struct step_prices *steps, const struct script *s,
                                  int i)
{
	script_sent_key(&steps->key, s, i);
	return steps->prices->note(steps->prices->self, steps->key.at,
	                           script_key_size(&steps->key));
}

int64_t step_prices_messages(const struct plan *plan)
{
	int64_t n = 0;

	for (int i = 0; i < plan->nsteps; i++)
		n += plan->step[i].ntransfers + plan->step[i].npairs;
	return n;
}

static bool is_much(const struct step_prices *steps, const struct script *s, int i)
{
	int64_t work = boxes_of(s, i) * steps->problem->ndevices;

	return steps->work + work > steps->most;
}

/*
 * Prices a step; where it is dearer than `most_cost` the note may tell less, and says so.
 */
static void price_step(struct step_prices *steps, struct price_note *note,
                       const struct plan *plan, double most_cost)
{
	const struct prices *prices = steps->prices;

	if (isfinite(most_cost)) {
		note->price = prices->within(prices->self, plan, most_cost);
		note->more = note->price.cost > most_cost;
	} else {
		note->price = prices->plan(prices->self, plan);
		note->more = false;
	}
}

/* A step that was built before, with another limit, is no work again. */
static void build_step(struct step_prices *steps, struct price_note *note,
                       const struct script *s, int i, double most_cost)
{
	bool again = note->priced;
	struct plan *plan;

	arena_reset(steps->arena);
	plan = script_step_plan(s, i, steps->prices, steps->arena);
	note->priced = true;
	note->impossible = !plan;
	if (!again)
		steps->work += STEP_WORK + steps->problem->ndevices;
	if (!plan)
		return;
	if (!again)
		steps->work += step_prices_messages(plan);
	price_step(steps, note, plan, most_cost);
}

static bool is_sent(const struct script *s, int i)
{
	return s->step[i].op == OP_PERMUTE || s->step[i].op == OP_EXCHANGE;
}

static bool is_above(struct price price, const struct price *limit)
{
	return limit && price_compare(price, *limit) > 0;
}

/*
 * Returns what a step may cost at most so that a script is not above the limit, INFINITY
 * without one. Where that is nothing the sum is above it already. On few devices steps are
 * built again more often than that saves.
 */
static double cost_left(const struct step_prices *steps, const struct price *limit,
                        struct price sum)
{
	if (!limit || steps->problem->ndevices <= BEST_SMALL_DEVICES)
		return INFINITY;
	/* equal prices differ by 1e-9 */
	return limit->cost * (1 + 1e-6) - sum.cost;
}

/* Returns the price of a collective by the table, or one above the limit. */
static struct price table_price(const struct step_prices *steps, const struct script *s,
                                int i, const struct price *limit, struct price sum)
{
	double left = cost_left(steps, limit, sum);

	if (left <= 0)
		return (struct price){0};
	return script_price(s, i, steps->prices, isfinite(left) ? left : 0);
}

bool step_prices_script(struct price *out, struct step_prices *steps,
                        const struct script *s, const struct price *limit)
{
	struct price_note *note[SCRIPT_STEPS_MAX];
	struct price sum = {0}, least = {0};
	bool counted[SCRIPT_STEPS_MAX];

	*out = (struct price){.cost = INFINITY};
	for (int i = 0; i < s->n; i++) {
		note[i] = is_sent(s, i) ? note_of(steps, s, i) : NULL;
		if (note[i] &&
		    (note[i]->impossible || (!note[i]->priced && is_much(steps, s, i))))
			return false;
		counted[i] = !note[i] || (note[i]->priced && !note[i]->more);
		if (counted[i])
			sum = price_add(sum,
			                note[i] ? note[i]->price
			                        : table_price(steps, s, i, limit, sum));
		else if (note[i]->priced)
			least = price_add(least, note[i]->price);
	}
	if (is_above(price_add(sum, least), limit)) {
		*out = price_add(sum, least);
		return false;
	}
	/* two steps may share a note: the second is counted though the first built it */
	for (int i = 0; i < s->n && !is_above(sum, limit); i++) {
		if (counted[i])
			continue;
		if (!note[i]->priced || note[i]->more)
			build_step(steps, note[i], s, i, cost_left(steps, limit, sum));
		if (note[i]->impossible)
			return false;
		sum = price_add(sum, note[i]->price);
	}
	*out = sum;
	return !is_above(sum, limit);
}
