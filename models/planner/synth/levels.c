#include "planner/synth/levels.h"

#include "base/assert.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>

void levels_init(struct levels *out, const struct coded *coded, bool bounded)
{
	out->coded = coded;
	out->bounded = bounded;
	out->n = 0;
	lists_make(&out->lists, coded->natoms);
	rest_init(&out->rest, coded);
}

void levels_free(struct levels *levels)
{
	for (int i = 0; i < levels->n; i++)
		xfree(levels->level[i].all_to_all);
}

int levels_find(struct levels *levels, int64_t elements)
{
	struct level *level = levels->level;
	int i = 0;

	while (i < levels->n && level[i].elements != elements)
		i++;
	if (i < levels->n)
		return i;
	assert(i < LEVELS_MAX);
	levels->n++;
	level[i] = (struct level){
		.elements = elements,
		.bytes = dtype_bytes(levels->coded->s->problem->array.dtype, elements)};
	level[i].permute = permute_price(levels->coded->s, level[i].bytes);
	if (levels->bounded) {
		level[i].rest_cost = rest_least_cost(&levels->rest, elements);
		level[i].step_cost = rest_step_cost(levels->coded->s, elements);
		level[i].move_cost = fmin(level[i].step_cost, level[i].permute.cost);
	}
	return i;
}

static struct price ask_list(const struct levels *levels, int level,
                             struct list_step step, int list, double most_cost)
{
	step.before_bytes = levels->level[level].bytes;
	step.n = levels->lists.count[list];
	step.atom = levels->lists.atom[list];
	step.most_cost = isinf(most_cost) ? 0 : fmax(most_cost, DBL_MIN);
	return list_price(levels->coded->s, &step);
}

struct price levels_gather(const struct levels *levels, int level, bool unpack,
                           int list, double most_cost)
{
	struct list_step step = {.op = OP_ALL_GATHER, .unpack = unpack};

	return ask_list(levels, level, step, list, most_cost);
}

const struct price *levels_all_to_all(struct levels *levels, int level, int list,
                                      double most_cost)
{
	struct level *l = &levels->level[level];
	struct price_note *note;

	if (!l->all_to_all)
		l->all_to_all = xcalloc((size_t)levels->lists.n, sizeof(*l->all_to_all));
	note = &l->all_to_all[list];
	if (!note->priced || (note->more && note->price.cost <= most_cost)) {
		struct list_step step = {.op = OP_ALL_TO_ALL};

		note->price = ask_list(levels, level, step, list, most_cost);
		note->more = note->price.cost > most_cost;
		note->priced = true;
	}
	return &note->price;
}

double levels_least_move(struct levels *levels, int level)
{
	double least = levels->level[level].permute.cost;

	for (int list = 1; list < levels->lists.n; list++)
		least = fmin(least, levels_all_to_all(levels, level, list, least)->cost);
	return least;
}

const struct price *levels_slice(struct levels *levels, int level, uint64_t to)
{
	struct level *l = &levels->level[level];
	const struct synth *s = levels->coded->s;

	if (!l->sliced) {
		struct type after = code_type(to, levels->coded->rank);

		l->slice = hop_price(s, OP_SLICE, &s->from, &after, 0);
		l->sliced = true;
	}
	return &l->slice;
}
