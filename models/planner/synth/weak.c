#include "planner/synth/weak_end.h"

#include "base/assert.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* --- states ----------------------------------------------------------------------- */

static void reach_pattern(struct weak *weak, int32_t from, const struct type *t,
                          struct price price, const struct weak_moves *moves)
{
	struct state *s;
	struct weak_needs needs;
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
	needs = weak_needs_of(weak, t);
	weak_finish(weak, n, &needs);
	s->total = weak_least_price(weak, n, &needs);
	if (needs.missing > 1 && !weak_too_dear(weak, s->total))
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
			if (weak_too_dear(weak, weak_whole_price(weak, t, rest, m)))
				break;
			for (int to = 0; to < t->rank; to++) {
				struct type next = *t;

				if (to == from || (used >> to & 1) ||
				    weak_extent(weak, t, to) % q)
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

	for (int k = weak_listed(&weak->to) - 1; k >= 0; k--)
		count[weak->size_class[weak->to.atom[k]]]--;
	for (int k = weak_listed(t) - 1; k >= 0; k--)
		count[weak_class(weak, t->atom[k])]++;
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
		int64_t left = weak_extent(weak, t, dim),
			missing = weak_missing(weak, t, dim);

		for (int c = 0; c < weak->s->atoms.n; c++) {
			uint8_t symbol = (uint8_t)(SYMBOL_FRESH + c);
			struct type next = *t;
			int more;

			if (starts->free[c] == 0 || left % weak->size[c])
				continue;
			type_push(&next, dim, &symbol, 1);
			more = weak_missing(weak, &next, dim) == missing;
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

	for (int k = weak_listed(&t) - 1; k >= 0; k--)
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

		if (weak_too_dear(weak, from->total))
			break;
		weak->cut_short =
			weak->cut_short || weak->states.state.n >= WEAK_STATES_MAX;
		if (weak->states.state.n >= WEAK_STATES_MAX)
			break;
		expansion.price = from->price;
		expansion.elements = weak_elements(weak, &expansion.type);
		weak_all_to_alls(&expansion, &expansion.type, 0, 0, 1);
	}
}

void weak_free(struct weak *weak)
{
	states_free(&weak->states);
	xfree(weak->moves.at);
}
