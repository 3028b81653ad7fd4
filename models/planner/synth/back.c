#include "planner/synth/back.h"

#include "planner/synth/states.h"

#include <math.h>
#include <stdlib.h>

/*
 * Half of what a known way costs is left to each of the two searches, but this one settles
 * no more types than so. With a quarter in place of the half, or one type, the exact search
 * of five atoms takes up to twice as long; more types than these are rare and bound the time.
 */
static const double SHARE = 0.5;
enum { TYPES_MAX = 200 };

/* This bit stands above the code of a local shape; a type has 0 there. */
static const uint64_t SHAPE = UINT64_C(1) << CODE_END;

struct back {
	const struct coded *coded;
	struct states states;
	double most_cost, permute_cost;
	double far_cost;    /* the least of types that are not settled */
	double unseen_cost; /* the least of types that no settled one is next to */
};

/* A type whose ways back are followed. */
struct origin {
	struct back *back;
	struct levels *levels;
	int level;
	double cost;
	struct stacks stacks;
	int64_t extent[TYPE_RANK_MAX];
	struct block_moves moves;
};

static void reach_back(struct back *back, uint64_t code, double cost)
{
	struct state *to;
	bool fresh;
	int32_t n;

	if (cost > back->most_cost)
		return;
	n = states_find(&back->states, code, NULL, &fresh);
	to = &back->states.state.at[n];
	if (to->settled || (!fresh && to->total.cost <= cost))
		return;
	to->total.cost = cost;
	to->most_cost = cost;
	states_queue(&back->states, n);
}

/*
 * Adds the types of the level that lack only all-gathers: the target with atoms that
 * are not `used` on top of dimension `dim`, at `place` and cut to `extent`, or later.
 */
static void add_ends(struct origin *origin, uint64_t code, uint32_t used,
                     int64_t elements, int dim, int place, int64_t extent)
{
	const struct coded *coded = origin->back->coded;
	int64_t wanted = origin->levels->level[origin->level].elements;

	if (elements == wanted)
		reach_back(origin->back, code,
		           rest_cost(&origin->levels->rest, used & ~coded->in_to));
	for (; dim < coded->rank && elements > wanted; dim++) {
		for (int a = 0; a < coded->natoms; a++) {
			int32_t size = coded->size[a];

			if ((used >> a & 1) || extent % size != 0 ||
			    elements % (wanted * size) != 0)
				continue;
			add_ends(origin, code + code_of_atom(a, dim, place),
			         used | UINT32_C(1) << a, elements / size, dim,
			         place + 1, extent / size);
		}
		place = dim + 1 < coded->rank ? origin->stacks.count[dim + 1] : 0;
		extent = dim + 1 < coded->rank ? origin->extent[dim + 1] : 1;
	}
}

static void look_at(struct origin *origin, uint64_t code)
{
	const struct coded *coded = origin->back->coded;

	code_stacks(&origin->stacks, code, coded->rank);
	stacks_extents(origin->extent, &origin->stacks, coded->s);
}

/*
 * Follows all-to-alls that lead to the origin. Blocks go back from where they arrived,
 * which is here the dimension that moves rise by, so that lists grow at their ends.
 */
static void back_all_to_alls(struct origin *origin, uint64_t code, int first,
                             uint32_t used, int list)
{
	struct levels *levels = origin->levels;
	double most_cost = origin->back->most_cost - origin->cost;
	double least_cost = origin->cost + levels->level[origin->level].step_cost;

	for (int i = first; i < origin->moves.n; i++) {
		const struct block_move *m = &origin->moves.move[i];
		uint32_t dims = UINT32_C(1) << m->from | UINT32_C(1) << m->to;
		const uint8_t *end =
			origin->stacks.atom[m->from] + origin->stacks.count[m->from];
		const struct state *known;
		const struct price *step;
		int more;

		if (used & dims)
			continue;
		more = lists_append(&levels->lists, list, end - m->n, m->n);
		known = states_look(&origin->back->states, code + m->add);
		if (!known || least_cost < known->most_cost) {
			step = levels_all_to_all(levels, origin->level, more, most_cost);
			reach_back(origin->back, code + m->add,
			           origin->cost + step->cost);
		}
		if (m->next < origin->moves.n)
			back_all_to_alls(origin, code + m->add, m->next, used | dims,
			                 more);
	}
}

static void settle_back(struct origin *origin, int32_t state)
{
	struct back *back = origin->back;
	const struct coded *coded = back->coded;
	uint64_t code = back->states.state.at[state].code;

	origin->cost = back->states.state.at[state].total.cost;
	if (code & SHAPE) {
		struct shape_types types;

		shape_types_list(&types, code & ~SHAPE, coded->size_class,
		                 coded->natoms);
		for (int i = 0; i < types.n; i++)
			reach_back(back, types.code[i], origin->cost);
		return;
	}
	look_at(origin, code);
	reach_back(back,
	           code_of_shape(&origin->stacks, coded->size_class, coded->natoms) |
	                   SHAPE,
	           origin->cost + back->permute_cost);
	block_moves_list(&origin->moves, &origin->stacks, origin->extent, coded->s);
	back_all_to_alls(origin, code, 0, 0, 0);
}

struct back *back_new(struct levels *levels, int level, double most_cost)
{
	const struct level *l = &levels->level[level];
	const struct coded *coded = levels->coded;
	struct back *back = xmalloc(1, sizeof(*back));
	struct origin origin = {.back = back, .levels = levels, .level = level};
	double radius = l->rest_cost + SHARE * (most_cost - l->rest_cost);
	int n = 0;

	*back = (struct back){
		.coded = coded, .most_cost = most_cost, .permute_cost = l->permute.cost};
	states_init(&back->states, false);
	look_at(&origin, coded->to_code);
	add_ends(&origin, coded->to_code, coded->in_to, coded->target, 0,
	         origin.stacks.count[0], origin.extent[0]);
	for (;; n++) {
		const struct states *s = &back->states;

		back->far_cost = s->heap.n > 0 ? s->heap.item[0].cost : INFINITY;
		if (back->far_cost > radius || n == TYPES_MAX)
			break;
		settle_back(&origin, states_next(&back->states));
	}
	/* where types are many, a better bound of the next step is worth its price */
	back->unseen_cost =
		back->far_cost +
		(n < TYPES_MAX ? l->move_cost : levels_least_move(levels, level));
	return back;
}

void back_free(struct back *back)
{
	if (!back)
		return;
	states_free(&back->states);
	xfree(back);
}

double back_cost(const struct back *back, uint64_t code)
{
	/* exact if it is settled, else what settled types tell of it */
	const struct state *s = states_look(&back->states, code);
	struct stacks t;
	double cost;

	if (s && s->settled)
		return s->total.cost;
	cost = s ? fmin(s->total.cost, back->unseen_cost) : back->unseen_cost;
	if (cost <= back->permute_cost)
		return cost;
	code_stacks(&t, code, back->coded->rank);
	s = states_look(&back->states,
	                code_of_shape(&t, back->coded->size_class, back->coded->natoms) |
	                        SHAPE);
	return s ? fmin(cost, s->total.cost) : cost;
}

double back_shape_cost(const struct back *back, uint64_t shape)
{
	const struct state *s = states_look(&back->states, shape | SHAPE);

	return s ? fmin(s->total.cost - back->permute_cost, back->far_cost)
	         : back->far_cost;
}
