#include "planner/synth/levels.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void levels_init(struct levels *out, const struct coded *coded, bool bounded)
{
	out->coded = coded;
	out->bounded = bounded;
	out->n = 0;
	lists_make(&out->lists, coded->natoms);
	rest_init(&out->rest, coded);
}

void levels_free(struct levels *x)
{
	for (int i = 0; i < x->n; i++)
		for (int kind = 0; kind < LIST_PRICES; kind++)
			free(x->level[i].by_list[kind]);
}

int levels_find(struct levels *x, int64_t elements)
{
	struct level *level = x->level;
	int i = 0;

	while (i < x->n && level[i].elements != elements)
		i++;
	if (i < x->n)
		return i;
	assert(i < LEVELS_MAX);
	x->n++;
	level[i] = (struct level){
		.elements = elements,
		.bytes = dtype_bytes(x->coded->s->problem->array.dtype, elements)};
	if (x->bounded) {
		level[i].rest_cost = rest_least_cost(&x->rest, elements);
		level[i].step_cost = rest_step_cost(x->coded->s, elements);
		level[i].move_cost = rest_move_cost(x->coded->s, elements);
	}
	return i;
}

/* The question for the price of a list. */
static struct list_step list_step(const struct levels *x, int level,
                                  enum list_price kind, int list, double most_cost)
{
	return (struct list_step){
		.op = kind == PRICE_ALL_TO_ALL ? OP_ALL_TO_ALL : OP_ALL_GATHER,
		.unpack = kind == PRICE_UNPACK,
		.before_bytes = x->level[level].bytes,
		.n = x->lists.count[list],
		.atom = x->lists.atom[list],
		.most_cost = isinf(most_cost) ? 0 : fmax(most_cost, DBL_MIN),
	};
}

static struct asked *lists_asked(struct levels *x, int level, enum list_price kind)
{
	struct asked **asked = &x->level[level].by_list[kind];
	size_t n = (size_t)x->lists.n;

	if (!*asked) {
		*asked = xmalloc(n, sizeof(**asked));
		memset(*asked, 0, n * sizeof(**asked));
	}
	return *asked;
}

const struct price *levels_collective(struct levels *x, int level, enum list_price kind,
                                      int list, double most_cost)
{
	struct asked *asked = lists_asked(x, level, kind) + list;

	if (!asked->known ||
	    (asked->price.cost > asked->most_cost && most_cost > asked->most_cost)) {
		struct list_step step = list_step(x, level, kind, list, most_cost);

		asked->price = list_price(x->coded->s, &step);
		asked->most_cost = most_cost;
		asked->known = true;
	}
	return &asked->price;
}

double levels_least_move(struct levels *x, int level)
{
	const struct asked *asked = lists_asked(x, level, PRICE_ALL_TO_ALL);
	double least = levels_permute(x, level)->cost;

	for (int list = 1; list < x->lists.n; list++) {
		struct list_step step =
			list_step(x, level, PRICE_ALL_TO_ALL, list, least);

		least = fmin(least, asked[list].known
		                            ? asked[list].price.cost
		                            : list_price(x->coded->s, &step).cost);
	}
	return least;
}

const struct price *levels_permute(struct levels *x, int level)
{
	struct level *l = &x->level[level];

	if (!l->permute.known) {
		l->permute.price = permute_price(x->coded->s, l->bytes);
		l->permute.known = true;
	}
	return &l->permute.price;
}

const struct price *levels_slice(struct levels *x, int level, uint64_t to)
{
	struct asked *asked = &x->level[level].slice;

	if (!asked->known) {
		struct synth *s = x->coded->s;
		struct type after = code_type(to, x->coded->rank);

		asked->price = hop_price(s, OP_SLICE, &s->from, &after, 0);
		asked->known = true;
	}
	return &asked->price;
}
