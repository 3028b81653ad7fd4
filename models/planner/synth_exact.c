#include "planner/synth_exact.h"

#include "planner/synth_states.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LACK_DEVICES_MAX = 512 };

struct search {
	struct synth *s;
	struct states states;
	bool by_bytes;
	int32_t from;     /* the state being expanded */
	struct type type; /* and a copy of its type: states move when they grow */
	int64_t bytes;    /* its tile */
	int64_t target;   /* elements of the target tile */
	uint8_t size_class[ATOMS_MAX]; /* of an atom: the first atom of its size */
	int32_t ndevices;              /* 0: the bound by devices is not used */
	int32_t *digit;                /* [ndevices * atoms] */
	int32_t *wanted; /* [ndevices * rank] tile numbers in the target */
};

/* --- the lower bound of the rest, in received bytes ------------------------------- */

static int32_t tile_number(const struct search *x, const uint8_t *stack, int n,
                           int32_t d)
{
	const struct atoms *atoms = &x->s->atoms;
	int32_t number = 0;

	for (int k = 0; k < n; k++)
		number = number * atoms->atom[stack[k]].size +
		         x->digit[d * atoms->n + stack[k]];
	return number;
}

static void lack_init(struct search *x)
{
	const struct atoms *atoms = &x->s->atoms;
	const struct type *to = &x->s->to;
	int32_t n = x->s->problem->mesh.ndevices;

	if (!x->by_bytes || n > LACK_DEVICES_MAX)
		return;
	x->ndevices = n;
	x->digit = xmalloc((size_t)n * (size_t)(atoms->n + 1), sizeof(*x->digit));
	x->wanted = xmalloc((size_t)n * (size_t)(to->rank + 1), sizeof(*x->wanted));
	for (int32_t d = 0; d < n; d++) {
		for (int a = 0; a < atoms->n; a++)
			x->digit[d * atoms->n + a] =
				d / atoms->atom[a].stride % atoms->atom[a].size;
		for (int dim = 0; dim < to->rank; dim++)
			x->wanted[d * to->rank + dim] =
				tile_number(x, type_stack(to, dim), to->count[dim], d);
	}
}

/* Elements of the target's tile that device d holds in a type. */
static int64_t held(const struct search *x, const struct type *t, const int64_t *have,
                    const int64_t *want, int32_t d)
{
	int64_t elements = 1;
	const uint8_t *stack = t->atom;

	for (int dim = 0; dim < t->rank && elements > 0; dim++) {
		int64_t lo = have[dim] * tile_number(x, stack, t->count[dim], d);
		int64_t low = want[dim] * x->wanted[d * t->rank + dim];
		int64_t hi = lo + have[dim], high = low + want[dim];

		lo = lo > low ? lo : low;
		hi = hi < high ? hi : high;
		elements *= hi > lo ? hi - lo : 0;
		stack += t->count[dim];
	}
	return elements;
}

/*
 * What the device that lacks most still has to receive; at least one collective if that
 * is anything. Where devices are too many to look at, and in a virtual state, the tile
 * must at least grow to the target's.
 */
static struct price bound_of_rest(const struct search *x, const struct type *t,
                                  enum phase phase, int64_t elements)
{
	int64_t least = elements;
	int64_t have[TYPE_RANK_MAX], want[TYPE_RANK_MAX];

	if (!x->by_bytes)
		return (struct price){0};
	if (phase != PHASE_SHAPE && x->ndevices > 0) {
		for (int dim = 0; dim < t->rank; dim++) {
			have[dim] = synth_extent(x->s, t, dim);
			want[dim] = synth_extent(x->s, &x->s->to, dim);
		}
		for (int32_t d = 0; d < x->ndevices && least > 0; d++) {
			int64_t h = held(x, t, have, want, d);

			least = h < least ? h : least;
		}
	}
	if (least >= x->target)
		return (struct price){0};
	return (struct price){
		.cost = (double)dtype_bytes(x->s->problem->array.dtype,
	                                    x->target - least),
		.collectives = 1,
	};
}

/* --- steps ------------------------------------------------------------------------ */

/* A step of price `step` leads to `type`, whose tile has `elements`. */
static void reach(struct search *x, enum op op, const struct type *type,
                  enum phase phase, struct price step, int64_t elements)
{
	const struct state *from = &x->states.state[x->from];
	struct price price = price_add(from->price, step);
	int64_t live = from->live_bytes, here = x->s->from_bytes;
	struct state *to;
	bool fresh;
	int32_t n;

	here += from->phase == PHASE_START ? 0 : x->bytes;
	here += dtype_bytes(x->s->problem->array.dtype, elements);
	if (from->phase != PHASE_SHAPE && here > live)
		live = here;
	if (phase != PHASE_SHAPE && type_equal(type, &x->s->to))
		phase = PHASE_GATHER;
	n = states_find(&x->states, type, phase, &fresh);
	to = &x->states.state[n];
	if (!fresh) {
		int order = to->settled ? -1 : price_compare(to->price, price);

		if (order < 0 || (order == 0 && to->live_bytes <= live))
			return;
	}
	to->price = price;
	to->total = price_add(price, bound_of_rest(x, type, phase, elements));
	to->live_bytes = live;
	to->op = (uint8_t)op;
	to->parent = x->from;
	states_queue(&x->states, n);
}

static void reach_by(struct search *x, enum op op, const struct type *type,
                     enum phase phase)
{
	reach(x, op, type, phase, hop_price(x->s, op, &x->type, type),
	      synth_elements(x->s, type));
}

/* All slices from the source that leave tiles no larger than the target's. */
static void slices(struct search *x, const struct type *t, int first_dim)
{
	const struct atoms *atoms = &x->s->atoms;
	uint32_t used = type_used(t);

	for (int dim = first_dim; dim < t->rank; dim++) {
		int64_t extent = synth_extent(x->s, t, dim);

		for (int a = 0; a < atoms->n; a++) {
			uint8_t atom = (uint8_t)a;
			struct type next = *t;

			if ((used >> a & 1) || extent % atoms->atom[a].size)
				continue;
			type_push(&next, dim, &atom, 1);
			if (synth_elements(x->s, &next) <= x->target)
				reach_by(x, OP_SLICE, &next, PHASE_FLAT);
			slices(x, &next, dim);
		}
	}
}

/*
 * All-to-alls of one or more pairs of dimensions, all distinct (spec 3, fused forms).
 */
static void all_to_alls(struct search *x, const struct type *t, int first_dim,
                        uint32_t used)
{
	const struct atoms *atoms = &x->s->atoms;

	for (int from = first_dim; from < t->rank; from++) {
		const uint8_t *stack = type_stack(t, from);
		int count = used >> from & 1 ? 0 : t->count[from];
		int32_t factor = 1;

		for (int n = 1; n <= count; n++) {
			factor *= atoms->atom[stack[count - n]].size;
			for (int to = 0; to < t->rank; to++) {
				struct type next = *t;

				if (to == from || (used >> to & 1) ||
				    synth_extent(x->s, t, to) % factor)
					continue;
				type_shift(&next, from, to, n);
				reach_by(x, OP_ALL_TO_ALL, &next, PHASE_FLAT);
				all_to_alls(x, &next, from + 1,
				            used | UINT32_C(1) << from |
				                    UINT32_C(1) << to);
			}
		}
	}
}

/* The virtual state of a local shape: size classes in falling order per dimension. */
static struct type shape_of(const struct search *x, const struct type *t)
{
	struct type shape = *t;
	uint8_t *stack = shape.atom;

	for (int dim = 0; dim < t->rank; dim++) {
		for (int k = 0; k < t->count[dim]; k++) {
			uint8_t c = (uint8_t)x->size_class[stack[k]];
			int j = k;

			for (; j > 0 && stack[j - 1] < c; j--)
				stack[j] = stack[j - 1];
			stack[j] = c;
		}
		stack += t->count[dim];
	}
	return shape;
}

static void permute(struct search *x)
{
	struct type shape = shape_of(x, &x->type);

	reach(x, OP_PERMUTE, &shape, PHASE_SHAPE,
	      hop_price(x->s, OP_PERMUTE, &x->type, &x->type),
	      synth_elements(x->s, &x->type));
}

/* All types of the virtual state's shape: `t` has atoms in its first `at` places. */
static void types_of_shape(struct search *x, struct type *t, int at, int end,
                           int64_t elements)
{
	uint32_t used = 0;
	int dim = 0, first = 0;

	if (at == end) {
		reach(x, OP_PERMUTE, t, PHASE_FLAT, (struct price){0}, elements);
		return;
	}
	for (int k = 0; k < at; k++)
		used |= UINT32_C(1) << t->atom[k];
	while (first + t->count[dim] <= at)
		first += t->count[dim++];
	for (int a = 0; a < x->s->atoms.n; a++) {
		int wanted = 0;

		/* As many atoms of this size as the shape has in this dimension. */
		for (int k = first; k < first + t->count[dim]; k++)
			wanted += x->type.atom[k] == x->size_class[a];
		for (int k = first; k < at; k++)
			wanted -= x->size_class[t->atom[k]] == x->size_class[a];
		if ((used >> a & 1) || wanted <= 0)
			continue;
		t->atom[at] = (uint8_t)a;
		types_of_shape(x, t, at + 1, end, elements);
	}
}

/* True if all-gathers alone lead from a type to the target. */
static bool holds_target(const struct type *t, const struct type *to)
{
	const uint8_t *a = t->atom, *b = to->atom;

	for (int dim = 0; dim < t->rank; dim++) {
		if (t->count[dim] < to->count[dim] || memcmp(a, b, to->count[dim]) != 0)
			return false;
		a += t->count[dim];
		b += to->count[dim];
	}
	return true;
}

/* All-gathers over any top blocks of one or more dimensions, none below the target. */
static void all_gathers(struct search *x, const struct type *t, int first_dim)
{
	for (int dim = first_dim; dim < t->rank; dim++) {
		for (int n = 1; n <= t->count[dim] - x->s->to.count[dim]; n++) {
			struct type next = *t;

			type_pop(&next, dim, NULL, n);
			reach_by(x, OP_ALL_GATHER, &next, PHASE_GATHER);
			all_gathers(x, &next, dim + 1);
		}
	}
}

static void expand(struct search *x, int32_t state)
{
	enum phase phase = x->states.state[state].phase;
	int64_t elements;

	x->from = state;
	x->type = x->states.state[state].type;
	elements = synth_elements(x->s, &x->type);
	x->bytes = synth_bytes(x->s, &x->type);
	if (phase == PHASE_SHAPE) {
		struct type t = x->type;

		types_of_shape(x, &t, 0, type_first(&t, t.rank), elements);
		return;
	}
	if (phase == PHASE_START)
		slices(x, &x->type, 0);
	if (elements > x->target)
		return;
	if (phase != PHASE_GATHER) {
		all_to_alls(x, &x->type, 0, 0);
		permute(x);
	}
	if (!holds_target(&x->type, &x->s->to))
		return;
	/* Received bytes of all-gathers in a row are those of the fused one. */
	if (x->by_bytes)
		reach_by(x, OP_ALL_GATHER, &x->s->to, PHASE_GATHER);
	else
		all_gathers(x, &x->type, 0);
}

static void path_of_state(struct path *out, const struct states *x, int32_t last)
{
	int32_t chain[HOPS_MAX];
	int n = 0;

	for (int32_t i = last; x->state[i].parent >= 0; i = x->state[i].parent) {
		if (x->state[i].phase == PHASE_SHAPE)
			continue;
		assert(n < HOPS_MAX);
		chain[n++] = i;
	}
	out->n = 0;
	while (n-- > 0)
		path_add(out, x->state[chain[n]].op, &x->state[chain[n]].type);
}

bool synth_exact(struct path *out, struct synth *s)
{
	struct search x = {.s = s,
	                   .by_bytes = s->prices->step == prices_bytes.step,
	                   .target = synth_elements(s, &s->to)};
	const struct atoms *atoms = &s->atoms;
	bool fresh;
	int32_t state;

	assert(!type_equal(&s->from, &s->to));
	for (int a = atoms->n - 1; a >= 0; a--)
		for (int b = 0; b < atoms->n; b++)
			if (atoms->atom[b].size == atoms->atom[a].size) {
				x.size_class[a] = (uint8_t)b;
				break;
			}
	lack_init(&x);
	states_init(&x.states);
	states_queue(&x.states, states_find(&x.states, &s->from, PHASE_START, &fresh));
	while ((state = states_next(&x.states)) >= 0) {
		if (x.states.state[state].phase == PHASE_GATHER &&
		    type_equal(&x.states.state[state].type, &s->to))
			break;
		expand(&x, state);
	}
	if (state >= 0)
		path_of_state(out, &x.states, state);
	states_free(&x.states);
	free(x.digit);
	free(x.wanted);
	return state >= 0;
}
