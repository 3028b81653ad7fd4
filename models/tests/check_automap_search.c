/*
 * Searches against the best of all states, and against strategies that experts know,
 * which they are not told.
 */
#include "tests/automap_help.h"
#include "tests/program_help.h"
#include "tests/tests.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

enum how { EXHAUSTIVE, MCTS, STRUCTURE };

/* A search on a mesh of up to two axes, from nothing. */
static struct search run(enum how how, const struct graph *g, struct plain_machine *m,
                         int naxes, double limit, int64_t budget, uint64_t seed)
{
	struct cut_prices *prices = arena_alloc(arena, 1, sizeof(*prices));
	struct evaluator *e = arena_alloc(arena, 1, sizeof(*e));
	struct search s = {.evaluator = e,
	                   .cutting = automap_cutting(arena, g, naxes, m->size),
	                   .memory_limit_bytes = limit,
	                   .budget = budget,
	                   .seed = seed};

	*prices = automap_tariff(m);
	evaluator_start(e, arena, g, prices);
	search_start(&s, arena);
	if (how == EXHAUSTIVE)
		search_exhaustive(&s);
	else if (how == MCTS)
		search_mcts(&s);
	else
		search_structure(&s);
	return s;
}

/* What tactics cost there; each is "name" on an axis. */
static struct evaluation told(const struct graph *g, struct plain_machine *m,
                              const char *const *tactic, const int *axis, int n)
{
	struct cutting *c = automap_cutting(arena, g, 2, m->size);
	struct cut_prices prices = automap_tariff(m);
	struct evaluator e;

	for (int i = 0; i < n; i++)
		automap_tactic(c, tactic[i], axis[i]);
	evaluator_start(&e, arena, g, &prices);
	return evaluate(&e, c);
}

/* One layer, small enough for all of its states to be seen. */
static struct architecture small(int kind)
{
	struct architecture m = automap_model(arena, "gpt-24");

	m.layers = 1;
	m.hidden = 256 << kind % 3;
	m.heads = 8;
	m.head_dim = m.hidden / 8;
	m.ffn = kind % 2 ? 4 * m.hidden : 0;
	m.bias = false;
	m.positions = POSITIONS_NONE;
	m.norm = NORM_RMS;
	m.vocab = 1024;
	m.train.seq = 64 << kind;
	m.train.global_batch = 4;
	return m;
}

/* The best of all states that a search has seen, within a limit. */
static struct evaluation best_of(const struct search *all, double limit)
{
	const struct search s = {.memory_limit_bytes = limit};
	struct evaluation best = all->known.at[0];

	for (int64_t i = 1; i < all->known.n; i++)
		if (search_compare(&s, &all->known.at[i], &best) < 0)
			best = all->known.at[i];
	return best;
}

/*
 * Whatever the model, the machine and the memory, the best of all states is found;
 * without a limit by random search, too.
 */
START_TEST(finds_the_best_of_all)
{
	static const double limits[] = {0, .6, .4, .3};
	struct architecture m = small(_i % 3);
	struct plain_machine machine = {{_i / 3 ? 8e9 : 200e9}, 1e-6, 100e12, 1e12, {4}};
	const struct graph *g = automap_train(arena, &m, true);
	struct search all = run(EXHAUSTIVE, g, &machine, 1, 0, 0, 1), by;
	double whole = all.known.at[0].peak_bytes;

	ck_assert(all.complete);
	for (int k = 0; k < 4; k++) {
		struct evaluation best = best_of(&all, limits[k] * whole);

		by = run(STRUCTURE, g, &machine, 1, limits[k] * whole, 0, 1);
		ck_assert_msg(
			search_compare(&by, &by.best, &best) == 0,
			"case %d limit %d of %lld states: %.9g s %.9g B, best %.9g s "
			"%.9g B",
			_i, k, (long long)all.states, by.best.step_s,
			by.best.peak_bytes, best.step_s, best.peak_bytes);
	}
	by = run(MCTS, g, &machine, 1, 0, 1000, 1);
	ck_assert_double_eq_tol(by.best.step_s, all.best.step_s, 1e-12);
}
END_TEST

/*
 * The 24 layers of arXiv 2210.06352 on 8 x 4 devices whose second axis is fast, with one
 * sequence for each of the first axis, so that none is left for the second. Megatron's cuts are to
 * be found on top of data parallelism, and those of ZeRO-3, where the memory demands them.
 */
struct expert {
	const char *const *tactic;
	const int *axis;
	int n;
	int64_t budget;
	int ngoals;
	struct goal goal[4];
};

static const char *const tactics[] = {"data", "megatron", "zero3"};
static const int axes[] = {0, 1, 0};

static struct search find(enum how how, const struct graph *g, struct plain_machine *m,
                          const struct evaluation *wanted, const struct expert *x,
                          uint64_t seed)
{
	struct cut_prices *prices = arena_alloc(arena, 1, sizeof(*prices));
	struct evaluator *e = arena_alloc(arena, 1, sizeof(*e));
	struct search s = {.evaluator = e,
	                   .cutting = automap_cutting(arena, g, 2, m->size),
	                   .memory_limit_bytes = wanted->peak_bytes * 1.0001,
	                   .budget = how == MCTS ? x->budget : 0,
	                   .seed = seed,
	                   .ngoals = x->ngoals};

	memcpy(s.goal, x->goal, sizeof(x->goal));
	*prices = automap_tariff(m);
	evaluator_start(e, arena, g, prices);
	search_start(&s, arena);
	if (how == MCTS)
		search_mcts(&s);
	else
		search_structure(&s);
	return s;
}

/*
 * What fits as an expert's sharding does and is as fast: data parallelism with Megatron's cuts
 * within 250 evaluations, that with ZeRO-3 on top of it within 1,000, both from nothing. Of 20
 * seeds at least 19 find it.
 */
START_TEST(finds_what_experts_know)
{
	static const struct expert expert[] = {
		{tactics, axes, 2, 250, 2, {{0, GOAL_TIME}, {1, GOAL_TIME}}},
		{tactics, axes, 3, 1000, 0, {{0}}},
	};
	const struct expert *x = &expert[_i];
	struct architecture m = automap_model(arena, "gpt-24");
	struct plain_machine machine = {{20e9, 200e9}, 5e-6, 200e12, 1.3e12, {8, 4}};
	const struct graph *g = automap_train(arena, &m, true);
	struct evaluation wanted = told(g, &machine, x->tactic, x->axis, x->n);
	struct search s = find(STRUCTURE, g, &machine, &wanted, x, 1);
	int found = 0;

	ck_assert(s.best.peak_bytes <= wanted.peak_bytes * 1.0001);
	ck_assert(s.best.step_s <= wanted.step_s * (1 + 1e-9));
	for (uint64_t seed = 1; seed <= 20; seed++) {
		s = find(MCTS, g, &machine, &wanted, x, seed);
		ck_assert_int_le(s.evaluations, x->budget + 1);
		found += s.best.peak_bytes <= wanted.peak_bytes * 1.0001 &&
		         s.best.step_s <= wanted.step_s * (1 + 1e-9);
	}
	ck_assert_int_ge(found, 19);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap search");
	TCase *t = tcase_create("searches");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, finds_the_best_of_all, 0, 6);
	tcase_add_loop_test(t, finds_what_experts_know, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
