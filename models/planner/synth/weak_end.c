#include "planner/synth/weak_end.h"

int weak_class(const struct weak *weak, uint8_t symbol)
{
	return symbol < SYMBOL_JUNK ? weak->size_class[symbol] : symbol % SYMBOL_JUNK;
}

int64_t weak_extent(const struct weak *weak, const struct type *t, int dim)
{
	int64_t left = weak->s->problem->padded.dim[dim];
	const uint8_t *stack = type_stack(t, dim);

	for (int k = 0; k < t->count[dim]; k++)
		left /= weak->size[stack[k]];
	return left;
}

int64_t weak_elements(const struct weak *weak, const struct type *t)
{
	int64_t elements = 1;

	for (int dim = 0; dim < t->rank; dim++)
		elements *= weak_extent(weak, t, dim);
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

int weak_listed(const struct type *t)
{
	return type_first(t, t->rank);
}

struct price weak_whole_price(const struct weak *weak, const struct type *t,
                              struct price flat, int64_t elements)
{
	bool first = weak_listed(t) > weak_listed(&weak->from),
	     last = weak_listed(t) > weak_listed(&weak->to);

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

bool weak_too_dear(const struct weak *weak, struct price whole)
{
	return weak->best >= 0 &&
	       price_compare(whole, weak->candidate[weak->best].price) >= 0;
}

/* --- what a pattern still needs --------------------------------------------------- */

int64_t weak_missing(const struct weak *weak, const struct type *t, int dim)
{
	const uint8_t *have = type_stack(t, dim), *want = type_stack(&weak->to, dim);
	int64_t missing = 1;
	uint32_t taken = 0;

	for (int k = 0; k < weak->to.count[dim]; k++) {
		int j = 0;

		while (j < t->count[dim] &&
		       ((taken >> j & 1) ||
		        weak_class(weak, have[j]) != weak->size_class[want[k]]))
			j++;
		if (j == t->count[dim])
			missing *= weak->size[want[k]];
		else
			taken |= UINT32_C(1) << j;
	}
	return missing;
}

struct weak_needs weak_needs_of(const struct weak *weak, const struct type *t)
{
	struct weak_needs needs = {.misplaced = 1, .missing = 1};
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
		needs.missing *= weak_missing(weak, t, dim);
		have += t->count[dim];
		want += m;
	}
	return needs;
}

/* --- the last all-to-all ---------------------------------------------------------- */

struct last {
	const struct weak *weak;
	const struct type *t;
	const struct weak_needs *needs;
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
		if (weak_extent(weak, last->t, to) % *factor == 0)
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

void weak_finish(struct weak *weak, int32_t state, const struct weak_needs *needs)
{
	const struct state *s = &weak->states.state.at[state];
	const struct type *t = &weak->states.type.at[state];
	struct weak_candidate c = {.state = state, .elements = weak_elements(weak, t)};
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
	c.price = weak_whole_price(weak, t, flat, c.elements);
	c.live = live_elements(weak, c.price, c.elements);
	add_candidate(weak, &c);
}

struct price weak_least_price(const struct weak *weak, int32_t state,
                              const struct weak_needs *needs)
{
	const struct type *t = &weak->states.type.at[state];
	double m = (double)weak_elements(weak, t), p = weak->smallest;
	double q = (double)(needs->misplaced > needs->missing ? needs->misplaced
	                                                      : needs->missing);
	double rest = q > p * p ? q / p : p;
	struct price more = {.cost = m - m / p + m - m / rest, .collectives = 2};

	return weak_whole_price(weak, t,
	                        price_add(weak->states.state.at[state].price, more),
	                        (int64_t)m);
}
