#include "planner/best_search.h"

#include "planner/best_astar.h"
#include "planner/best_price.h"

#include <stdlib.h>
#include <string.h>

/*
 * Plans priced in one search, at most; and messages of all of them together, as pricing
 * takes time by messages. TRIES_MIN plans are priced however large they are.
 */
enum { POOL_MAX = 64, TRIES_MIN = 12, TRIES_MAX = 400, MESSAGES_MAX = 30000 };

/* Scripts that cost more than so many times the cheapest plan are not rewritten. */
static const double NEAR = 1.5;

/* The part of all that which rewriting may use; the rest is for choosing senders. */
static const double REWRITING = 0.75;

/* Types times devices: each type takes a bound, and that some work for each device. */
enum { TYPES_WORK = 8192 };

/* Scripts remembered, priced or not. */
enum { SEEN_MAX = 1024 };

/* Senders are chosen anew in so many of the cheapest scripts. */
enum { PATHS_OF = 8, MIXED_OF = 3 };

struct entry {
	const struct script *script;
	struct price price;
	int64_t live_bytes;
	bool over_memory, expanded;
};

struct best_search {
	struct best *best;
	struct arena *arena;       /* of the scripts */
	struct arena *plans;       /* of a plan while it is priced */
	struct step_prices *steps; /* NULL where prices of steps do not add up */
	int ntries, most_tries;
	int64_t messages, most; /* of the plans priced; at which to stop */
	int64_t types_messages; /* of these that were priced for A* */
	int nseen;
	uint64_t seen[SEEN_MAX]; /* hashes of scripts */
	int n;
	struct entry entry[POOL_MAX + 1]; /* by rising price */
};

struct best_search *best_search_new(struct best *b)
{
	struct best_search *s = xmalloc(1, sizeof(*s));

	memset(s, 0, sizeof(*s));
	s->best = b;
	s->arena = arena_new();
	s->plans = arena_new();
	s->most = MESSAGES_MAX;
	s->most_tries = TRIES_MAX;
	if (b->prices->bound)
		s->steps = step_prices_new(b->problem, b->prices);
	return s;
}

void best_search_free(struct best_search *s)
{
	arena_free(s->arena);
	arena_free(s->plans);
	step_prices_free(s->steps);
	free(s);
}

static bool by_bytes(const struct best_search *s)
{
	return s->best->prices->step == prices_bytes.step;
}

const struct prices *best_search_prices(const struct best_search *s)
{
	return s->best->prices;
}

/* --- the pool -------------------------------------------------------------------- */

static int compare_entries(const struct entry *a, const struct entry *b)
{
	if (a->over_memory != b->over_memory)
		return a->over_memory ? 1 : -1;
	return price_compare(a->price, b->price);
}

/* The same ops at the same price with the same memory are taken for the same plan. */
static bool looks_same(const struct entry *a, const struct entry *b)
{
	if (compare_entries(a, b) != 0 || a->live_bytes != b->live_bytes ||
	    a->script->n != b->script->n)
		return false;
	for (int i = 0; i < a->script->n; i++)
		if (a->script->step[i].op != b->script->step[i].op)
			return false;
	return true;
}

/* False if it looks like one that is there. */
static bool insert(struct best_search *s, const struct entry *e)
{
	int at = s->n;

	for (int i = 0; i < s->n; i++)
		if (looks_same(&s->entry[i], e))
			return false;
	for (; at > 0 && compare_entries(e, &s->entry[at - 1]) < 0; at--)
		s->entry[at] = s->entry[at - 1];
	s->entry[at] = *e;
	s->n += s->n < POOL_MAX;
	return true;
}

static bool is_over(const struct best_search *s)
{
	return s->ntries >= s->most_tries ||
	       (s->ntries >= TRIES_MIN && s->messages >= s->most);
}

/* Of exchanges and permutes; all other steps are priced from a table as a rule. */
static int64_t messages_of(const struct plan *plan)
{
	int64_t n = plan->problem->ndevices;

	for (int i = 0; i < plan->nsteps; i++)
		n += plan->step[i].ntransfers + plan->step[i].npairs;
	return n;
}

/* Was the same script there before? It is remembered. */
static bool seen(struct best_search *s, const struct script *script)
{
	uint64_t hash = script_hash(script);

	for (int i = 0; i < s->nseen; i++)
		if (s->seen[i] == hash)
			return true;
	if (s->nseen < SEEN_MAX)
		s->seen[s->nseen++] = hash;
	return false;
}

/*
 * Price a script: false if it costs more than the cheapest plan, or cannot be said. By
 * its steps where these add up, of which each is built once; else by its plan.
 */
static bool price_script(struct best_search *s, struct entry *e)
{
	struct best *b = s->best;
	struct plan *plan;
	int64_t array_bytes, limit = b->problem->memory_limit_bytes;

	if (s->steps) {
		struct price most = b->price;

		most.cost *= NEAR;
		/* One exchange may gain most by other senders. */
		if (!step_prices_script(&e->price, s->steps, e->script,
		                        b->plan && e->script->n > 1 ? &most : NULL))
			return false;
		s->messages = step_prices_messages(s->steps) - s->types_messages;
		script_memory(&array_bytes, &e->live_bytes, e->script);
		e->over_memory = limit >= 0 && array_bytes > limit;
		return true;
	}
	arena_reset(s->plans);
	plan = script_plan(e->script, b->prices, s->plans);
	if (!plan)
		return false;
	s->messages += messages_of(plan);
	e->price = b->prices->plan(b->prices->self, plan);
	e->live_bytes = plan->peak_live_bytes;
	e->over_memory = plan_over_memory(plan, limit);
	return true;
}

/* Is it worth to build the plan of a script? Of equal price it may win the tie. */
static bool may_win(const struct best_search *s, const struct entry *e)
{
	return !e->over_memory &&
	       (!s->best->plan || price_compare(e->price, s->best->price) <= 0);
}

void best_search_add(struct best_search *s, const struct script *script)
{
	struct best *b = s->best;
	struct entry e = {.script = script};

	if (is_over(s) || seen(s, script))
		return;
	if (!price_script(s, &e))
		return;
	s->ntries++;
	e.script = arena_dup(s->arena, script, 1, sizeof(*script));
	if (insert(s, &e) && may_win(s, &e))
		best_offer(b, script_plan(script, b->prices, b->arena), script->senders);
}

void best_search_add_plan(struct best_search *s, const struct plan *plan,
                          struct price price)
{
	struct script script;
	struct entry e = {.price = price};

	if (!script_of_plan(&script, plan) || seen(s, &script))
		return;
	e.script = arena_dup(s->arena, &script, 1, sizeof(script));
	e.live_bytes = plan->peak_live_bytes;
	e.over_memory = plan_over_memory(plan, s->best->problem->memory_limit_bytes);
	insert(s, &e);
}

/* --- rewriting ------------------------------------------------------------------- */

static void try_gathers(struct best_search *s, const struct script *script)
{
	for (int i = 0; i < script->n; i++) {
		struct script next;

		if (script->step[i].op != OP_ALL_GATHER ||
		    (i > 0 && script->step[i - 1].op == OP_ALL_GATHER))
			continue;
		if (script_gathers(&next, script, i, s->best->prices, s->arena))
			best_search_add(s, &next);
	}
}

/* Senders of permutes and exchanges by the prices of paths. */
static void try_paths(struct best_search *s, const struct script *script)
{
	struct script next = *script;

	next.senders = SENDERS_PATHS;
	for (int i = 0; i < script->n; i++) {
		enum op op = script->step[i].op;

		if (op != OP_PERMUTE && op != OP_EXCHANGE)
			continue;
		best_search_add(s, &next);
		return;
	}
}

/* Senders of exchanges by coordinates, one digit more than the script has. */
static void try_mixed(struct best_search *s, const struct script *script)
{
	uint32_t now =
		script->senders >= SENDERS_MIXED ? script->senders - SENDERS_MIXED : 0;
	struct script next = *script;
	int copies = 0;

	for (int i = 0; i < script->n; i++) {
		int n = best_copies(script->problem, script_before(script, i));

		if (script->step[i].op == OP_EXCHANGE)
			copies = n > copies ? n : copies;
	}
	for (uint32_t base = 1, k = 0; (int)k < copies && k < 4;
	     k++, base *= SENDERS_BASE) {
		if (now / base % SENDERS_BASE != 0)
			continue;
		for (uint32_t choice = 0; choice < SENDERS_BASE; choice++) {
			next.senders = SENDERS_MIXED + now + choice * base;
			best_search_add(s, &next);
		}
	}
}

static void try_exchanges(struct best_search *s, const struct script *script)
{
	for (int first = 0; first < script->n; first++) {
		bool sends = false;

		for (int end = first + 1; end <= script->n; end++) {
			enum op op = script->step[end - 1].op;
			struct script next;

			if (op == OP_REDUCE_SCATTER || op == OP_ALL_REDUCE)
				break;
			sends = sends || (op_communicates(op) && op != OP_EXCHANGE) ||
			        (op == OP_EXCHANGE && end > first + 1);
			if (!sends)
				continue;
			script_exchange(&next, script, first, end);
			best_search_add(s, &next);
		}
	}
}

static void try_overslice(struct best_search *s, const struct script *script,
                          struct part part, int first)
{
	for (int digit = 0; digit < script->view.shape.rank; digit++) {
		struct script next;

		if (script_overslice(&next, script, digit, part, first, s->arena))
			best_search_add(s, &next);
	}
}

/*
 * Over-slices along every run of digits of a mesh axis that the script does not use,
 * and along the minor ends of it (the fast links, as a rule).
 */
static void try_overslices(struct best_search *s, const struct script *script, int begin)
{
	const struct mesh *m = &s->best->problem->mesh;

	for (int axis = 0; axis < m->naxes; axis++) {
		const struct part whole = {axis, 1, m->axis[axis].size};
		struct part digit[LAYOUT_PARTS_MAX];
		int n = parts_digits(digit, &whole, 1), first = 0;

		for (int k = 0; k <= n; k++) {
			struct part run;

			if (k < n && !script_uses(script, digit[k], begin))
				continue;
			for (; first < k; first++) {
				run = digit[first];
				for (int j = first + 1; j < k; j++)
					run.size *= digit[j].size;
				try_overslice(s, script, run, begin);
			}
			first = k + 1;
		}
	}
}

/* Steps in two halves, by rising and by falling stride. */
static void try_splits(struct best_search *s, const struct script *script)
{
	struct script fine, next;

	if (!script_refine(&fine, script, s->arena))
		fine = *script;
	for (int at = 0; at < fine.n; at++) {
		int64_t stride[LAYOUT_PARTS_MAX];
		enum op op = fine.step[at].op;
		int n = script_strides(stride, LAYOUT_PARTS_MAX, &fine, at);

		if (op == OP_SLICE || op == OP_ALL_GATHER || op == OP_ALL_REDUCE)
			continue;
		for (int k = 1; k < n; k++)
			for (int major = 0; major < 2; major++)
				if (script_split(&next, &fine, at, stride[k], major,
				                 s->arena))
					best_search_add(s, &next);
	}
}

static void expand(struct best_search *s, const struct script *script)
{
	try_exchanges(s, script);
	if (by_bytes(s))
		return;
	try_gathers(s, script);
	try_overslices(s, script, -1);
	try_splits(s, script);
	for (int i = 0; i < script->n; i++)
		if (script->step[i].op == OP_EXCHANGE)
			try_overslices(s, script, i);
}

/* The cheapest entry that has not been expanded, -1 if none; of the first `most`. */
static int next_entry(const struct best_search *s, int most)
{
	for (int i = 0; i < s->n && i < most; i++)
		if (!s->entry[i].expanded)
			return i;
	return -1;
}

/*
 * Rewrite the cheapest entries one after the other, until that part of the messages and
 * tries is spent.
 */
static void run(struct best_search *s, int entries, double share,
                void (*rewrite)(struct best_search *s, const struct script *script))
{
	s->most = (int64_t)(share * MESSAGES_MAX);
	s->most_tries = (int)(share * TRIES_MAX);
	for (int i = 0; i < s->n; i++)
		s->entry[i].expanded = false;
	for (int i; !is_over(s) && (i = next_entry(s, entries)) >= 0;) {
		s->entry[i].expanded = true;
		rewrite(s, s->entry[i].script);
	}
}

/* Other senders for the cheapest plan of one step, however many are cheaper. */
static void run_single(struct best_search *s)
{
	for (int i = 0; i < s->n; i++) {
		if (s->entry[i].script->n > 1)
			continue;
		try_mixed(s, s->entry[i].script);
		return;
	}
}

/* A* over types, where they are few enough for the number of devices. */
static void search_types(struct best_search *s)
{
	struct best *b = s->best;
	int most = TYPES_WORK / b->problem->ndevices;
	struct types *types = arena_alloc(s->arena, 1, sizeof(*types));
	struct script script;
	struct price price;
	enum astar answer;

	if (!s->steps || !types_make(types, b->problem,
	                             most < TYPES_MAX ? most : TYPES_MAX, s->arena))
		return;
	answer = best_astar(&script, &price, types, s->steps, b->prices,
	                    b->plan ? &b->price : NULL, MESSAGES_MAX / 8, s->arena);
	s->types_messages = step_prices_messages(s->steps) - s->messages;
	if (answer == ASTAR_FOUND)
		best_search_add(s, &script);
}

void best_search_run(struct best_search *s)
{
	search_types(s);
	/* First what is done, then who sends it, in what is cheapest by then. */
	run(s, POOL_MAX, REWRITING, expand);
	run(s, PATHS_OF, 1, try_paths);
	run(s, MIXED_OF, 1, try_mixed);
	run_single(s);
}
