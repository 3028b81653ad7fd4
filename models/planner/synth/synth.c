#include "planner/synth/synth.h"

#include "plan/plan_text.h"
#include "planner/synth/exact.h"
#include "planner/synth/rewrite.h"
#include "planner/synth/states.h"
#include "planner/synth/weak.h"

#include <math.h>

/* Returns the number of types: sum_m C(k,m) m! C(m+r-1,r-1). */
static double count_types(const struct synth *s)
{
	int rank = 0;
	double types = 0, term = 1;

	for (int dim = 0; dim < s->from.rank; dim++)
		rank += s->problem->padded.dim[dim] > 1;
	for (int m = 0; m <= s->atoms.n; m++) {
		types += term;
		/* C(k,m) m! = k (k-1) ...; C(m+r-1,r-1) grows by (m+r) / (m+1). */
		term *= (double)(s->atoms.n - m) * (m + rank) / (m + 1);
	}
	return types;
}

static bool few_types(const struct synth *s, int most_atoms)
{
	return s->atoms.n <= most_atoms && s->atoms.n <= SYNTH_ATOMS_MAX &&
	       count_types(s) <= SYNTH_TYPES_MAX;
}

/* --- choosing among paths --------------------------------------------------------- */

/*
 * The number of paths that look cheapest that are priced as finished plans: with four
 * 16 rows of `synth` are dearer, with one 142.
 */
enum { PRICED_MAX = 16 };

/* Sums of equal costs in another order differ by less than this factor. */
static const double ROUNDING = 1 + 1e-6;

/*
 * The most coarse digits that the exact search takes, each of which may ask for many
 * prices. Without a coarse search 58 rows of `synth` are dearer.
 */
enum { COARSE_ATOMS = 4 };

struct choice {
	struct synth *s;
	const struct path *path;
	struct price price; /* sum over steps, as a search sees it, */
	double sure_cost;   /* and without those whose price is but an estimate */
};

struct choices {
	const struct prices *prices;
	int n;
	struct choice choice[PRICED_MAX + 1]; /* by rising price */
};

static bool by_bytes(const struct synth *s)
{
	return s->prices->step == prices_bytes.step;
}

static bool one_size(const struct atoms *atoms)
{
	for (int a = 1; a < atoms->n; a++)
		if (atoms->atom[a].size != atoms->atom[0].size)
			return false;
	return true;
}

static bool same_path(const struct choice *a, const struct choice *b)
{
	if (a->s != b->s || a->path->n != b->path->n)
		return false;
	for (int i = 0; i < a->path->n; i++)
		if (a->path->hop[i].op != b->path->hop[i].op ||
		    !type_equal(&a->path->hop[i].after, &b->path->hop[i].after))
			return false;
	return true;
}

static void insert_choice(struct choices *choices, const struct choice *choice)
{
	int at = choices->n;

	for (int i = 0; i < choices->n; i++)
		if (same_path(&choices->choice[i], choice))
			return;
	for (; at > 0 && price_compare(choice->price, choices->choice[at - 1].price) < 0;
	     at--)
		choices->choice[at] = choices->choice[at - 1];
	choices->choice[at] = *choice;
	choices->n += choices->n < PRICED_MAX;
}

/*
 * Returns the sum over steps, and stores in *sure_cost that over those that are no
 * permutes. Above `most_cost` (0: no limit) any sums above it will do: all-to-alls,
 * which take longest to price, are asked for last.
 */
static struct price path_steps_price(struct synth *s, const struct path *path,
                                     double *sure_cost, double most_cost)
{
	struct price sum = {0};

	*sure_cost = 0;
	for (int late = 0; late < 2; late++)
		for (int i = 0; i < path->n; i++) {
			const struct hop *hop = &path->hop[i];
			const struct type *before =
				i > 0 ? &path->hop[i - 1].after : &s->from;
			double left = most_cost - *sure_cost;
			struct price price;

			if ((hop->op == OP_ALL_TO_ALL) != late)
				continue;
			if (most_cost > 0 && left <= 0)
				return sum;
			price = hop_price(s, hop->op, before, &hop->after,
			                  most_cost > 0 ? left : 0);
			sum = price_add(sum, price);
			if (hop->op != OP_PERMUTE)
				*sure_cost += price.cost;
		}
	return sum;
}

/*
 * Returns a cost that some path is known to have, where costs add up, or 0 if there is
 * none. What costs more cannot be chosen.
 */
static double known_cost(const struct choices *choices)
{
	double least = INFINITY;

	for (int i = 0; i < choices->n && choices->prices->bound; i++)
		if (choices->choice[i].price.cost == choices->choice[i].sure_cost)
			least = fmin(least, choices->choice[i].price.cost);
	return isinf(least) ? 0 : least;
}

static void add_choice(struct choices *choices, struct synth *s, const struct path *path)
{
	struct path *kept = arena_alloc(s->arena, 1, sizeof(*kept));
	struct choice choice = {.s = s, .path = kept};
	double known = known_cost(choices);

	*kept = *path;
	choice.price = path_steps_price(s, path, &choice.sure_cost, known * ROUNDING);
	if (known == 0 || !price_plainly_more(choice.sure_cost, known))
		insert_choice(choices, &choice);
}

/*
 * Adds the exact search's choice, where a path of price `most` (NULL: none) is known.
 * With a platform it also adds its choice in bytes, which may be best in seconds once
 * permutes are priced as they are. Returns false if there is no such path.
 */
static bool add_exact(struct choices *choices, struct synth *s, const struct price *most)
{
	struct synth in_bytes = *s;
	struct exact_paths paths;
	struct price bytes;
	double sure_cost;

	if (!synth_exact(&paths, s, most))
		return false;
	for (int i = 0; i < paths.n; i++)
		add_choice(choices, s, &paths.path[i]);
	if (by_bytes(s))
		return true;
	in_bytes.prices = &prices_bytes;
	bytes = path_steps_price(&in_bytes, &paths.path[0], &sure_cost, 0);
	if (synth_exact(&paths, &in_bytes, &bytes))
		add_choice(choices, s, &paths.path[0]);
	return true;
}

/*
 * Adds the exact choice among plans that treat whole (sub-)axes as one, if these are
 * few.
 */
static void add_coarse(struct choices *choices, const struct synth *s)
{
	struct synth *coarse = arena_alloc(s->arena, 1, sizeof(*coarse));

	if (!synth_coarsen(coarse, s) || !few_types(coarse, COARSE_ATOMS))
		return;
	/*
	 * a path that is no dearer than the known one is found much sooner than others
	 */
	if (!choices->n || !add_exact(choices, coarse, &choices->choice[0].price))
		add_exact(choices, coarse, NULL);
}

/* Adds the choices of the weak search. Returns whether it saw all there is. */
static bool add_weak(struct choices *choices, struct synth *s, bool backwards)
{
	struct weak *weak = arena_alloc(s->arena, 1, sizeof(*weak));
	struct path path;

	weak_search(weak, s, backwards);
	for (int i = 0; i < weak->ncandidates; i++) {
		if (by_bytes(s) && i != weak->best)
			continue;
		weak_lift(&path, weak, &weak->candidate[i]);
		add_choice(choices, s, &path);
	}
	weak_free(weak);
	return !weak->cut_short;
}

static void add_rewriting(struct choices *choices, struct synth *s)
{
	struct rewriting rewriting = rewriting_easy(s);
	struct path path;

	rewriting_run(&rewriting);
	rewriting_path(&path, &rewriting);
	rewriting_free(&rewriting);
	add_choice(choices, s, &path);
}

static struct plan *cheapest_choice(const struct choices *choices)
{
	struct plan *best = NULL;
	struct price best_price = {0};
	bool adds_up = choices->prices->bound;

	for (int i = 0; i < choices->n; i++) {
		const struct choice *c = &choices->choice[i];
		struct plan *plan;
		struct price price;
		int order;

		if (best && adds_up && price_plainly_more(c->sure_cost, best_price.cost))
			continue;
		plan = path_plan(c->s, c->path, "synth");
		price = choices->prices->plan(choices->prices->self, plan);
		order = best ? price_compare(price, best_price) : -1;
		if (order > 0 || (order == 0 && !plan_wins_tie(plan, best)))
			continue;
		best = plan;
		best_price = price;
	}
	return best;
}

/* Adds all that may be cheapest above the exact search's reach. */
static void add_all_choices(struct choices *choices, struct synth *s)
{
	bool complete = add_weak(choices, s, false) && one_size(&s->atoms);

	if (!one_size(&s->atoms))
		add_weak(choices, s, true);
	if (!complete || !by_bytes(s)) {
		add_coarse(choices, s);
		add_rewriting(choices, s);
	}
}

enum answer synth_search(struct plan **out, const struct problem *p,
                         const struct prices *prices, struct arena *arena,
                         int exact_atoms, struct text *why)
{
	struct synth s;
	struct choices choices = {.prices = prices}, others = choices;

	if (!synth_begin(&s, p, prices, arena, why))
		return ANSWER_NOT_APPLICABLE;
	if (type_equal(&s.from, &s.to)) {
		*out = path_plan(&s, &(struct path){.n = 0}, "synth");
		return ANSWER_PLAN;
	}
	if (!few_types(&s, exact_atoms) || !by_bytes(&s))
		add_all_choices(&others, &s);
	if (few_types(&s, exact_atoms))
		add_exact(&choices, &s, others.n > 0 ? &others.choice[0].price : NULL);
	for (int i = 0; i < others.n; i++)
		insert_choice(&choices, &others.choice[i]);
	*out = cheapest_choice(&choices);
	return ANSWER_PLAN;
}

static enum answer synth_plan(struct plan **out, const struct problem *p,
                              const struct prices *prices, struct arena *arena,
                              struct text *why)
{
	return synth_search(out, p, prices, arena, SYNTH_EXACT_ATOMS, why);
}

const struct planner planner_synth = {
	.name = "synth",
	.help = "normal-form synthesizer: the cheapest slice, all-to-all and permute, "
		"all-gather",
	.plan = synth_plan,
};
