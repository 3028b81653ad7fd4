#include "planner/synth/levels.h"

#include "base/assert.h"

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

/* Returns the question for the price of a list. */
static struct list_step list_step(const struct levels *levels, int level,
                                  enum list_price kind, int list, double most_cost)
{
	return (struct list_step){
		.op = kind == PRICE_ALL_TO_ALL ? OP_ALL_TO_ALL : OP_ALL_GATHER,
		.unpack = kind == PRICE_UNPACK,
		.before_bytes = levels->level[level].bytes,
		.n = levels->lists.count[list],
		.atom = levels->lists.atom[list],
		.most_cost = isinf(most_cost) ? 0 : fmax(most_cost, DBL_MIN),
	};
}

struct price levels_collective(const struct levels *levels, int level,
                               enum list_price kind, int list, double most_cost)
{
	struct list_step step = list_step(levels, level, kind, list, most_cost);

	return list_price(levels->coded->s, &step);
}

double levels_least_move(const struct levels *levels, int level)
{
	double least = levels->level[level].permute.cost;

	for (int list = 1; list < levels->lists.n; list++)
		least = fmin(least, levels_collective(levels, level, PRICE_ALL_TO_ALL,
		                                      list, least)
		                            .cost);
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
