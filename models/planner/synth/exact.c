#include "planner/synth/exact.h"

#include "planner/synth/back.h"
#include "planner/synth/lack.h"
#include "planner/synth/levels.h"
#include "planner/synth/states.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Stands above a type's code. */
enum phase {
	PHASE_START, /* the source, before any step */
	PHASE_FLAT,  /* after the slice: all-to-alls, permutes, then gathers */
	PHASE_SHAPE, /* virtual: all types of one local shape, after paying a permute */
	PHASE_GATHER, /* all-gathers only; the target is such a state */
};

/* Another step to a state, at no higher price than the one it is reached by. */
struct tie {
	int32_t state, parent;
	enum op op;
	double cost;
};

enum { TIES_MAX = 256 };

struct search {
	struct synth *s;
	struct coded coded;
	struct states states;
	bool by_bytes, bounded; /* bounded: by `back`, as another path is known */
	double most_cost;       /* dearer paths than one that is known are of no use */
	struct levels levels;
	struct back *back[LEVELS_MAX]; /* of levels that were asked for it */
	struct lack lack;
	/* The state being expanded: states move when they grow. */
	int32_t from;
	enum phase phase;
	int here;           /* its level */
	uint64_t from_code; /* without the phase */
	struct price price;
	int64_t live_bytes, held_bytes; /* held: the source and, if another, its tile */
	struct stacks stacks;
	int64_t extent[TYPE_RANK_MAX];
	struct block_moves moves;
	struct chosen chosen; /* of these */
	int nties;
	struct tie tie[TIES_MAX];
};

static const struct level *level_of(const struct search *x, int level)
{
	return &x->levels.level[level];
}

/* --- the lower bound of the rest --------------------------------------------------- */

/*
 * In received bytes: what the device that lacks most still has to receive; at least one
 * collective if that is anything. In a virtual state the tile must at least grow to the
 * target's.
 */
static struct price bound_in_bytes(const struct search *x, uint64_t code,
                                   enum phase phase, int64_t elements)
{
	int64_t least = elements;

	if (phase != PHASE_SHAPE)
		least = lack_least(&x->lack, code, elements);
	if (least >= x->coded.target)
		return (struct price){0};
	return (struct price){
		.cost = (double)dtype_bytes(x->s->problem->array.dtype,
	                                    x->coded.target - least),
		.collectives = 1,
	};
}

/* In other prices something is known where a path is. */
static struct price bound_of_rest(struct search *x, uint64_t code, enum phase phase,
                                  int level)
{
	struct back **back = &x->back[level];
	struct price rest = {0};

	if (x->by_bytes)
		return bound_in_bytes(x, code, phase, level_of(x, level)->elements);
	if (!x->bounded)
		return rest;
	if (phase == PHASE_GATHER) {
		rest.cost =
			rest_cost(&x->levels.rest, code_used(code) & ~x->coded.in_to);
		return rest;
	}
	if (!*back)
		*back = back_new(&x->levels, level, x->most_cost);
	rest.cost = phase == PHASE_SHAPE ? back_shape_cost(*back, code)
	                                 : back_cost(*back, code);
	return rest;
}

/* --- steps ------------------------------------------------------------------------ */

/*
 * A step of price `step` leads to the type of a code, whose tile is of a level. Nearly
 * all ways to a state are plainly dearer than the one known, which is seen first.
 */
static void reach(struct search *x, enum op op, uint64_t code, enum phase phase,
                  const struct price *step, int level)
{
	double cost = x->price.cost + step->cost;
	int64_t live = x->live_bytes;
	struct price price;
	struct state *to;
	bool fresh, queued;
	int32_t n;

	if (cost + level_of(x, level)->rest_cost > x->most_cost)
		return;
	if (phase != PHASE_SHAPE && code == x->coded.to_code)
		phase = PHASE_GATHER;
	n = states_find(&x->states, code | (uint64_t)phase << CODE_END, NULL, &fresh);
	to = &x->states.state.at[n];
	queued = states_queued(&x->states, n);
	if (to->settled || (queued && price_plainly_more(cost, to->price.cost)))
		return;
	if (fresh) {
		to->rest = bound_of_rest(x, code, phase, level);
		to->most_cost = x->most_cost - to->rest.cost;
	}
	if (cost + to->rest.cost > x->most_cost)
		return;
	price = price_add(x->price, *step);
	if (x->phase != PHASE_SHAPE && x->held_bytes + level_of(x, level)->bytes > live)
		live = x->held_bytes + level_of(x, level)->bytes;
	if (queued) {
		int order = price_compare(to->price, price);

		if (order == 0 && x->bounded && x->nties < TIES_MAX)
			x->tie[x->nties++] = (struct tie){n, x->from, op, cost};
		if (order < 0 || (order == 0 && to->live_bytes <= live))
			return;
	}
	to->price = price;
	to->total = price_add(price, to->rest);
	/* Of equal totals, what has cost least so far: a permute's price is an estimate. */
	to->total.then = x->bounded ? cost : 0;
	to->live_bytes = live;
	to->op = (uint8_t)op;
	to->level = (uint8_t)level;
	to->parent = x->from;
	to->most_cost = cost * (1 + PRICE_MARGIN);
	states_queue(&x->states, n);
	if (code == x->coded.to_code && phase == PHASE_GATHER)
		x->most_cost = fmin(x->most_cost, cost * (1 + PRICE_MARGIN));
}

/*
 * The price of a collective from the state being expanded, after which gathers still cost
 * `rest_cost`; of one that is dearer than the path may be no more is asked than that.
 */
static struct price ask(const struct search *x, enum list_price kind, int list,
                        double rest_cost)
{
	return levels_collective(&x->levels, x->here, kind, list,
	                         x->most_cost - x->price.cost - rest_cost);
}

/* Do the slices so far leave more to receive than the path may cost? */
static bool too_far(const struct search *x, uint64_t code, int64_t elements)
{
	return x->by_bytes && !isinf(x->most_cost) &&
	       bound_in_bytes(x, code, PHASE_FLAT, elements).cost > x->most_cost;
}

/*
 * All slices from the source that leave tiles no larger than the target's: atoms that
 * are not `used` on top of dimension `dim`, at `place` and cut to `extent`, or later.
 */
static void slices(struct search *x, uint64_t code, uint32_t used, int64_t elements,
                   int dim, int place, int64_t extent)
{
	for (; dim < x->coded.rank; dim++) {
		for (int a = 0; a < x->coded.natoms; a++) {
			int32_t size = x->coded.size[a];
			uint64_t next = code + code_of_atom(a, dim, place);
			int64_t less = elements / size;

			if ((used >> a & 1) || extent % size || too_far(x, next, less))
				continue;
			if (less <= x->coded.target) {
				int level = levels_find(&x->levels, less);

				reach(x, OP_SLICE, next, PHASE_FLAT,
				      levels_slice(&x->levels, level, next), level);
			}
			slices(x, next, used | UINT32_C(1) << a, less, dim, place + 1,
			       extent / size);
		}
		place = dim + 1 < x->coded.rank ? x->stacks.count[dim + 1] : 0;
		extent = dim + 1 < x->coded.rank ? x->extent[dim + 1] : 1;
	}
}

/* Is an all-to-all that costs no less than `cost` in all of no use? */
static bool in_vain(const struct search *x, uint64_t code, double cost)
{
	enum phase phase = code == x->coded.to_code ? PHASE_GATHER : PHASE_FLAT;
	const struct state *to =
		states_look(&x->states, code | (uint64_t)phase << CODE_END);

	return to && cost > to->most_cost;
}

/*
 * All-to-alls of one or more pairs of dimensions, all distinct:
 * those chosen, on dimensions `used`, and one or more moves from number `first` on. All
 * cost no less than `cost`.
 */
static void all_to_alls(struct search *x, uint64_t code, int first, uint32_t used,
                        double cost)
{
	double rest_cost = level_of(x, x->here)->rest_cost;

	for (int i = first; i < x->moves.n; i++) {
		const struct block_move *m = &x->moves.move[i];
		uint32_t dims = UINT32_C(1) << m->from | UINT32_C(1) << m->to;
		uint64_t to = code + m->add;

		if (used & dims)
			continue;
		x->chosen.move[x->chosen.n++] = m;
		if (!in_vain(x, to, cost)) {
			int list = chosen_list(&x->levels.lists, &x->stacks, &x->chosen);
			struct price price = ask(x, PRICE_ALL_TO_ALL, list, rest_cost);

			reach(x, OP_ALL_TO_ALL, to, PHASE_FLAT, &price, x->here);
		}
		if (m->next < x->moves.n)
			all_to_alls(x, to, m->next, used | dims, cost);
		x->chosen.n--;
	}
}

/* To the virtual state of the local shape. */
static void permute(struct search *x)
{
	uint64_t shape = code_of_shape(&x->stacks, x->coded.size_class, x->coded.natoms);

	reach(x, OP_PERMUTE, shape, PHASE_SHAPE, &level_of(x, x->here)->permute,
	      x->here);
}

/* From the virtual state of a local shape to all its types. */
static void expand_shape(struct search *x)
{
	struct shape_types types;

	shape_types_list(&types, x->from_code, x->coded.size_class, x->coded.natoms);
	for (int i = 0; i < types.n; i++)
		reach(x, OP_PERMUTE, types.code[i], PHASE_FLAT, &(struct price){0},
		      x->here);
}

/*
 * All-gathers over any top blocks of one or more dimensions, none below the target,
 * after those of `list` from dimensions before `dim`. What arrives must be unpacked if a
 * dimension outside a gathered one is longer than 1 (lower.c charges alike).
 */
static void all_gathers(struct search *x, uint64_t code, int dim, int list,
                        int64_t elements, bool unpack)
{
	bool inner = false;

	for (int outer = 0; outer < dim; outer++)
		inner = inner || x->extent[outer] > 1;
	for (; dim < x->coded.rank; dim++) {
		const uint8_t *end = x->stacks.atom[dim] + x->stacks.count[dim];
		int keep = x->s->to.count[dim];
		uint64_t next = code;
		int64_t more = elements;

		for (int n = 1; n <= x->stacks.count[dim] - keep; n++) {
			int atoms = lists_append(&x->levels.lists, list, end - n, n);
			bool moves = unpack || inner;
			struct price price;
			int level;

			next -= code_of_atom(end[-n], dim, x->stacks.count[dim] - n);
			more *= x->coded.size[end[-n]];
			level = levels_find(&x->levels, more);
			price = ask(x, moves ? PRICE_UNPACK : PRICE_GATHER, atoms,
			            level_of(x, level)->rest_cost);
			reach(x, OP_ALL_GATHER, next, PHASE_GATHER, &price, level);
			all_gathers(x, next, dim + 1, atoms, more, moves);
		}
		inner = inner || x->extent[dim] > 1;
	}
}

/* All that is left to gather, at once. */
static void gather_rest(struct search *x)
{
	struct type before = code_type(x->from_code, x->coded.rank);
	struct price price = hop_price(x->s, OP_ALL_GATHER, &before, &x->s->to, 0);

	reach(x, OP_ALL_GATHER, x->coded.to_code, PHASE_GATHER, &price,
	      levels_find(&x->levels, x->coded.target));
}

static void expand(struct search *x, int32_t state)
{
	const struct state *from = &x->states.state.at[state];
	int64_t elements = level_of(x, from->level)->elements;
	double least;

	x->from = state;
	x->here = from->level;
	x->phase = (enum phase)(from->code >> CODE_END);
	x->price = from->price;
	x->live_bytes = from->live_bytes;
	x->held_bytes = x->s->from_bytes;
	if (x->phase != PHASE_START)
		x->held_bytes += level_of(x, x->here)->bytes;
	x->from_code = from->code & ((UINT64_C(1) << CODE_END) - 1);
	if (x->phase == PHASE_SHAPE) {
		expand_shape(x);
		return;
	}
	code_stacks(&x->stacks, x->from_code, x->coded.rank);
	stacks_extents(x->extent, &x->stacks, x->s);
	if (x->phase == PHASE_START && x->coded.rank > 0)
		slices(x, x->from_code, type_used(&x->s->from), elements, 0,
		       x->stacks.count[0], x->extent[0]);
	if (elements > x->coded.target)
		return;
	if (x->phase != PHASE_GATHER) {
		block_moves_list(&x->moves, &x->stacks, x->extent, x->s);
		least = x->price.cost + level_of(x, x->here)->step_cost;
		if (least + level_of(x, x->here)->rest_cost <= x->most_cost)
			all_to_alls(x, x->from_code, 0, 0, least);
		permute(x);
	}
	/* All-gathers alone lead to the target only from types that list it. */
	if (!code_lists(x->from_code, x->coded.to_code, x->coded.natoms))
		return;
	/* Received bytes of all-gathers in a row are those of the fused one. */
	if (x->by_bytes)
		gather_rest(x);
	else
		all_gathers(x, x->from_code, 0, 0, elements, false);
}

static void path_of_state(struct path *out, const struct search *x, int32_t last)
{
	const struct state *state = x->states.state.at;
	int32_t chain[HOPS_MAX];
	int n = 0;

	for (int32_t i = last; state[i].parent >= 0; i = state[i].parent) {
		if (state[i].code >> CODE_END == PHASE_SHAPE)
			continue;
		assert(n < HOPS_MAX);
		chain[n++] = i;
	}
	out->n = 0;
	while (n-- > 0) {
		uint64_t code = state[chain[n]].code;
		struct type after = code_type(code & ((UINT64_C(1) << CODE_END) - 1),
		                              x->coded.rank);

		path_add(out, (enum op)state[chain[n]].op, &after);
	}
}

static bool has_permute(const struct path *path)
{
	for (int i = 0; i < path->n; i++)
		if (path->hop[i].op == OP_PERMUTE)
			return true;
	return false;
}

/* The path to a state, and those with permutes that part from it at a tie. */
static void paths_of_state(struct exact_paths *out, struct search *x, int32_t last)
{
	struct state *state = x->states.state.at;

	path_of_state(&out->path[0], x, last);
	out->n = 1;
	for (int32_t at = last; at >= 0; at = state[at].parent) {
		const struct state was = state[at];

		for (int i = 0; i < x->nties && out->n < EXACT_PATHS_MAX; i++) {
			const struct tie *tie = &x->tie[i];

			if (tie->state != at || tie->parent == was.parent ||
			    price_plainly_more(tie->cost, was.price.cost))
				continue;
			state[at].parent = tie->parent;
			state[at].op = (uint8_t)tie->op;
			path_of_state(&out->path[out->n], x, last);
			out->n += has_permute(&out->path[out->n]);
		}
		state[at] = was;
	}
}

static void search_init(struct search *x, struct synth *s, const struct price *most)
{
	memset(x, 0, sizeof(*x));
	x->s = s;
	x->by_bytes = s->prices->step == prices_bytes.step;
	x->bounded = most && !x->by_bytes;
	x->most_cost = most ? most->cost * (1 + PRICE_MARGIN) : INFINITY;
	coded_init(&x->coded, s);
	levels_init(&x->levels, &x->coded, x->bounded);
	if (x->by_bytes)
		lack_init(&x->lack, s);
	states_init(&x->states, false);
}

static void search_free(struct search *x)
{
	states_free(&x->states);
	for (int i = 0; i < x->levels.n; i++)
		back_free(x->back[i]);
	lack_free(&x->lack);
}

bool synth_exact(struct exact_paths *out, struct synth *s, const struct price *most)
{
	struct search x;
	uint64_t end;
	bool fresh;
	int32_t state;

	assert(!type_equal(&s->from, &s->to));
	search_init(&x, s, most);
	end = x.coded.to_code | (uint64_t)PHASE_GATHER << CODE_END;
	state = states_find(&x.states, x.coded.from_code, NULL, &fresh);
	x.states.state.at[state].level = (uint8_t)levels_find(&x.levels, x.coded.source);
	states_queue(&x.states, state);
	while ((state = states_next(&x.states)) >= 0) {
		if (x.states.state.at[state].code == end)
			break;
		expand(&x, state);
	}
	if (state >= 0)
		paths_of_state(out, &x, state);
	search_free(&x);
	return state >= 0;
}
