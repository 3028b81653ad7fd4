#include "planner/synth/weak.h"

#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int symbol_class(const struct weak *w, uint8_t symbol)
{
	return symbol < SYMBOL_JUNK ? w->size_class[symbol] : symbol % SYMBOL_JUNK;
}

static int64_t extent(const struct weak *w, const struct type *t, int dim)
{
	int64_t left = w->s->problem->padded.dim[dim];
	const uint8_t *stack = type_stack(t, dim);

	for (int k = 0; k < t->count[dim]; k++)
		left /= w->size[stack[k]];
	return left;
}

static int64_t elements_of(const struct weak *w, const struct type *t)
{
	int64_t elements = 1;

	for (int dim = 0; dim < t->rank; dim++)
		elements *= extent(w, t, dim);
	return elements;
}

/* May this symbol end where the target has this atom? */
static bool fits(const struct weak *w, uint8_t symbol, uint8_t atom)
{
	if (w->in_from >> atom & 1)
		return symbol == atom;
	return symbol == SYMBOL_FRESH + w->size_class[atom];
}

/* --- candidates ------------------------------------------------------------------- */

static int listed(const struct type *t)
{
	return type_first(t, t->rank);
}

/* The whole plan's price when the flat part up to pattern `t` costs `flat`. */
static struct price whole_price(const struct weak *w, const struct type *t,
                                struct price flat, int64_t elements)
{
	bool first = listed(t) > listed(&w->from), last = listed(t) > listed(&w->to);

	flat.cost += (double)(w->target - elements);
	flat.collectives += w->backwards ? first : last;
	flat.locals += w->backwards ? last : first;
	return flat;
}

/* Elements of source + operand (if another) + result in the largest step. */
static int64_t live_elements(const struct weak *w, struct price price, int64_t elements)
{
	int gathers = elements < w->target;
	int before = price.locals + price.collectives - gathers;
	int64_t live = w->source + (before > 0 ? elements : 0);
	int64_t with_two = w->source + 2 * elements;
	int64_t with_gather = live + w->target;

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

/* Keep the best candidate of each ending and tile size. */
static void add_candidate(struct weak *w, const struct weak_candidate *c)
{
	int at = 0, worst = 0;

	for (; at < w->ncandidates; at++) {
		if (w->candidate[at].end == c->end &&
		    w->candidate[at].elements == c->elements)
			break;
		if (compare_candidates(&w->candidate[at], &w->candidate[worst]) > 0)
			worst = at;
	}
	if (at == WEAK_CANDIDATES_MAX)
		at = worst;
	if (at == w->ncandidates)
		w->ncandidates++;
	else if (compare_candidates(c, &w->candidate[at]) >= 0)
		return;
	w->candidate[at] = *c;
	if (w->best < 0 || compare_candidates(c, &w->candidate[w->best]) < 0)
		w->best = at;
}

static bool too_dear(const struct weak *w, struct price whole)
{
	return w->best >= 0 && price_compare(whole, w->candidate[w->best].price) >= 0;
}

/* --- what a pattern still needs --------------------------------------------------- */

struct needs {
	bool mismatch;     /* some atom lies where the target wants another */
	int64_t misplaced; /* product of the sizes of the atoms from there upwards */
	int64_t missing;   /* product of the sizes that dimensions have too few of */
	int nshort;        /* dimensions that match, but hold too few atoms, */
	uint8_t shorts[TYPE_RANK_MAX];
};

/* Product of the sizes that dimension `dim` of the target has more of than `t`. */
static int64_t missing_in(const struct weak *w, const struct type *t, int dim)
{
	const uint8_t *have = type_stack(t, dim), *want = type_stack(&w->to, dim);
	int64_t missing = 1;
	uint32_t taken = 0;

	for (int k = 0; k < w->to.count[dim]; k++) {
		int j = 0;

		while (j < t->count[dim] &&
		       ((taken >> j & 1) ||
		        symbol_class(w, have[j]) != w->size_class[want[k]]))
			j++;
		if (j == t->count[dim])
			missing *= w->size[want[k]];
		else
			taken |= UINT32_C(1) << j;
	}
	return missing;
}

static struct needs needs_of(const struct weak *w, const struct type *t)
{
	struct needs needs = {.misplaced = 1, .missing = 1};
	const uint8_t *have = t->atom, *want = w->to.atom;

	for (int dim = 0; dim < t->rank; dim++) {
		int n = t->count[dim], m = w->to.count[dim], k = 0;

		while (k < n && k < m && fits(w, have[k], want[k]))
			k++;
		if (k == n && k < m)
			needs.shorts[needs.nshort++] = (uint8_t)dim;
		if (k < m && k < n)
			needs.mismatch = true;
		for (; k < m && k < n; n--)
			needs.misplaced *= w->size[have[n - 1]];
		needs.missing *= missing_in(w, t, dim);
		have += t->count[dim];
		want += m;
	}
	return needs;
}

/* --- the last all-to-all ---------------------------------------------------------- */

struct last {
	const struct weak *w;
	const struct type *t;
	const struct needs *needs;
	struct weak_moves moves, best;
	int64_t best_factor; /* 0: none */
};

/* The smallest top block of `from` that completes `to`: its length, 0 if none does. */
static int completing_block(const struct last *x, int from, int to, int64_t *factor)
{
	const struct weak *w = x->w;
	int wanted = w->to.count[to] - x->t->count[to];
	int spare = x->t->count[from] - w->to.count[from];
	const uint8_t *end = type_stack(x->t, from) + x->t->count[from];
	const uint8_t *want = type_stack(&w->to, to) + x->t->count[to];

	for (int n = wanted; n <= spare; n++) {
		int k = 0;

		while (k < wanted && fits(w, end[k - n], want[k]))
			k++;
		if (k < wanted)
			continue;
		*factor = 1;
		for (k = 0; k < n; k++)
			*factor *= w->size[end[k - n]];
		if (extent(w, x->t, to) % *factor == 0)
			return n;
	}
	return 0;
}

/* Give each dimension that is short a block from another, all dimensions distinct. */
static void complete(struct last *x, uint32_t used, int64_t factor)
{
	int to;

	if (x->best_factor && factor >= x->best_factor)
		return;
	if (x->moves.n == x->needs->nshort) {
		x->best = x->moves;
		x->best_factor = factor;
		return;
	}
	to = x->needs->shorts[x->moves.n];
	for (int from = 0; from < x->t->rank; from++) {
		int64_t more;
		int n = used >> from & 1 ? 0 : completing_block(x, from, to, &more);

		if (n == 0)
			continue;
		x->moves.move[x->moves.n++] =
			(struct weak_move){(uint8_t)from, (uint8_t)to, (uint8_t)n};
		complete(x, used | UINT32_C(1) << from, factor * more);
		x->moves.n--;
	}
}

/* The candidates that end the flat part in or after a state. */
static void finish(struct weak *w, int32_t state, const struct needs *needs)
{
	const struct state *s = &w->states.state.at[state];
	const struct type *t = &w->states.type.at[state];
	struct weak_candidate c = {.state = state, .elements = elements_of(w, t)};
	struct last x = {.w = w, .t = t, .needs = needs};
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
		complete(&x, 0, 1);
		if (!x.best_factor)
			return;
		c.end = WEAK_END_ALL_TO_ALL;
		c.last = x.best;
		moved = c.elements - c.elements / x.best_factor;
		flat = price_add(
			flat, (struct price){.cost = (double)moved, .collectives = 1});
	}
	c.price = whole_price(w, t, flat, c.elements);
	c.live = live_elements(w, c.price, c.elements);
	add_candidate(w, &c);
}

/*
 * At least what any plan through a state costs that finish() did not offer: two more
 * all-to-alls, the smallest block in one and all else in the other, or one all-to-all
 * and a permute, which is never cheaper.
 */
static struct price least_price(const struct weak *w, int32_t state,
                                const struct needs *needs)
{
	const struct type *t = &w->states.type.at[state];
	double m = (double)elements_of(w, t), p = w->smallest;
	double q = (double)(needs->misplaced > needs->missing ? needs->misplaced
	                                                      : needs->missing);
	double rest = q > p * p ? q / p : p;
	struct price more = {.cost = m - m / p + m - m / rest, .collectives = 2};

	return whole_price(w, t, price_add(w->states.state.at[state].price, more),
	                   (int64_t)m);
}

/* --- states ----------------------------------------------------------------------- */

static void reach(struct weak *w, int32_t from, const struct type *t,
                  struct price price, const struct weak_moves *moves)
{
	struct state *s;
	struct needs needs;
	bool fresh;
	uint64_t code = hash_bytes(HASH_START, t, sizeof(*t));
	int32_t n = states_find(&w->states, code, t, &fresh);

	s = &w->states.state.at[n];
	if (!fresh && price_compare(s->price, price) <= 0)
		return;
	if (fresh)
		list_add(&w->moves, NULL);
	w->moves.at[n] = *moves;
	s->price = price;
	s->parent = from;
	needs = needs_of(w, t);
	finish(w, n, &needs);
	s->total = least_price(w, n, &needs);
	if (needs.missing > 1 && !too_dear(w, s->total))
		states_queue(&w->states, n);
}

struct expansion {
	struct weak *w;
	int32_t from;
	struct type type;
	int64_t elements;
	struct price price;
	struct weak_moves moves;
};

/* All all-to-alls from a state that can still lead to something cheaper. */
static void all_to_alls(struct expansion *x, const struct type *t, int first_dim,
                        uint32_t used, int64_t done)
{
	struct weak *w = x->w;
	int64_t m = x->elements;

	for (int from = first_dim; from < t->rank && x->moves.n < WEAK_PAIRS_MAX;
	     from++) {
		const uint8_t *end = type_stack(t, from) + t->count[from];
		int count = used >> from & 1 ? 0 : t->count[from];
		int64_t q = 1;

		for (int n = 1; n <= count; n++) {
			int64_t more, least = m - m / w->smallest;
			int64_t all = done * (q *= w->size[end[-n]]);
			struct price price = x->price, rest;

			more = m - m / all;
			price.cost += (double)more;
			price.collectives++;
			rest = price;
			rest.cost += (double)least;
			rest.collectives++;
			if (too_dear(w, whole_price(w, t, rest, m)))
				break;
			for (int to = 0; to < t->rank; to++) {
				struct type next = *t;

				if (to == from || (used >> to & 1) ||
				    extent(w, t, to) % q)
					continue;
				type_shift(&next, from, to, n);
				x->moves.move[x->moves.n++] = (struct weak_move){
					(uint8_t)from, (uint8_t)to, (uint8_t)n};
				reach(w, x->from, &next, price, &x->moves);
				all_to_alls(x, &next, from + 1,
				            used | UINT32_C(1) << from |
				                    UINT32_C(1) << to,
				            all);
				x->moves.n--;
			}
		}
	}
}

/* --- starts: the source with unnamed atoms sliced on top -------------------------- */

struct starts {
	struct weak *w;
	int free[ATOMS_MAX]; /* atoms of each size that the source does not use */
};

/* Enough atoms of every size for the target? */
static bool enough(const struct weak *w, const struct type *t)
{
	int count[ATOMS_MAX] = {0};

	for (int k = listed(&w->to) - 1; k >= 0; k--)
		count[w->size_class[w->to.atom[k]]]--;
	for (int k = listed(t) - 1; k >= 0; k--)
		count[symbol_class(w, t->atom[k])]++;
	for (int a = 0; a < w->s->atoms.n; a++)
		if (count[a] < 0)
			return false;
	return true;
}

/*
 * Slice dimensions from `dim` on. A slice that leaves what the target's dimension is
 * missing as it was is an over-slice; exactly `over` of these are made.
 */
static void add_starts(struct starts *x, const struct type *t, int dim, int over)
{
	struct weak *w = x->w;

	if (over == 0 && enough(w, t) && w->nstarts < WEAK_STARTS_MAX) {
		struct price price = {0};
		struct weak_moves none = {0};

		w->nstarts++;
		reach(w, -1, t, price, &none);
	}
	for (; dim < t->rank && w->nstarts < WEAK_STARTS_MAX; dim++) {
		int64_t left = extent(w, t, dim), missing = missing_in(w, t, dim);

		for (int c = 0; c < w->s->atoms.n; c++) {
			uint8_t symbol = (uint8_t)(SYMBOL_FRESH + c);
			struct type next = *t;
			int more;

			if (x->free[c] == 0 || left % w->size[c])
				continue;
			type_push(&next, dim, &symbol, 1);
			more = missing_in(w, &next, dim) == missing;
			if (more > over)
				continue;
			x->free[c]--;
			add_starts(x, &next, dim, over - more);
			x->free[c]++;
		}
	}
}

static void all_starts(struct weak *w)
{
	const struct atoms *atoms = &w->s->atoms;
	struct starts x = {.w = w};
	struct type t = w->from;
	int most = 0;

	for (int k = listed(&t) - 1; k >= 0; k--)
		if (!(w->in_to >> t.atom[k] & 1))
			t.atom[k] = (uint8_t)(SYMBOL_JUNK + w->size_class[t.atom[k]]);
	for (int a = 0; a < atoms->n; a++) {
		x.free[w->size_class[a]] += !(w->in_from >> a & 1);
		most += !(w->in_from >> a & 1);
	}
	for (int over = 0; over <= most; over++)
		add_starts(&x, &t, 0, over);
	w->cut_short = w->nstarts == WEAK_STARTS_MAX;
}

static void set_sizes(struct weak *w)
{
	const struct atoms *atoms = &w->s->atoms;

	w->smallest = atoms->atom[0].size;
	for (int a = 0; a < atoms->n; a++) {
		int c = 0;

		while (atoms->atom[c].size != atoms->atom[a].size)
			c++;
		w->size_class[a] = (uint8_t)c;
		w->size[a] = w->size[SYMBOL_JUNK + a] = w->size[SYMBOL_FRESH + a] =
			atoms->atom[a].size;
		if (atoms->atom[a].size < w->smallest)
			w->smallest = atoms->atom[a].size;
	}
}

void weak_search(struct weak *w, struct synth *s, bool backwards)
{
	int32_t state;

	*w = (struct weak){.s = s, .backwards = backwards, .best = -1};
	w->from = backwards ? s->to : s->from;
	w->to = backwards ? s->from : s->to;
	w->in_from = type_used(&w->from);
	w->in_to = type_used(&w->to);
	w->source = synth_elements(s, &s->from);
	w->target = synth_elements(s, &s->to);
	set_sizes(w);
	states_init(&w->states, true);
	all_starts(w);
	while ((state = states_next(&w->states)) >= 0) {
		const struct state *from = &w->states.state.at[state];
		struct expansion x = {
			.w = w, .from = state, .type = w->states.type.at[state]};

		if (too_dear(w, from->total))
			break;
		w->cut_short = w->cut_short || w->states.state.n >= WEAK_STATES_MAX;
		if (w->states.state.n >= WEAK_STATES_MAX)
			break;
		x.price = from->price;
		x.elements = elements_of(w, &x.type);
		all_to_alls(&x, &x.type, 0, 0, 1);
	}
}

void weak_free(struct weak *w)
{
	states_free(&w->states);
	free(w->moves.at);
}
