/*
 * All-gathers in a row as the cheapest chain (models/README.md, Best). Slow axes come
 * first while tiles are small, and several at once where links would idle otherwise.
 *
 * A dynamic program runs over what is still to be gathered. Every digit of the script
 * has a stack of pieces, which are prime digits of mesh axes or, where these are too
 * many, whole parts; an all-gather pops some from the tops of one or more stacks.
 */
#include "planner/best/script.h"

#include <string.h>

/* With three pieces 5 rows are dearer; six are up to 64 states and 2,016 prices. */
enum { PIECES_MAX = 6, CHAIN_STATES_MAX = 1 << PIECES_MAX };

struct stack {
	int dim, npieces;
	struct part piece[LAYOUT_PARTS_MAX]; /* major to minor, those to be gathered */
};

struct chain {
	const struct script *script;
	const struct prices *prices;
	struct arena *arena;
	struct layout end; /* after the last all-gather */
	int nstacks;
	struct stack stack[PIECES_MAX];
	int nstates; /* mixed-radix numbers of how much is left on each stack */
	struct price price[CHAIN_STATES_MAX];
	int via[CHAIN_STATES_MAX]; /* the state after the first all-gather of the chain */
};

static int left(const struct chain *chain, int state, int stack)
{
	for (int i = 0; i < stack; i++)
		state /= chain->stack[i].npieces + 1;
	return state % (chain->stack[stack].npieces + 1);
}

static struct layout layout_at(const struct chain *chain, int state)
{
	struct layout out = chain->end;

	for (int i = 0; i < chain->nstacks; i++)
		for (int k = 0; k < left(chain, state, i); k++)
			layout_append(&out, chain->stack[i].dim,
			              chain->stack[i].piece[k]);
	layout_normalise(&out);
	return out;
}

/*
 * Writes the moves of the all-gather between two states and returns their number, or 0
 * if no all-gather leads from one to the other.
 */
static int moves_between_states(struct move *out, const struct chain *chain, int before,
                                int after)
{
	int n = 0;

	for (int i = 0; i < chain->nstacks; i++) {
		int high = left(chain, before, i), low = left(chain, after, i);
		struct move *m = &out[n];

		if (high < low)
			return 0;
		if (high == low)
			continue;
		*m = (struct move){.from_dim = chain->stack[i].dim,
		                   .to_dim = -1,
		                   .factor = 1,
		                   .nparts = high - low,
		                   .parts = chain->stack[i].piece + low};
		for (int k = 0; k < m->nparts; k++)
			m->factor *= m->parts[k].size;
		n++;
	}
	return n;
}

/* For a dearer gather than `most_cost`, if that is > 0, any price above it will do. */
static struct price gather_price(const struct chain *chain, const struct move *moves,
                                 int n, const struct shape *local, double most_cost)
{
	const struct problem *p = chain->script->problem;
	const struct step_ask ask = {
		.op = OP_ALL_GATHER,
		.nmoves = n,
		.move = moves,
		.before_bytes = dtype_bytes(p->array.dtype, shape_elements(local)),
		.unpack = moves_unpack(moves, n, local),
		.most_cost = most_cost,
	};

	return chain->prices->step(chain->prices->self, p, &ask);
}

static void find_prices(struct chain *chain)
{
	bool few = chain->script->problem->ndevices <= BEST_SMALL_DEVICES;

	for (int state = 1; state < chain->nstates; state++) {
		struct layout l = layout_at(chain, state);
		struct shape local = layout_local(&l, &chain->script->view.shape);
		bool first = true;

		for (int after = 0; after < state; after++) {
			struct move moves[PIECES_MAX];
			int n = moves_between_states(moves, chain, state, after);
			struct price price;
			double left = 0;

			if (n == 0)
				continue;
			/* equal prices differ by 1e-9; on few devices all are soon known */
			if (!first && !few)
				left = chain->price[state].cost * (1 + 1e-6) -
				       chain->price[after].cost;
			if (!first && !few && left <= 0)
				continue;
			price = price_add(chain->price[after],
			                  gather_price(chain, moves, n, &local, left));
			if (!first && price_compare(price, chain->price[state]) >= 0)
				continue;
			first = false;
			chain->price[state] = price;
			chain->via[state] = after;
		}
	}
}

/*
 * Writes the parts of `more` behind those of `less` in a dimension, as primes or whole,
 * and returns their number, or -1 where the primes of an axis do not line up.
 */
static int pieces_of(struct part *out, const struct layout *more,
                     const struct layout *less, int dim, bool primes)
{
	struct part all[LAYOUT_PARTS_MAX];
	struct layout rest = layout_replicated(1);
	int n = layout_digits(all, more, dim), skip = layout_digits(out, less, dim);
	const struct part *part;

	if (n < skip || memcmp(all, out, (size_t)skip * sizeof(*all)) != 0)
		return -1;
	if (primes) {
		memcpy(out, all + skip, (size_t)(n - skip) * sizeof(*out));
		return n - skip;
	}
	for (int k = skip; k < n; k++)
		layout_append(&rest, 0, all[k]);
	layout_normalise(&rest);
	part = layout_parts(&rest, 0, &n);
	memcpy(out, part, (size_t)n * sizeof(*out));
	return n;
}

/* Finds the stack of every digit. Returns false if there are too many pieces. */
static bool find_stacks(struct chain *chain, const struct layout *begin, bool primes)
{
	int pieces = 0;

	chain->nstacks = 0;
	chain->nstates = 1;
	for (int dim = 0; dim < begin->rank; dim++) {
		struct part piece[LAYOUT_PARTS_MAX];
		int n = pieces_of(piece, begin, &chain->end, dim, primes);

		if (n == 0)
			continue;
		pieces += n;
		if (n < 0 || pieces > PIECES_MAX)
			return false;
		chain->stack[chain->nstacks].dim = dim;
		chain->stack[chain->nstacks].npieces = n;
		memcpy(chain->stack[chain->nstacks++].piece, piece,
		       (size_t)n * sizeof(*piece));
		chain->nstates *= n + 1;
	}
	return true;
}

/* Replaces steps [first, end) by the chain. */
static bool write_chain(struct script *out, const struct chain *chain, int first,
                        int end)
{
	const struct script *s = chain->script;

	script_copy(out, s);
	out->n = first;
	for (int state = chain->nstates - 1; state > 0; state = chain->via[state]) {
		struct move moves[PIECES_MAX];
		int n = moves_between_states(moves, chain, state, chain->via[state]);

		if (out->n + s->n - end == SCRIPT_STEPS_MAX)
			return false;
		out->step[out->n++] = (struct script_step){
			OP_ALL_GATHER, n,
			arena_dup(chain->arena, moves, (size_t)n, sizeof(*moves)),
			layout_at(chain, chain->via[state]), SENDERS_RULE};
	}
	for (int i = end; i < s->n; i++)
		out->step[out->n++] = s->step[i];
	return true;
}

static bool same_steps(const struct script *a, const struct script *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (memcmp(a->step[i].after.part, b->step[i].after.part,
		           sizeof(a->step[i].after.part)) != 0 ||
		    memcmp(a->step[i].after.nparts, b->step[i].after.nparts,
		           sizeof(a->step[i].after.nparts)) != 0)
			return false;
	return true;
}

bool script_gathers(struct script *out, const struct script *s, int first,
                    const struct prices *prices, struct arena *a)
{
	struct chain *chain = arena_alloc(a, 1, sizeof(*chain));
	const struct layout *begin = script_before(s, first);
	int end = first;

	while (end < s->n && s->step[end].op == OP_ALL_GATHER)
		end++;
	if (end == first)
		return false;
	chain->script = s;
	chain->prices = prices;
	chain->arena = a;
	chain->end = s->step[end - 1].after;
	if (!find_stacks(chain, begin, true) && !find_stacks(chain, begin, false))
		return false;
	find_prices(chain);
	return write_chain(out, chain, first, end) && !same_steps(out, s);
}
