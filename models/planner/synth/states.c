#include "planner/synth/states.h"

#include <math.h>
#include <stdlib.h>

/* The order of states: by total price, then memory, then the order in which they were made. */
static bool state_before(const void *context, int32_t a, int32_t b)
{
	const struct states *x = context;
	const struct state *s = &x->state.at[a], *t = &x->state.at[b];
	int order;

	if (price_plainly_more(s->total.cost, t->total.cost))
		return false;
	if (price_plainly_more(t->total.cost, s->total.cost))
		return true;
	order = price_compare(s->total, t->total);
	if (order != 0)
		return order < 0;
	if (s->live_bytes != t->live_bytes)
		return s->live_bytes < t->live_bytes;
	return a < b;
}

void states_init(struct states *x, bool typed)
{
	*x = (struct states){.typed = typed,
	                     .heap = {.before = state_before, .context = x}};
}

void states_free(struct states *x)
{
	free(x->state.at);
	free(x->type.at);
	table_free(&x->number);
	heap_free(&x->heap);
}

int32_t states_find(struct states *x, uint64_t code, const struct type *type,
                    bool *fresh)
{
	int32_t n = (int32_t)x->state.n;
	size_t at;

	*fresh = false;
	for (int32_t i = table_first(&x->number, states_hash(code), &at); i >= 0;
	     i = table_next(&x->number, states_hash(code), &at))
		if (x->state.at[i].code == code &&
		    (!type || type_equal(&x->type.at[i], type)))
			return i;
	*fresh = true;
	table_add(&x->number, states_hash(code), n);
	*list_add(&x->state, NULL) =
		(struct state){.code = code, .most_cost = INFINITY, .parent = -1};
	if (x->typed)
		*list_add(&x->type, NULL) = *type;
	return n;
}

void states_queue(struct states *x, int32_t state)
{
	heap_queue(&x->heap, state);
}

int32_t states_next(struct states *x)
{
	int32_t first = heap_take(&x->heap);

	if (first >= 0) {
		x->state.at[first].settled = true;
		x->state.at[first].most_cost = -INFINITY;
	}
	return first;
}
