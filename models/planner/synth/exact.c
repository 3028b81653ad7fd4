#include "planner/synth/exact.h"

#include "base/assert.h"
#include "planner/synth/back.h"
#include "planner/synth/lack.h"
#include "planner/synth/levels.h"
#include "planner/synth/states.h"

#include <math.h>
#include <string.h>

/* The phase of a state stands above its type's code. */
enum phase {
	PHASE_START, /* the source, before any step */
	PHASE_FLAT,  /* after the slice: all-to-alls, permutes, then gathers */
	PHASE_SHAPE, /* virtual: all types of one local shape, after paying a permute */
	PHASE_GATHER, /* all-gathers only; the target is such a state */
};

/* Another step to a state, at the same price or less than the one that reached it. */
struct tie {
	int32_t state, parent;
	enum op op;
	double cost;
};

/* With one tie 6 rows of `synth` are dearer; hundreds cost nothing. */
enum { TIES_MAX = 256 };

struct search {
	struct synth *s;
	struct coded coded;
	struct states states;
	bool by_bytes, bounded; /* bounded: by `back`, as some path is known */
	double most_cost;       /* dearer paths than one that is known are of no use */
	struct levels levels;
	struct back *back[LEVELS_MAX]; /* of levels that were asked for it */
	struct lack lack;
	/*
	 * The number of the state being expanded, for states move in memory when their
	 * number grows.
	 */
	int32_t from;
	enum phase phase;
	int here;           /* its level */
	uint64_t from_code; /* without the phase */
	struct price price;
	int64_t live_bytes, held_bytes; /* held: source, and own tile if another */
	struct stacks stacks;
	int64_t extent[TYPE_RANK_MAX];
	struct block_moves moves;
	struct chosen chosen; /* those of `moves` that are chosen */
	int nties;
	struct tie tie[TIES_MAX];
};

static const struct level *level_of(const struct search *search, int level)
{
	return &search->levels.level[level];
}

/* --- the lower bound of the rest --------------------------------------------------- */

/*
 * Returns the bound in received bytes: what the device that lacks most still has to
 * receive, and at least one collective if that is anything. In a virtual state the tile
 * must at least grow to the target's.
 */
static struct price bound_in_bytes(const struct search *search, uint64_t code,
                                   enum phase phase, int64_t elements)
{
	int64_t least = elements;

	if (phase != PHASE_SHAPE)
		least = lack_least(&search->lack, code, elements);
	if (least >= search->coded.target)
		return (struct price){0};
	return (struct price){
		.cost = (double)dtype_bytes(search->s->problem->array.dtype,
	                                    search->coded.target - least),
		.collectives = 1,
	};
}

/*
 * Returns the bound of the rest. In prices other than bytes it is above 0 only where a
 * path is known.
 */
static struct price bound_of_rest(struct search *search, uint64_t code,
                                  enum phase phase, int level)
{
	struct back **back = &search->back[level];
	struct price rest = {0};

	if (search->by_bytes)
		return bound_in_bytes(search, code, phase,
		                      level_of(search, level)->elements);
	if (!search->bounded)
		return rest;
	if (phase == PHASE_GATHER) {
		rest.cost = rest_cost(&search->levels.rest,
		                      code_used(code) & ~search->coded.in_to);
		return rest;
	}
	if (!*back)
		*back = back_new(&search->levels, level, search->most_cost);
	rest.cost = phase == PHASE_SHAPE ? back_shape_cost(*back, code)
	                                 : back_cost(*back, code);
	return rest;
}

/* --- steps ------------------------------------------------------------------------ */

/*
 * Reaches the type of a code, whose tile is of a level, by a step of price `step`.
 * Nearly all ways to a state are plainly dearer than the one known, which is checked
 * first.
 */
static void reach_type(struct search *search, enum op op, uint64_t code,
                       enum phase phase, const struct price *step, int level)
{
	double cost = search->price.cost + step->cost;
	int64_t live = search->live_bytes;
	struct price price;
	struct state *to;
	bool fresh, queued;
	int32_t n;

	if (cost + level_of(search, level)->rest_cost > search->most_cost)
		return;
	if (phase != PHASE_SHAPE && code == search->coded.to_code)
		phase = PHASE_GATHER;
	n = states_find(&search->states, code | (uint64_t)phase << CODE_END, NULL,
	                &fresh);
	to = &search->states.state.at[n];
	queued = states_queued(&search->states, n);
	if (to->settled || (queued && price_plainly_more(cost, to->price.cost)))
		return;
	if (fresh) {
		to->rest = bound_of_rest(search, code, phase, level);
		to->most_cost = search->most_cost - to->rest.cost;
	}
	if (cost + to->rest.cost > search->most_cost)
		return;
	price = price_add(search->price, *step);
	if (search->phase != PHASE_SHAPE &&
	    search->held_bytes + level_of(search, level)->bytes > live)
		live = search->held_bytes + level_of(search, level)->bytes;
	if (queued) {
		int order = price_compare(to->price, price);

		if (order == 0 && search->bounded && search->nties < TIES_MAX)
			search->tie[search->nties++] =
				(struct tie){n, search->from, op, cost};
		if (order < 0 || (order == 0 && to->live_bytes <= live))
			return;
	}
	to->price = price;
	to->total = price_add(price, to->rest);
	/*
	 * among equal totals the one that has cost least so far wins, for a permute's
	 * price is an estimate
	 */
	to->total.then = search->bounded ? cost : 0;
	to->live_bytes = live;
	to->op = (uint8_t)op;
	to->level = (uint8_t)level;
	to->parent = search->from;
	to->most_cost = cost * (1 + PRICE_MARGIN);
	states_queue(&search->states, n);
	if (code == search->coded.to_code && phase == PHASE_GATHER)
		search->most_cost = fmin(search->most_cost, cost * (1 + PRICE_MARGIN));
}

/*
 * Returns the most that a step from the state being expanded may cost, after which
 * gathers still cost `rest_cost`.
 */
static double most_of_step(const struct search *search, double rest_cost)
{
	return search->most_cost - search->price.cost - rest_cost;
}

/* Returns whether the slices so far leave more to receive than the path may cost. */
static bool too_far(const struct search *search, uint64_t code, int64_t elements)
{
	return search->by_bytes && !isinf(search->most_cost) &&
	       bound_in_bytes(search, code, PHASE_FLAT, elements).cost >
	               search->most_cost;
}

/*
 * Reaches all slices from the source that leave tiles no larger than the target's:
 * atoms that are not `used` on top of dimension `dim`, at `place` and cut to `extent`,
 * or later.
 */
static void slices(struct search *search, uint64_t code, uint32_t used,
                   int64_t elements, int dim, int place, int64_t extent)
{
	for (; dim < search->coded.rank; dim++) {
		for (int a = 0; a < search->coded.natoms; a++) {
			int32_t size = search->coded.size[a];
			uint64_t next = code + code_of_atom(a, dim, place);
			int64_t less = elements / size;

			if ((used >> a & 1) || extent % size ||
			    too_far(search, next, less))
				continue;
			if (less <= search->coded.target) {
				int level = levels_find(&search->levels, less);

				reach_type(search, OP_SLICE, next, PHASE_FLAT,
				           levels_slice(&search->levels, level, next),
				           level);
			}
			slices(search, next, used | UINT32_C(1) << a, less, dim,
			       place + 1, extent / size);
		}
		place = dim + 1 < search->coded.rank ? search->stacks.count[dim + 1] : 0;
		extent = dim + 1 < search->coded.rank ? search->extent[dim + 1] : 1;
	}
}

/* Returns whether an all-to-all that costs no less than `cost` in all is of no use. */
static bool in_vain(const struct search *search, uint64_t code, double cost)
{
	enum phase phase = code == search->coded.to_code ? PHASE_GATHER : PHASE_FLAT;
	const struct state *to =
		states_look(&search->states, code | (uint64_t)phase << CODE_END);

	return to && cost > to->most_cost;
}

/*
 * Reaches all-to-alls of one or more pairs of distinct dimensions: those chosen, on
 * dimensions `used`, and one or more moves from number `first` on. All cost no less
 * than `cost`.
 */
static void exact_all_to_alls(struct search *search, uint64_t code, int first,
                              uint32_t used, double cost)
{
	double rest_cost = level_of(search, search->here)->rest_cost;

	for (int i = first; i < search->moves.n; i++) {
		const struct block_move *m = &search->moves.move[i];
		uint32_t dims = UINT32_C(1) << m->from | UINT32_C(1) << m->to;
		uint64_t to = code + m->add;

		if (used & dims)
			continue;
		search->chosen.move[search->chosen.n++] = m;
		if (!in_vain(search, to, cost)) {
			int list = chosen_list(&search->levels.lists, &search->stacks,
			                       &search->chosen);

			reach_type(search, OP_ALL_TO_ALL, to, PHASE_FLAT,
			           levels_all_to_all(&search->levels, search->here, list,
			                             most_of_step(search, rest_cost)),
			           search->here);
		}
		if (m->next < search->moves.n)
			exact_all_to_alls(search, to, m->next, used | dims, cost);
		search->chosen.n--;
	}
}

/* Reaches the virtual state of the local shape. */
static void reach_shape(struct search *search)
{
	uint64_t shape = code_of_shape(&search->stacks, search->coded.size_class,
	                               search->coded.natoms);

	reach_type(search, OP_PERMUTE, shape, PHASE_SHAPE,
	           &level_of(search, search->here)->permute, search->here);
}

/* Leads from the virtual state of a local shape to all its types. */
static void expand_shape(struct search *search)
{
	struct shape_types types;

	shape_types_list(&types, search->from_code, search->coded.size_class,
	                 search->coded.natoms);
	for (int i = 0; i < types.n; i++)
		reach_type(search, OP_PERMUTE, types.code[i], PHASE_FLAT,
		           &(struct price){0}, search->here);
}

/*
 * Reaches all-gathers over any top blocks of one or more dimensions, none below the
 * target, after those of `list` from dimensions before `dim`. What arrives must be
 * unpacked if a dimension outside a gathered one is longer than 1 (lower.c charges
 * alike).
 */
static void all_gathers(struct search *search, uint64_t code, int dim, int list,
                        int64_t elements, bool unpack)
{
	bool inner = false;

	for (int outer = 0; outer < dim; outer++)
		inner = inner || search->extent[outer] > 1;
	for (; dim < search->coded.rank; dim++) {
		const uint8_t *end =
			search->stacks.atom[dim] + search->stacks.count[dim];
		int keep = search->s->to.count[dim];
		uint64_t next = code;
		int64_t more = elements;

		for (int n = 1; n <= search->stacks.count[dim] - keep; n++) {
			int atoms =
				lists_append(&search->levels.lists, list, end - n, n);
			bool moves = unpack || inner;
			struct price price;
			int level;

			next -= code_of_atom(end[-n], dim,
			                     search->stacks.count[dim] - n);
			more *= search->coded.size[end[-n]];
			level = levels_find(&search->levels, more);
			price = levels_gather(
				&search->levels, search->here, moves, atoms,
				most_of_step(search, level_of(search, level)->rest_cost));
			reach_type(search, OP_ALL_GATHER, next, PHASE_GATHER, &price,
			           level);
			all_gathers(search, next, dim + 1, atoms, more, moves);
		}
		inner = inner || search->extent[dim] > 1;
	}
}

/* Gathers all that is left at once. */
static void gather_rest(struct search *search)
{
	struct type before = code_type(search->from_code, search->coded.rank);
	struct price price =
		hop_price(search->s, OP_ALL_GATHER, &before, &search->s->to, 0);

	reach_type(search, OP_ALL_GATHER, search->coded.to_code, PHASE_GATHER, &price,
	           levels_find(&search->levels, search->coded.target));
}

static void expand_state(struct search *search, int32_t state)
{
	const struct state *from = &search->states.state.at[state];
	int64_t elements = level_of(search, from->level)->elements;
	double least;

	search->from = state;
	search->here = from->level;
	search->phase = (enum phase)(from->code >> CODE_END);
	search->price = from->price;
	search->live_bytes = from->live_bytes;
	search->held_bytes = search->s->from_bytes;
	if (search->phase != PHASE_START)
		search->held_bytes += level_of(search, search->here)->bytes;
	search->from_code = from->code & ((UINT64_C(1) << CODE_END) - 1);
	if (search->phase == PHASE_SHAPE) {
		expand_shape(search);
		return;
	}
	code_stacks(&search->stacks, search->from_code, search->coded.rank);
	stacks_extents(search->extent, &search->stacks, search->s);
	if (search->phase == PHASE_START && search->coded.rank > 0)
		slices(search, search->from_code, type_used(&search->s->from), elements,
		       0, search->stacks.count[0], search->extent[0]);
	if (elements > search->coded.target)
		return;
	if (search->phase != PHASE_GATHER) {
		block_moves_list(&search->moves, &search->stacks, search->extent,
		                 search->s);
		least = search->price.cost + level_of(search, search->here)->step_cost;
		if (least + level_of(search, search->here)->rest_cost <=
		    search->most_cost)
			exact_all_to_alls(search, search->from_code, 0, 0, least);
		reach_shape(search);
	}
	/* all-gathers alone lead to the target only from types that list it */
	if (!code_lists(search->from_code, search->coded.to_code, search->coded.natoms))
		return;
	/* the received bytes of all-gathers in a row are those of the fused one */
	if (search->by_bytes)
		gather_rest(search);
	else
		all_gathers(search, search->from_code, 0, 0, elements, false);
}

static void path_of_state(struct path *out, const struct search *search, int32_t last)
{
	const struct state *state = search->states.state.at;
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
		                              search->coded.rank);

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

/* Finds the path to a state, and those with permutes that part from it at a tie. */
static void paths_of_state(struct exact_paths *out, struct search *search, int32_t last)
{
	struct state *state = search->states.state.at;

	path_of_state(&out->path[0], search, last);
	out->n = 1;
	for (int32_t at = last; at >= 0; at = state[at].parent) {
		const struct state was = state[at];

		for (int i = 0; i < search->nties && out->n < EXACT_PATHS_MAX; i++) {
			const struct tie *tie = &search->tie[i];

			if (tie->state != at || tie->parent == was.parent ||
			    price_plainly_more(tie->cost, was.price.cost))
				continue;
			state[at].parent = tie->parent;
			state[at].op = (uint8_t)tie->op;
			path_of_state(&out->path[out->n], search, last);
			out->n += has_permute(&out->path[out->n]);
		}
		state[at] = was;
	}
}

static void search_init(struct search *search, struct synth *s, const struct price *most)
{
	memset(search, 0, sizeof(*search));
	search->s = s;
	search->by_bytes = s->prices->step == prices_bytes.step;
	search->bounded = most && !search->by_bytes;
	search->most_cost = most ? most->cost * (1 + PRICE_MARGIN) : INFINITY;
	coded_init(&search->coded, s);
	levels_init(&search->levels, &search->coded, search->bounded);
	if (search->by_bytes)
		lack_init(&search->lack, s);
	states_init(&search->states, false);
}

static void search_free(struct search *search)
{
	states_free(&search->states);
	levels_free(&search->levels);
	for (int i = 0; i < search->levels.n; i++)
		back_free(search->back[i]);
	lack_free(&search->lack);
}

bool synth_exact(struct exact_paths *out, struct synth *s, const struct price *most)
{
	struct search search;
	uint64_t end;
	bool fresh;
	int32_t state;

	assert(!type_equal(&s->from, &s->to));
	search_init(&search, s, most);
	end = search.coded.to_code | (uint64_t)PHASE_GATHER << CODE_END;
	state = states_find(&search.states, search.coded.from_code, NULL, &fresh);
	search.states.state.at[state].level =
		(uint8_t)levels_find(&search.levels, search.coded.source);
	states_queue(&search.states, state);
	while ((state = states_next(&search.states)) >= 0) {
		if (search.states.state.at[state].code == end)
			break;
		expand_state(&search, state);
	}
	if (state >= 0)
		paths_of_state(out, &search, state);
	search_free(&search);
	return state >= 0;
}
