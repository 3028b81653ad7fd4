#include "planner/synth_exact.h"

#include "planner/synth_code.h"
#include "planner/synth_lack.h"
#include "planner/synth_rest.h"
#include "planner/synth_states.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of tiles: products of atoms. */
enum { LEVELS_MAX = 1 << CODE_ATOMS_MAX };

/* Stands above a type's code. */
enum phase {
	PHASE_START, /* the source, before any step */
	PHASE_FLAT,  /* after the slice: all-to-alls, permutes, then gathers */
	PHASE_SHAPE, /* virtual: all types of one local shape, after paying a permute */
	PHASE_GATHER, /* all-gathers only; the target is such a state */
};

/* What steps cost from tiles of one size, as far as it was asked: known prices. */
enum list_price { PRICE_ALL_TO_ALL, PRICE_GATHER, PRICE_UNPACK, LIST_PRICES };

struct asked {
	bool known;
	struct price price;
};

struct level {
	int64_t elements, bytes;
	double rest_cost; /* of gathers up to the tile of the target, at least */
	double step_cost; /* of an all-to-all, at least */
	double move_cost; /* of an all-to-all or a permute, at least */
	struct asked permute, slice;        /* slice: that leads to this level */
	struct asked *by_list[LIST_PRICES]; /* [lists]: by the atoms in their order */
};

struct search {
	struct synth *s;
	struct states states;
	bool by_bytes, bounded; /* bounded: by `rest`, as another path is known */
	double most_cost;       /* dearer paths than one that is known are of no use */
	int rank, natoms;
	int32_t size[CODE_ATOMS_MAX];
	uint8_t size_class[CODE_ATOMS_MAX]; /* the first atom of its size */
	uint64_t to_code;
	int64_t target; /* elements of the target tile */
	struct lists lists;
	int nlevels;
	struct level level[LEVELS_MAX];
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
	struct lack lack;
	struct rest rest;
};

/* --- prices, each asked once ------------------------------------------------------ */

static int level_of(struct search *x, int64_t elements)
{
	int i = 0;

	while (i < x->nlevels && x->level[i].elements != elements)
		i++;
	if (i == x->nlevels) {
		assert(i < LEVELS_MAX);
		x->level[x->nlevels++] = (struct level){
			.elements = elements,
			.bytes = dtype_bytes(x->s->problem->array.dtype, elements),
			.rest_cost = rest_cost(&x->rest, elements),
			.step_cost = rest_step_cost(x->s, elements),
			.move_cost = x->bounded ? rest_move_cost(x->s, elements) : 0};
	}
	return i;
}

/*
 * What a step may cost at most, to be of use; 0: anything. After an all-to-all the tile
 * still has to grow.
 */
static double most_of_step(const struct search *x, enum op op)
{
	double cost = x->price.cost;

	if (op == OP_ALL_TO_ALL)
		cost += x->level[x->here].rest_cost;
	return isinf(x->most_cost) ? 0 : fmax(x->most_cost - cost, DBL_MIN);
}

/*
 * The price of a step from the state being expanded to the type of a code; of one that is
 * dearer than the path may be, no more than that. States are expanded by rising cost, so
 * that holds for those that come later.
 */
static const struct price *ask(struct search *x, struct asked *asked, enum op op,
                               uint64_t code)
{
	if (!asked->known) {
		struct type before = code_type(x->from_code, x->rank);
		struct type after = code_type(code, x->rank);

		asked->price =
			hop_price_below(x->s, op, &before, &after, most_of_step(x, op));
		asked->known = true;
	}
	return &asked->price;
}

/* The same of collectives, by list of the atoms that they move. */
static struct asked *by_list(struct search *x, enum list_price kind)
{
	struct asked **asked = &x->level[x->here].by_list[kind];

	if (!*asked) {
		*asked = xmalloc((size_t)x->lists.n, sizeof(**asked));
		memset(*asked, 0, (size_t)x->lists.n * sizeof(**asked));
	}
	return *asked;
}

/* --- the lower bound of the rest --------------------------------------------------- */

/*
 * In received bytes: what the device that lacks most still has to receive; at least one
 * collective if that is anything. In a virtual state the tile must at least grow to the
 * target's.
 */
static struct price bound_of_rest(const struct search *x, uint64_t code,
                                  enum phase phase, int64_t elements)
{
	int64_t least = elements;

	if (!x->by_bytes)
		return (struct price){0};
	if (phase != PHASE_SHAPE)
		least = lack_least(&x->lack, code, elements);
	if (least >= x->target)
		return (struct price){0};
	return (struct price){
		.cost = (double)dtype_bytes(x->s->problem->array.dtype,
	                                    x->target - least),
		.collectives = 1,
	};
}

/*
 * In other prices, where a path is known: gathers add all that a flat tile has not of the
 * target's, so that all else in it comes from the target's before them.
 */
static double least_of_rest(const struct search *x, uint64_t code, enum phase phase,
                            const struct level *level)
{
	int64_t least;

	if (!x->bounded)
		return 0;
	if (phase != PHASE_FLAT || code_lists(code, x->to_code, x->natoms))
		return level->rest_cost;
	least = lack_least(&x->lack, code, level->elements);
	return fmax(level->move_cost, rest_received_cost(x->s, level->elements - least)) +
	       level->rest_cost;
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

	if (cost + x->level[level].rest_cost > x->most_cost)
		return;
	if (phase != PHASE_SHAPE && code == x->to_code)
		phase = PHASE_GATHER;
	n = states_find(&x->states, code | (uint64_t)phase << CODE_END, NULL, &fresh);
	to = &x->states.state[n];
	queued = to->heap_at >= 0;
	if (to->settled || (queued && price_plainly_more(cost, to->price.cost)))
		return;
	if (fresh)
		to->rest_cost = least_of_rest(x, code, phase, &x->level[level]);
	if (cost + to->rest_cost > x->most_cost)
		return;
	price = price_add(x->price, *step);
	if (x->phase != PHASE_SHAPE && x->held_bytes + x->level[level].bytes > live)
		live = x->held_bytes + x->level[level].bytes;
	if (queued) {
		int order = price_compare(to->price, price);

		if (order < 0 || (order == 0 && to->live_bytes <= live))
			return;
	}
	to->price = price;
	to->total = price_add(price,
	                      bound_of_rest(x, code, phase, x->level[level].elements));
	to->live_bytes = live;
	to->op = (uint8_t)op;
	to->level = (uint8_t)level;
	to->parent = x->from;
	states_queue(&x->states, n);
	if (code == x->to_code && phase == PHASE_GATHER)
		x->most_cost = fmin(x->most_cost, cost * (1 + PRICE_MARGIN));
}

/*
 * All slices from the source that leave tiles no larger than the target's: atoms that
 * are not `used` on top of dimension `dim`, at `place` and cut to `extent`, or later.
 */
static void slices(struct search *x, uint64_t code, uint32_t used, int64_t elements,
                   int dim, int place, int64_t extent)
{
	for (; dim < x->rank; dim++) {
		for (int a = 0; a < x->natoms; a++) {
			uint64_t next = code + code_of_atom(a, dim, place);
			int64_t less = elements / x->size[a];

			if ((used >> a & 1) || extent % x->size[a])
				continue;
			if (less <= x->target) {
				int level = level_of(x, less);

				reach(x, OP_SLICE, next, PHASE_FLAT,
				      ask(x, &x->level[level].slice, OP_SLICE, next),
				      level);
			}
			slices(x, next, used | UINT32_C(1) << a, less, dim, place + 1,
			       extent / x->size[a]);
		}
		place = dim + 1 < x->rank ? x->stacks.count[dim + 1] : 0;
		extent = dim + 1 < x->rank ? x->extent[dim + 1] : 1;
	}
}

/* Is an all-to-all of no use, whatever it costs? */
static bool in_vain(const struct search *x, uint64_t code)
{
	enum phase phase = code == x->to_code ? PHASE_GATHER : PHASE_FLAT;
	double cost = x->price.cost + x->level[x->here].step_cost;
	const struct state *to;
	bool settled;

	if (cost + x->level[x->here].rest_cost > x->most_cost)
		return true;
	to = states_look(&x->states, code | (uint64_t)phase << CODE_END, &settled);
	return to && (settled || cost + to->rest_cost > x->most_cost ||
	              (to->heap_at >= 0 && price_plainly_more(cost, to->price.cost)));
}

/*
 * All-to-alls of one or more pairs of dimensions, all distinct (spec 3, fused forms):
 * those chosen, on dimensions `used`, and one or more moves from number `first` on.
 */
static void all_to_alls(struct search *x, struct asked *prices, uint64_t code,
                        int first, uint32_t used, const struct chosen *chosen)
{
	for (int i = first; i < x->moves.n; i++) {
		const struct block_move *m = &x->moves.move[i];
		uint32_t dims = UINT32_C(1) << m->from | UINT32_C(1) << m->to;
		uint64_t to = code + m->add;
		bool vain, last = m->next >= x->moves.n;
		struct chosen more;

		if (used & dims)
			continue;
		vain = in_vain(x, to);
		if (vain && last)
			continue;
		chosen_add(&more, chosen, m);
		if (!vain)
			reach(x, OP_ALL_TO_ALL, to, PHASE_FLAT,
			      ask(x, prices + chosen_list(&x->lists, &x->stacks, &more),
			          OP_ALL_TO_ALL, to),
			      x->here);
		if (!last)
			all_to_alls(x, prices, to, m->next, used | dims, &more);
	}
}

/* To the virtual state of the local shape. */
static void permute(struct search *x)
{
	uint64_t shape = code_of_shape(&x->stacks, x->size_class, x->natoms);

	reach(x, OP_PERMUTE, shape, PHASE_SHAPE,
	      ask(x, &x->level[x->here].permute, OP_PERMUTE, x->from_code), x->here);
}

/* From the virtual state of a local shape to all its types. */
static void expand_shape(struct search *x)
{
	struct shape_types types;

	shape_types_list(&types, x->from_code, x->size_class, x->natoms);
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
	for (; dim < x->rank; dim++) {
		const uint8_t *end = x->stacks.atom[dim] + x->stacks.count[dim];
		int keep = x->s->to.count[dim];
		uint64_t next = code;
		int64_t more = elements;

		for (int n = 1; n <= x->stacks.count[dim] - keep; n++) {
			int atoms = lists_append(&x->lists, list, end - n, n);
			bool moves = unpack || inner;

			next -= code_of_atom(end[-n], dim, x->stacks.count[dim] - n);
			more *= x->size[end[-n]];
			reach(x, OP_ALL_GATHER, next, PHASE_GATHER,
			      ask(x,
			          by_list(x, moves ? PRICE_UNPACK : PRICE_GATHER) + atoms,
			          OP_ALL_GATHER, next),
			      level_of(x, more));
			all_gathers(x, next, dim + 1, atoms, more, moves);
		}
		inner = inner || x->extent[dim] > 1;
	}
}

/* All that is left to gather, at once. */
static void gather_rest(struct search *x)
{
	struct type before = code_type(x->from_code, x->rank);
	struct price price = hop_price(x->s, OP_ALL_GATHER, &before, &x->s->to);

	reach(x, OP_ALL_GATHER, x->to_code, PHASE_GATHER, &price,
	      level_of(x, x->target));
}

static void expand(struct search *x, int32_t state)
{
	const struct state *from = &x->states.state[state];
	int64_t elements = x->level[from->level].elements;
	const struct chosen none = {0};

	x->from = state;
	x->here = from->level;
	x->phase = (enum phase)(from->code >> CODE_END);
	x->price = from->price;
	x->live_bytes = from->live_bytes;
	x->held_bytes = x->s->from_bytes;
	if (x->phase != PHASE_START)
		x->held_bytes += x->level[x->here].bytes;
	x->from_code = from->code & ((UINT64_C(1) << CODE_END) - 1);
	if (x->phase == PHASE_SHAPE) {
		expand_shape(x);
		return;
	}
	code_stacks(&x->stacks, x->from_code, x->rank);
	stacks_extents(x->extent, &x->stacks, x->s);
	if (x->phase == PHASE_START && x->rank > 0)
		slices(x, x->from_code, type_used(&x->s->from), elements, 0,
		       x->stacks.count[0], x->extent[0]);
	if (elements > x->target)
		return;
	if (x->phase != PHASE_GATHER) {
		block_moves_list(&x->moves, &x->stacks, x->extent, x->s);
		all_to_alls(x, by_list(x, PRICE_ALL_TO_ALL), x->from_code, 0, 0, &none);
		permute(x);
	}
	/* All-gathers alone lead to the target only from types that list it. */
	if (!code_lists(x->from_code, x->to_code, x->natoms))
		return;
	/* Received bytes of all-gathers in a row are those of the fused one. */
	if (x->by_bytes)
		gather_rest(x);
	else
		all_gathers(x, x->from_code, 0, 0, elements, false);
}

static void path_of_state(struct path *out, const struct search *x, int32_t last)
{
	const struct state *state = x->states.state;
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
		struct type after =
			code_type(code & ((UINT64_C(1) << CODE_END) - 1), x->rank);

		path_add(out, (enum op)state[chain[n]].op, &after);
	}
}

static void search_init(struct search *x, struct synth *s, const struct price *most)
{
	const struct atoms *atoms = &s->atoms;

	assert(atoms->n <= CODE_ATOMS_MAX);
	*x = (struct search){.s = s,
	                     .by_bytes = s->prices->step == prices_bytes.step,
	                     .most_cost =
	                             most ? most->cost * (1 + PRICE_MARGIN) : INFINITY,
	                     .rank = s->from.rank,
	                     .natoms = atoms->n,
	                     .to_code = code_of_type(&s->to),
	                     .target = synth_elements(s, &s->to)};
	x->bounded = most && !x->by_bytes;
	for (int a = atoms->n - 1; a >= 0; a--) {
		x->size[a] = atoms->atom[a].size;
		for (int b = atoms->n - 1; b >= 0; b--)
			if (atoms->atom[b].size == atoms->atom[a].size)
				x->size_class[a] = (uint8_t)b;
	}
	lists_make(&x->lists, atoms->n);
	if (x->by_bytes || x->bounded)
		lack_init(&x->lack, s);
	if (x->bounded)
		rest_init(&x->rest, s);
	states_init(&x->states);
}

static void search_free(struct search *x)
{
	states_free(&x->states);
	for (int i = 0; i < x->nlevels; i++)
		for (int kind = 0; kind < LIST_PRICES; kind++)
			free(x->level[i].by_list[kind]);
	lack_free(&x->lack);
}

bool synth_exact(struct path *out, struct synth *s, const struct price *most)
{
	struct search x;
	uint64_t end;
	bool fresh;
	int32_t state;

	assert(!type_equal(&s->from, &s->to));
	search_init(&x, s, most);
	end = x.to_code | (uint64_t)PHASE_GATHER << CODE_END;
	state = states_find(&x.states, code_of_type(&s->from), NULL, &fresh);
	x.states.state[state].level = (uint8_t)level_of(&x, synth_elements(s, &s->from));
	states_queue(&x.states, state);
	while ((state = states_next(&x.states)) >= 0) {
		if (x.states.state[state].code == end)
			break;
		expand(&x, state);
	}
	if (state >= 0)
		path_of_state(out, &x, state);
	search_free(&x);
	return state >= 0;
}
