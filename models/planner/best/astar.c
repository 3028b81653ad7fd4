#include "planner/best/astar.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Types looked at from one that take as long as a message that is priced. */
enum { TYPES_OF_WORK = 2 };

/* A way to a type: by a step from another, whose cheapest price is known. */
struct way {
	struct price total; /* with what is still to be done, at least */
	struct price price; /* up to and with the step, if that is known */
	int before, after;
	bool exchange, known;
	uint32_t number; /* ways of equal price: the first one first */
};

struct astar_search {
	const struct types *types;
	struct step_prices *steps;
	const struct prices *prices;
	const struct price *limit;
	struct arena *arena;
	uint32_t ways;
	int64_t work; /* besides that of steps and bounds */
	size_t n, capacity;
	struct way *heap;
	/* By type: */
	bool reached[TYPES_MAX], bounded[TYPES_MAX];
	struct price price[TYPES_MAX], rest[TYPES_MAX];
	int before[TYPES_MAX];
	bool exchange[TYPES_MAX];
};

/* --- the queue -------------------------------------------------------------------- */

static bool is_before(const struct way *a, const struct way *b)
{
	if (a->total.cost != b->total.cost)
		return a->total.cost < b->total.cost;
	return a->number < b->number;
}

static void push(struct astar_search *x, struct way way)
{
	size_t i = x->n++;

	if (x->n > x->capacity) {
		x->capacity = x->capacity ? 2 * x->capacity : 256;
		x->heap = xrealloc(x->heap, x->capacity, sizeof(*x->heap));
	}
	way.number = x->ways++;
	for (; i > 0 && is_before(&way, &x->heap[(i - 1) / 2]); i = (i - 1) / 2)
		x->heap[i] = x->heap[(i - 1) / 2];
	x->heap[i] = way;
}

static struct way pop(struct astar_search *x)
{
	struct way top = x->heap[0], last = x->heap[--x->n];
	size_t i = 0;

	for (size_t k; (k = 2 * i + 1) < x->n; i = k) {
		k += k + 1 < x->n && is_before(&x->heap[k + 1], &x->heap[k]);
		if (!is_before(&x->heap[k], &last))
			break;
		x->heap[i] = x->heap[k];
	}
	x->heap[i] = last;
	return top;
}

/* --- prices ----------------------------------------------------------------------- */

static struct price least(const struct astar_search *x, int before, int after)
{
	return x->prices->least(x->prices->self, x->types->ends.problem,
	                        types_received(x->types, before, after));
}

static bool is_over(const struct astar_search *x, struct price total)
{
	return x->limit && price_compare(total, *x->limit) >= 0;
}

/* What is still to be done from a type: at first by what must be received alone. */
static struct price rest(struct astar_search *x, int state, bool exact)
{
	const struct types *t = x->types;
	struct layout from, to;
	struct price price;

	if (state == t->to || x->bounded[state])
		return x->rest[state];
	price = least(x, state, t->to);
	if (!exact)
		return price;
	from = types_layout(t, state);
	to = types_layout(t, t->to);
	x->rest[state] = step_prices_bound(x->steps, &t->ends.view, &from, &to);
	if (price_compare(price, x->rest[state]) > 0)
		x->rest[state] = price;
	x->bounded[state] = true;
	return x->rest[state];
}

/* Is a known price not better than what is there already? */
static bool is_worse(const struct astar_search *x, int state, struct price price)
{
	return x->reached[state] && price_compare(price, x->price[state]) >= 0;
}

/* One step as a script of its own. */
static void step_script(struct script *out, const struct types *t, int before, int after)
{
	out->problem = t->ends.problem;
	out->view = t->ends.view;
	out->from = types_layout(t, before);
	out->to = types_layout(t, after);
	out->n = 1;
	out->senders = SENDERS_RULE;
	out->step[0] = (struct script_step){.op = OP_EXCHANGE, .after = out->to};
}

/* --- the search ------------------------------------------------------------------- */

/* Add a way if it may be the cheapest: `step` is its price, or at least as much. */
static void add_way(struct astar_search *x, struct way way, struct price step)
{
	way.price = price_add(x->price[way.before], step);
	if (is_worse(x, way.after, way.price))
		return;
	for (int exact = 0; exact < 2; exact++) {
		way.total = price_add(way.price, rest(x, way.after, exact));
		if (is_over(x, way.total))
			return;
	}
	push(x, way);
}

static void expand(struct astar_search *x, int state, struct script *script)
{
	const struct types *t = x->types;

	for (int after = 0; after < t->n; after++) {
		struct way way = {.before = state, .after = after};
		struct price at_least;

		if (after == state || after == t->from)
			continue;
		at_least = least(x, state, after);
		if (is_over(x, price_add(price_add(x->price[state], at_least),
		                         rest(x, after, false))))
			continue;
		if (types_exchange(t, state, after)) {
			way.exchange = true;
			add_way(x, way, at_least);
			way.exchange = false;
		}
		step_script(script, t, state, after);
		if (!types_collective(&script->step[0], t, state, after, x->arena))
			continue;
		way.known = true;
		add_way(x, way, script_price(script, 0, x->prices));
	}
}

/* Price an exchange that came to the front, and queue it again. */
static void price_exchange(struct astar_search *x, struct way way, struct script *script)
{
	struct price step;

	step_script(script, x->types, way.before, way.after);
	if (step_prices_script(&step, x->steps, script, NULL) != PRICING_DONE)
		return;
	way.known = true;
	add_way(x, way, step);
}

/* The steps back from the target; false if a script has no room for them. */
static bool write_script(struct script *out, const struct astar_search *x)
{
	const struct types *t = x->types;
	int path[SCRIPT_STEPS_MAX + 1], n = 0;

	for (int at = t->to; at != t->from; at = x->before[at]) {
		if (n == SCRIPT_STEPS_MAX)
			return false;
		path[n++] = at;
	}
	script_copy(out, &t->ends);
	for (int before = t->from; n > 0; before = path[n]) {
		struct script_step *step = &out->step[out->n++];
		int after = path[--n];

		if (x->exchange[after])
			*step = (struct script_step){.op = OP_EXCHANGE,
			                             .after = types_layout(t, after)};
		else if (!types_collective(step, t, before, after, x->arena))
			assert(0 && "a step without a collective");
	}
	return true;
}

static enum astar run(struct astar_search *x, int64_t most)
{
	struct script *script = arena_alloc(x->arena, 1, sizeof(*script));
	int64_t before = step_prices_work(x->steps);

	x->reached[x->types->from] = true;
	expand(x, x->types->from, script);
	x->work = x->types->n / TYPES_OF_WORK;
	while (x->n > 0) {
		struct way way = pop(x);

		if (++x->work + step_prices_work(x->steps) - before > most)
			return ASTAR_STOPPED;
		if (is_worse(x, way.after, way.price))
			continue;
		if (!way.known) {
			price_exchange(x, way, script);
			continue;
		}
		x->reached[way.after] = true;
		x->price[way.after] = way.price;
		x->before[way.after] = way.before;
		x->exchange[way.after] = way.exchange;
		if (way.after == x->types->to)
			return ASTAR_FOUND;
		expand(x, way.after, script);
		x->work += x->types->n / TYPES_OF_WORK;
	}
	return ASTAR_NONE;
}

enum astar best_astar(struct script *out, struct price *price, const struct types *t,
                      struct step_prices *steps, const struct prices *prices,
                      const struct price *limit, int64_t most_work, struct arena *a)
{
	struct astar_search *x = arena_alloc(a, 1, sizeof(*x));
	enum astar answer;

	assert(prices->bound && prices->least);
	*x = (struct astar_search){
		.types = t, .steps = steps, .prices = prices, .limit = limit, .arena = a};
	answer = run(x, most_work);
	if (answer == ASTAR_FOUND) {
		*price = x->price[t->to];
		answer = write_script(out, x) ? ASTAR_FOUND : ASTAR_STOPPED;
	}
	free(x->heap);
	return answer;
}
