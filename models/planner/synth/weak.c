#include "planner/synth/weak.h"

#include "base/assert.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static int symbol_class(const struct weak *weak, uint8_t symbol)
{
	return symbol < SYMBOL_JUNK ? weak->size_class[symbol] : symbol % SYMBOL_JUNK;
}

static int64_t extent(const struct weak *weak, const struct type *t, int dim)
{
	int64_t left = weak->s->problem->padded.dim[dim];
	const uint8_t *stack = type_stack(t, dim);

	for (int k = 0; k < t->count[dim]; k++)
		left /= weak->size[stack[k]];
	return left;
}

static int64_t elements_of(const struct weak *weak, const struct type *t)
{
	int64_t elements = 1;

	for (int dim = 0; dim < t->rank; dim++)
		elements *= extent(weak, t, dim);
	return elements;
}

/* Returns whether this symbol may end where the target has this atom. */
static bool symbol_fits(const struct weak *weak, uint8_t symbol, uint8_t atom)
{
	if (weak->in_from >> atom & 1)
		return symbol == atom;
	return symbol == SYMBOL_FRESH + weak->size_class[atom];
}

/* --- candidates ------------------------------------------------------------------- */

static int atoms_listed(const struct type *t)
{
	return type_first(t, t->rank);
}

/* Returns the whole plan's price when the flat part up to pattern `t` costs `flat`. */
static struct price whole_price(const struct weak *weak, const struct type *t,
                                struct price flat, int64_t elements)
{
	bool first = atoms_listed(t) > atoms_listed(&weak->from),
	     last = atoms_listed(t) > atoms_listed(&weak->to);

	flat.cost += (double)(weak->target - elements);
	flat.collectives += weak->backwards ? first : last;
	flat.locals += weak->backwards ? last : first;
	return flat;
}

/*
 * Returns the elements of source + operand (if another) + result in the largest step.
 */
static int64_t live_elements(const struct weak *weak, struct price price,
                             int64_t elements)
{
	int gathers = elements < weak->target;
	int before = price.locals + price.collectives - gathers;
	int64_t live = weak->source + (before > 0 ? elements : 0);
	int64_t with_two = weak->source + 2 * elements;
	int64_t with_gather = live + weak->target;

	if (before > 1 && with_two > live)
		live = with_two;
	return gathers && with_gather > live ? with_gather : live;
}

static int compare_candidates(const struct weak_candidate *a,
                              const struct weak_candidate *b)
{
	int order = price_compare(a->price, b->price);

	return order != 0 ? order : (a->live > b->live) - (a->live < b->live);
}

/* Keeps the best candidate of each ending and tile size. */
static void add_candidate(struct weak *weak, const struct weak_candidate *c)
{
	int at = 0, worst = 0;

	for (; at < weak->ncandidates; at++) {
		if (weak->candidate[at].end == c->end &&
		    weak->candidate[at].elements == c->elements)
			break;
		if (compare_candidates(&weak->candidate[at], &weak->candidate[worst]) > 0)
			worst = at;
	}
	if (at == WEAK_CANDIDATES_MAX)
		at = worst;
	if (at == weak->ncandidates)
		weak->ncandidates++;
	else if (compare_candidates(c, &weak->candidate[at]) >= 0)
		return;
	weak->candidate[at] = *c;
	if (weak->best < 0 || compare_candidates(c, &weak->candidate[weak->best]) < 0)
		weak->best = at;
}

static bool too_dear(const struct weak *weak, struct price whole)
{
	return weak->best >= 0 &&
	       price_compare(whole, weak->candidate[weak->best].price) >= 0;
}

/* --- what a pattern still needs --------------------------------------------------- */

struct needs {
	bool mismatch;     /* whether some atom lies where the target wants another */
	int64_t misplaced; /* product of the sizes of the atoms from there upwards */
	int64_t missing;   /* product of the sizes that dimensions have too few of */
	int nshort;        /* dimensions that match, but hold too few atoms, */
	uint8_t shorts[TYPE_RANK_MAX];
};

/*
 * Returns the product of the sizes that dimension `dim` of the target has more of than
 * `t`.
 */
static int64_t missing_in(const struct weak *weak, const struct type *t, int dim)
{
	const uint8_t *have = type_stack(t, dim), *want = type_stack(&weak->to, dim);
	int64_t missing = 1;
	uint32_t taken = 0;

	for (int k = 0; k < weak->to.count[dim]; k++) {
		int j = 0;

		while (j < t->count[dim] &&
		       ((taken >> j & 1) ||
		        symbol_class(weak, have[j]) != weak->size_class[want[k]]))
			j++;
		if (j == t->count[dim])
			missing *= weak->size[want[k]];
		else
			taken |= UINT32_C(1) << j;
	}
	return missing;
}

static struct needs needs_of(const struct weak *weak, const struct type *t)
{
	struct needs needs = {.misplaced = 1, .missing = 1};
	const uint8_t *have = t->atom, *want = weak->to.atom;

	for (int dim = 0; dim < t->rank; dim++) {
		int n = t->count[dim], m = weak->to.count[dim], k = 0;

		while (k < n && k < m && symbol_fits(weak, have[k], want[k]))
			k++;
		if (k == n && k < m)
			needs.shorts[needs.nshort++] = (uint8_t)dim;
		if (k < m && k < n)
			needs.mismatch = true;
		for (; k < m && k < n; n--)
			needs.misplaced *= weak->size[have[n - 1]];
		needs.missing *= missing_in(weak, t, dim);
		have += t->count[dim];
		want += m;
	}
	return needs;
}

/* --- the last all-to-all ---------------------------------------------------------- */

struct last {
	const struct weak *weak;
	const struct type *t;
	const struct needs *needs;
	struct weak_moves moves, best;
	int64_t best_factor; /* 0: none */
};

/*
 * Returns the length of the smallest top block of `from` that completes `to`, or 0 if
 * none does.
 */
static int completing_block(const struct last *last, int from, int to, int64_t *factor)
{
	const struct weak *weak = last->weak;
	int wanted = weak->to.count[to] - last->t->count[to];
	int spare = last->t->count[from] - weak->to.count[from];
	const uint8_t *end = type_stack(last->t, from) + last->t->count[from];
	const uint8_t *want = type_stack(&weak->to, to) + last->t->count[to];

	for (int n = wanted; n <= spare; n++) {
		int k = 0;

		while (k < wanted && symbol_fits(weak, end[k - n], want[k]))
			k++;
		if (k < wanted)
			continue;
		*factor = 1;
		for (k = 0; k < n; k++)
			*factor *= weak->size[end[k - n]];
		if (extent(weak, last->t, to) % *factor == 0)
			return n;
	}
	return 0;
}

/* Gives each dimension that is short a block from another, all dimensions distinct. */
static void complete(struct last *last, uint32_t used, int64_t factor)
{
	int to;

	if (last->best_factor && factor >= last->best_factor)
		return;
	if (last->moves.n == last->needs->nshort) {
		last->best = last->moves;
		last->best_factor = factor;
		return;
	}
	to = last->needs->shorts[last->moves.n];
	for (int from = 0; from < last->t->rank; from++) {
		int64_t more;
		int n = used >> from & 1 ? 0 : completing_block(last, from, to, &more);

		if (n == 0)
			continue;
		last->moves.move[last->moves.n++] =
			(struct weak_move){(uint8_t)from, (uint8_t)to, (uint8_t)n};
		complete(last, used | UINT32_C(1) << from, factor * more);
		last->moves.n--;
	}
}

/* Adds the candidates that end the flat part in or after a state. */
static void finish_pattern(struct weak *weak, int32_t state, const struct needs *needs)
{
	const struct state *s = &weak->states.state.at[state];
	const struct type *t = &weak->states.type.at[state];
	struct weak_candidate c = {.state = state, .elements = elements_of(weak, t)};
	struct last last = {.weak = weak, .t = t, .needs = needs};
	struct price flat = s->price;
	int64_t moved;

	if (needs->missing == 1) {
		c.end = WEAK_END_PERMUTE;
		if (!needs->mismatch)
			c.end = WEAK_END_THERE;
		else
			flat = price_add(flat, (struct price){.cost = (double)c.elements,
			                                      .collectives = 1});
	} else {
		if (needs->mismatch || 2 * needs->nshort > t->rank)
			return;
		complete(&last, 0, 1);
		if (!last.best_factor)
			return;
		c.end = WEAK_END_ALL_TO_ALL;
		c.last = last.best;
		moved = c.elements - c.elements / last.best_factor;
		flat = price_add(
			flat, (struct price){.cost = (double)moved, .collectives = 1});
	}
	c.price = whole_price(weak, t, flat, c.elements);
	c.live = live_elements(weak, c.price, c.elements);
	add_candidate(weak, &c);
}

/*
 * Returns the least that any plan through a state costs that finish_pattern() did not
 * offer: two more all-to-alls, the smallest block in one and all else in the other, or
 * one all-to-all and a permute, which is never cheaper.
 */
static struct price least_whole_price(const struct weak *weak, int32_t state,
                                      const struct needs *needs)
{
	const struct type *t = &weak->states.type.at[state];
	double m = (double)elements_of(weak, t), p = weak->smallest;
	double q = (double)(needs->misplaced > needs->missing ? needs->misplaced
	                                                      : needs->missing);
	double rest = q > p * p ? q / p : p;
	struct price more = {.cost = m - m / p + m - m / rest, .collectives = 2};

	return whole_price(weak, t, price_add(weak->states.state.at[state].price, more),
	                   (int64_t)m);
}

/* --- states ----------------------------------------------------------------------- */

static void reach_pattern(struct weak *weak, int32_t from, const struct type *t,
                          struct price price, const struct weak_moves *moves)
{
	struct state *s;
	struct needs needs;
	bool fresh;
	uint64_t code = hash_bytes(HASH_START, t, sizeof(*t));
	int32_t n = states_find(&weak->states, code, t, &fresh);

	s = &weak->states.state.at[n];
	if (!fresh && price_compare(s->price, price) <= 0)
		return;
	if (fresh)
		list_add(&weak->moves, NULL);
	weak->moves.at[n] = *moves;
	s->price = price;
	s->parent = from;
	needs = needs_of(weak, t);
	finish_pattern(weak, n, &needs);
	s->total = least_whole_price(weak, n, &needs);
	if (needs.missing > 1 && !too_dear(weak, s->total))
		states_queue(&weak->states, n);
}

struct expansion {
	struct weak *weak;
	int32_t from;
	struct type type;
	int64_t elements;
	struct price price;
	struct weak_moves moves;
};

/* Makes all all-to-alls from a state that can still lead to something cheaper. */
static void weak_all_to_alls(struct expansion *expansion, const struct type *t,
                             int first_dim, uint32_t used, int64_t done)
{
	struct weak *weak = expansion->weak;
	int64_t m = expansion->elements;

	for (int from = first_dim;
	     from < t->rank && expansion->moves.n < WEAK_PAIRS_MAX; from++) {
		const uint8_t *end = type_stack(t, from) + t->count[from];
		int count = used >> from & 1 ? 0 : t->count[from];
		int64_t q = 1;

		for (int n = 1; n <= count; n++) {
			int64_t more, least = m - m / weak->smallest;
			int64_t all = done * (q *= weak->size[end[-n]]);
			struct price price = expansion->price, rest;

			more = m - m / all;
			price.cost += (double)more;
			price.collectives++;
			rest = price;
			rest.cost += (double)least;
			rest.collectives++;
			if (too_dear(weak, whole_price(weak, t, rest, m)))
				break;
			for (int to = 0; to < t->rank; to++) {
				struct type next = *t;

				if (to == from || (used >> to & 1) ||
				    extent(weak, t, to) % q)
					continue;
				type_shift(&next, from, to, n);
				expansion->moves.move[expansion->moves.n++] =
					(struct weak_move){(uint8_t)from, (uint8_t)to,
				                           (uint8_t)n};
				reach_pattern(weak, expansion->from, &next, price,
				              &expansion->moves);
				weak_all_to_alls(expansion, &next, from + 1,
				                 used | UINT32_C(1) << from |
				                         UINT32_C(1) << to,
				                 all);
				expansion->moves.n--;
			}
		}
	}
}

/* --- starts: the source with unnamed atoms sliced on top -------------------------- */

struct starts {
	struct weak *weak;
	int free[ATOMS_MAX]; /* atoms of each size that the source does not use */
};

/* Returns whether there are enough atoms of every size for the target. */
static bool enough(const struct weak *weak, const struct type *t)
{
	int count[ATOMS_MAX] = {0};

	for (int k = atoms_listed(&weak->to) - 1; k >= 0; k--)
		count[weak->size_class[weak->to.atom[k]]]--;
	for (int k = atoms_listed(t) - 1; k >= 0; k--)
		count[symbol_class(weak, t->atom[k])]++;
	for (int a = 0; a < weak->s->atoms.n; a++)
		if (count[a] < 0)
			return false;
	return true;
}

/*
 * Slices dimensions from `dim` on. A slice that leaves what the target's dimension is
 * missing as it was is an over-slice; exactly `over` of these are made.
 */
static void add_starts(struct starts *starts, const struct type *t, int dim, int over)
{
	struct weak *weak = starts->weak;

	if (over == 0 && enough(weak, t) && weak->nstarts < WEAK_STARTS_MAX) {
		struct price price = {0};
		struct weak_moves none = {0};

		weak->nstarts++;
		reach_pattern(weak, -1, t, price, &none);
	}
	for (; dim < t->rank && weak->nstarts < WEAK_STARTS_MAX; dim++) {
		int64_t left = extent(weak, t, dim), missing = missing_in(weak, t, dim);

		for (int c = 0; c < weak->s->atoms.n; c++) {
			uint8_t symbol = (uint8_t)(SYMBOL_FRESH + c);
			struct type next = *t;
			int more;

			if (starts->free[c] == 0 || left % weak->size[c])
				continue;
			type_push(&next, dim, &symbol, 1);
			more = missing_in(weak, &next, dim) == missing;
			if (more > over)
				continue;
			starts->free[c]--;
			add_starts(starts, &next, dim, over - more);
			starts->free[c]++;
		}
	}
}

static void all_starts(struct weak *weak)
{
	const struct atoms *atoms = &weak->s->atoms;
	struct starts starts = {.weak = weak};
	struct type t = weak->from;
	int most = 0;

	for (int k = atoms_listed(&t) - 1; k >= 0; k--)
		if (!(weak->in_to >> t.atom[k] & 1))
			t.atom[k] = (uint8_t)(SYMBOL_JUNK + weak->size_class[t.atom[k]]);
	for (int a = 0; a < atoms->n; a++) {
		starts.free[weak->size_class[a]] += !(weak->in_from >> a & 1);
		most += !(weak->in_from >> a & 1);
	}
	for (int over = 0; over <= most; over++)
		add_starts(&starts, &t, 0, over);
	weak->cut_short = weak->nstarts == WEAK_STARTS_MAX;
}

static void set_sizes(struct weak *weak)
{
	const struct atoms *atoms = &weak->s->atoms;

	weak->smallest = atoms->atom[0].size;
	for (int a = 0; a < atoms->n; a++) {
		int c = 0;

		while (atoms->atom[c].size != atoms->atom[a].size)
			c++;
		weak->size_class[a] = (uint8_t)c;
		weak->size[a] = weak->size[SYMBOL_JUNK + a] =
			weak->size[SYMBOL_FRESH + a] = atoms->atom[a].size;
		if (atoms->atom[a].size < weak->smallest)
			weak->smallest = atoms->atom[a].size;
	}
}

void weak_search(struct weak *weak, struct synth *s, bool backwards)
{
	int32_t state;

	*weak = (struct weak){.s = s, .backwards = backwards, .best = -1};
	weak->from = backwards ? s->to : s->from;
	weak->to = backwards ? s->from : s->to;
	weak->in_from = type_used(&weak->from);
	weak->in_to = type_used(&weak->to);
	weak->source = synth_elements(s, &s->from);
	weak->target = synth_elements(s, &s->to);
	set_sizes(weak);
	states_init(&weak->states, true);
	all_starts(weak);
	while ((state = states_next(&weak->states)) >= 0) {
		const struct state *from = &weak->states.state.at[state];
		struct expansion expansion = {.weak = weak,
		                              .from = state,
		                              .type = weak->states.type.at[state]};

		if (too_dear(weak, from->total))
			break;
		weak->cut_short =
			weak->cut_short || weak->states.state.n >= WEAK_STATES_MAX;
		if (weak->states.state.n >= WEAK_STATES_MAX)
			break;
		expansion.price = from->price;
		expansion.elements = elements_of(weak, &expansion.type);
		weak_all_to_alls(&expansion, &expansion.type, 0, 0, 1);
	}
}

void weak_free(struct weak *weak)
{
	states_free(&weak->states);
	xfree(weak->moves.at);
}
