/*
 * Unreduced axes (models/README.md, Best). They are summed by a reduce-scatter onto
 * dimensions of the array, so that what follows moves the smallest tiles and
 * all-gathers come last, or by an all-reduce. What is left is a problem without sums,
 * which other planners solve.
 */
#include "planner/best/search.h"

#include "plan/check.h"

#include <string.h>

extern const struct planner planner_synth, planner_digit, planner_direct;

/* The planners that say what they do in axes, for what is left after the sums. */
static const struct planner *const solvers[] = {&planner_synth, &planner_digit,
                                                &planner_direct};

enum { SOLVERS = sizeof(solvers) / sizeof(solvers[0]) };

struct reduction {
	const struct problem *problem;
	struct best_pool *pool;
	struct arena *arena;
	int n, nkept; /* primes that are summed; that stay unreduced */
	struct part part[LAYOUT_PARTS_MAX], kept[LAYOUT_PARTS_MAX];
	int nafter;
	struct layout after[2 * (RANK_MAX + 1)]; /* those that were tried */
};

static int find_part(const struct part *list, int n, struct part part)
{
	for (int i = 0; i < n; i++)
		if (memcmp(&list[i], &part, sizeof(part)) == 0)
			return i;
	return -1;
}

/*
 * Finds the parts to sum. Returns false if the target has unreduced parts that the
 * source has not.
 */
static bool find_parts(struct reduction *reduction, const struct problem *p)
{
	struct part from[LAYOUT_PARTS_MAX];
	int n = layout_digits(from, &p->from, p->from.rank);

	reduction->nkept = layout_digits(reduction->kept, &p->to, p->to.rank);
	for (int k = 0; k < reduction->nkept; k++)
		if (find_part(from, n, reduction->kept[k]) < 0)
			return false;
	for (int k = 0; k < n; k++)
		if (find_part(reduction->kept, reduction->nkept, from[k]) < 0)
			reduction->part[reduction->n++] = from[k];
	return reduction->n > 0;
}

/* Returns a layout without its unreduced parts. */
static struct layout reduced(const struct layout *l)
{
	struct layout out = layout_replicated(l->rank);

	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++)
			layout_append(&out, dim, part[k]);
	}
	return out;
}

/* Returns the dimension of a layout that a prime is in, or -1. */
static int dim_of(const struct layout *l, struct part part)
{
	for (int dim = 0; dim < l->rank; dim++) {
		struct part prime[LAYOUT_PARTS_MAX];
		int n = layout_digits(prime, l, dim);

		if (find_part(prime, n, part) >= 0)
			return dim;
	}
	return -1;
}

static void keep_unreduced(const struct reduction *reduction, struct layout *l)
{
	for (int k = 0; k < reduction->nkept; k++)
		layout_append(l, l->rank, reduction->kept[k]);
	layout_normalise(l);
}

/*
 * Puts the step that sums before those of `script`, over its digits: a reduce-scatter
 * of the primes on top of the digits' stacks, or an all-reduce where there are none.
 */
static void sum_first(struct script *script, const struct reduction *reduction)
{
	struct move *move = arena_alloc(reduction->arena, RANK_MAX, sizeof(*move));
	struct layout before = layout_replicated(script->from.rank);
	int n = 0;

	for (int digit = 0; digit < before.rank; digit++) {
		struct part prime[LAYOUT_PARTS_MAX];
		int all = layout_digits(prime, &script->from, digit), own = 0;

		while (own < all &&
		       find_part(reduction->part, reduction->n, prime[own]) < 0)
			layout_append(&before, digit, prime[own++]);
		if (own == all)
			continue;
		move[n] = (struct move){.from_dim = -1,
		                        .to_dim = digit,
		                        .factor = 1,
		                        .nparts = all - own};
		move[n].parts = arena_dup(reduction->arena, prime + own,
		                          (size_t)(all - own), sizeof(*prime));
		for (int k = own; k < all; k++)
			move[n].factor *= prime[k].size;
		n++;
	}
	for (int k = 0; k < reduction->n; k++)
		layout_append(&before, before.rank, reduction->part[k]);
	if (n == 0)
		move[0] = (struct move){.from_dim = -1,
		                        .to_dim = -1,
		                        .factor = 1,
		                        .nparts = reduction->n,
		                        .parts = arena_dup(reduction->arena,
		                                           reduction->part,
		                                           (size_t)reduction->n,
		                                           sizeof(*reduction->part))};
	for (int k = 0; n == 0 && k < reduction->n; k++)
		move[0].factor *= reduction->part[k].size;
	memmove(script->step + 1, script->step,
	        (size_t)script->n * sizeof(*script->step));
	script->step[0] = (struct script_step){
		.op = n ? OP_REDUCE_SCATTER : OP_ALL_REDUCE,
		.nmoves = n ? n : 1,
		.move = move,
		.after = script->from,
	};
	script->n++;
	script->from = before;
}

/*
 * Returns whether the script leaves alone the sums that stay: only collectives along
 * other axes do.
 */
static bool keeps_sums(const struct script *s, const struct reduction *reduction)
{
	for (int i = 0; i < s->n && reduction->nkept > 0; i++)
		if (s->step[i].op == OP_PERMUTE || s->step[i].op == OP_EXCHANGE)
			return false;
	for (int k = 0; k < reduction->nkept; k++)
		if (script_uses(s, reduction->kept[k], -1))
			return false;
	return true;
}

/*
 * Returns whether a solver's layout goes with the sums. A solver may cut an axis into
 * primes in another order than the sums do (6 as 3 x 2, not 2 x 3): its digits are then
 * not those summed.
 */
static bool sums_apart(const struct reduction *reduction, const struct layout *from)
{
	struct text why = {0};
	bool valid = layout_valid(from, &reduction->problem->mesh, &why);

	text_free(&why);
	return valid;
}

/* Returns whether the layout after the sums was there before, and remembers it. */
static bool was_tried(struct reduction *reduction, const struct layout *after)
{
	for (int i = 0; i < reduction->nafter; i++)
		if (memcmp(&reduction->after[i], after, sizeof(*after)) == 0)
			return true;
	reduction->after[reduction->nafter++] = *after;
	return false;
}

/* Offers all scripts that lead on from a layout after the sums. */
static void offer_after(struct reduction *reduction, const struct layout *after)
{
	struct problem *rest = arena_alloc(reduction->arena, 1, sizeof(*rest));

	*rest = *reduction->problem;
	rest->from = *after;
	rest->to = reduced(&rest->to);
	rest->memory_limit_bytes = -1;
	rest->device_memory_bytes = 0;
	rest->vocabulary = VOCABULARY_ANY;
	problem_finish(rest);
	if (!rest->padded_ok || memcmp(&rest->padded, &reduction->problem->padded,
	                               sizeof(rest->padded)) != 0)
		return;
	for (int i = 0; i < SOLVERS; i++) {
		struct plan *plan = NULL;
		struct text why = {0};
		struct script script;
		enum answer answer = planner_run(solvers[i], &plan, rest,
		                                 reduction->pool->best->prices,
		                                 reduction->arena, &why);

		text_free(&why);
		if (answer != ANSWER_PLAN || !script_of_plan(&script, plan) ||
		    script.n == SCRIPT_STEPS_MAX || !keeps_sums(&script, reduction))
			continue;
		script.problem = reduction->problem;
		sum_first(&script, reduction);
		keep_unreduced(reduction, &script.from);
		if (!sums_apart(reduction, &script.from))
			continue;
		keep_unreduced(reduction, &script.to);
		for (int k = 0; k < script.n; k++)
			keep_unreduced(reduction, &script.step[k].after);
		best_pool_add(reduction->pool, &script);
	}
}

/*
 * Places the sums: primes that the target's dimensions list go there if `home`, all
 * others go to dimension `dim` (-1: nowhere, by an all-reduce). Returns false where
 * they do not divide it.
 */
static bool place_sums(struct layout *out, const struct reduction *reduction, int dim,
                       bool home)
{
	struct shape local =
		layout_local(&reduction->problem->from, &reduction->problem->padded);

	*out = reduced(&reduction->problem->from);
	for (int k = 0; k < reduction->n && (dim >= 0 || home); k++) {
		int wanted = dim_of(&reduction->problem->to, reduction->part[k]);
		int at = home && wanted >= 0 ? wanted : dim;

		if (at < 0 || local.dim[at] % reduction->part[k].size)
			return false;
		local.dim[at] /= reduction->part[k].size;
		layout_append(out, at, reduction->part[k]);
	}
	layout_normalise(out);
	return true;
}

void best_pool_add_sums(struct best_pool *pool)
{
	const struct problem *p = pool->best->problem;
	struct reduction reduction = {
		.problem = p, .pool = pool, .arena = pool->best->arena};
	struct layout after;

	if (p->from.kind != LAYOUT_AXES || p->to.kind != LAYOUT_AXES || !p->padded_ok ||
	    !mesh_equal(&p->mesh, &p->to_mesh) || !find_parts(&reduction, p))
		return;
	for (int dim = -1; dim < p->from.rank; dim++)
		for (int home = 0; home < 2; home++)
			if (place_sums(&after, &reduction, dim, home) &&
			    !was_tried(&reduction, &after))
				offer_after(&reduction, &after);
}
