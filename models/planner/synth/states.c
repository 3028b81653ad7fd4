#include "planner/synth/states.h"

#include <math.h>
#include <stdlib.h>

/* Orders states by total price, then memory, then the order in which they were made. */
static bool state_before(const void *context, int32_t a, int32_t b)
{
	const struct states *states = context;
	const struct state *s = &states->state.at[a], *t = &states->state.at[b];
	int order;

	order = price_compare(s->total, t->total);
	if (order != 0)
		return order < 0;
	if (s->live_bytes != t->live_bytes)
		return s->live_bytes < t->live_bytes;
	return a < b;
}

void states_init(struct states *states, bool typed)
{
	*states = (struct states){.typed = typed};
}

void states_free(struct states *states)
{
	xfree(states->state.at);
	xfree(states->type.at);
	table_free(&states->number);
	heap_free(&states->heap);
}

int32_t states_find(struct states *states, uint64_t code, const struct type *type,
                    bool *fresh)
{
	int32_t n = (int32_t)states->state.n;
	size_t at;

	*fresh = false;
	for (int32_t i = table_first(&states->number, states_hash(code), &at); i >= 0;
	     i = table_next(&states->number, states_hash(code), &at))
		if (states->state.at[i].code == code &&
		    (!type || type_equal(&states->type.at[i], type)))
			return i;
	*fresh = true;
	table_add(&states->number, states_hash(code), n);
	*list_add(&states->state, NULL) =
		(struct state){.code = code, .most_cost = INFINITY, .parent = -1};
	if (states->typed)
		*list_add(&states->type, NULL) = *type;
	return n;
}

void states_queue(struct states *states, int32_t state)
{
	heap_queue(&states->heap, state_before, states, state,
	           states->state.at[state].total.cost);
}

int32_t states_next(struct states *states)
{
	int32_t first = heap_take(&states->heap, state_before, states);

	if (first >= 0) {
		states->state.at[first].settled = true;
		states->state.at[first].most_cost = -INFINITY;
	}
	return first;
}
