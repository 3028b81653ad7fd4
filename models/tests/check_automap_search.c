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

/* A search on a mesh of up to two axes, from nothing. */
static struct search run(enum how how, const struct graph *g, struct plain_machine *m,
                         int naxes, double limit, int64_t budget, uint64_t seed)
{
	return automap_search(
		arena, how, g, m,
		(struct search){.cutting = automap_cutting(arena, g, naxes, m->size),
	                        .memory_limit_bytes = limit,
	                        .budget = budget,
	                        .rng_seed = seed});
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
			_i, k, (long long)all.evaluations, by.best.step_s,
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
	                   .rng_seed = seed,
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
static const struct expert expert[] = {
	{tactics, axes, 2, 250, 2, {{0, GOAL_TIME}, {1, GOAL_TIME}}},
	{tactics, axes, 3, 1000, 0, {{0}}},
};

START_TEST(finds_what_experts_know)
{
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

/* Of 126 layers, whose ends alone are looked at, structure finds both as well. */
START_TEST(finds_it_in_126_layers)
{
	struct architecture m = automap_model(arena, "gpt-24");
	struct plain_machine machine = {{20e9, 200e9}, 5e-6, 200e12, 1.3e12, {8, 4}};
	const struct expert *x = &expert[_i];
	const struct graph *g;
	struct evaluation wanted;
	struct search s;

	m.layers = 126;
	g = automap_train(arena, &m, true);
	wanted = told(g, &machine, x->tactic, x->axis, x->n);
	s = find(STRUCTURE, g, &machine, &wanted, x, 1);
	ck_assert(s.best.peak_bytes <= wanted.peak_bytes * 1.0001);
	ck_assert(s.best.step_s <= wanted.step_s * (1 + 1e-9));
}
END_TEST

/* The graph of a training step in which every argument is decided on alone. */
static const struct graph *ungrouped(const struct architecture *m)
{
	const struct graph *folded = automap_train(arena, m, true);
	const struct program *p = folded->program;
	int n = p->region.at[p->entry].param.n;
	const char **like = arena_alloc(arena, (size_t)n, sizeof(*like));
	struct graph *g = arena_alloc(arena, 1, sizeof(*g));
	struct error e = {0};

	for (int i = 0; i < n; i++) {
		struct span name = argument_name(p, i);

		like[i] = arena_printf(arena, "^%.*s$", (int)name.length, name.at);
	}
	ck_assert(graph_make(g, arena, p, false, like, n, &e) == OK);
	ck_assert_int_eq(g->group.n, n);
	return g;
}

/*
 * Without groups (figure 9 of automap has the same) the same search does not get to Megatron's cuts
 * with as many evaluations: it has to decide on each of 386 parameters.
 */
START_TEST(needs_groups)
{
	struct architecture m = automap_model(arena, "gpt-24");
	struct plain_machine machine = {{20e9, 200e9}, 5e-6, 200e12, 1.3e12, {8, 4}};
	const struct graph *g = ungrouped(&m);
	struct evaluation wanted = told(g, &machine, tactics, axes, 2);
	int found = 0;

	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct search s = find(MCTS, g, &machine, &wanted, &expert[0], seed);

		found += s.best.step_s <= wanted.step_s * (1 + 1e-9) &&
		         s.best.peak_bytes <= wanted.peak_bytes * 1.0001;
	}
	ck_assert_int_eq(found, 0);
}
END_TEST

/* Four layers of Mixtral on 8 x 8 devices, of which the second axis is fast. */
static struct architecture mixture(void)
{
	struct architecture m = automap_model(arena, "mixtral-8x7b");

	m.layers = 4;
	m.train.seq = 2048;
	m.train.global_batch = 64;
	return m;
}

/*
 * Expert parallelism, which sends tokens to experts where they are sorted and so is no cut of an
 * argument, is found without being told; so is what is better than it.
 */
START_TEST(finds_expert_parallelism)
{
	static const char *const known[] = {"expert", "data", "data", "zero3", "zero3"};
	static const int on[] = {1, 0, 1, 0, 1};
	struct architecture m = mixture();
	struct plain_machine machine = {{20e9, 200e9}, 5e-6, 200e12, 1.3e12, {8, 8}};
	const struct graph *g = automap_train(arena, &m, true);
	struct evaluation wanted = told(g, &machine, known, on, 5);
	struct search s = run(STRUCTURE, g, &machine, 2, 0, 0, 1);

	ck_assert_double_lt(s.best.step_s, wanted.step_s);
	ck_assert_double_gt(s.best.count[COUNT_ALL_TO_ALL], 0);
}
END_TEST

/*
 * A search that starts from a strategy, too, is no worse than it, whatever else it may look at: here
 * one evaluation besides the two that it starts with.
 */
START_TEST(is_no_worse_than_where_it_starts)
{
	static const enum how how[] = {STRUCTURE, MCTS, EXHAUSTIVE};
	struct architecture m = mixture();
	struct plain_machine machine = {{20e9, 200e9}, 5e-6, 200e12, 1.3e12, {8, 8}};
	const struct graph *g = automap_train(arena, &m, true);
	struct tactic start[] = {{.kind = TACTIC_EXPERT, .axis = 1},
	                         {.kind = TACTIC_DATA, .axis = 0},
	                         {.kind = TACTIC_DATA, .axis = 1},
	                         {.kind = TACTIC_ZERO3, .axis = 0},
	                         {.kind = TACTIC_ZERO3, .axis = 1}};
	static const char *const known[] = {"expert", "data", "data", "zero3", "zero3"};
	static const int on[] = {1, 0, 1, 0, 1};
	struct evaluation wanted = told(g, &machine, known, on, 5), again;
	struct cut_prices prices = automap_tariff(&machine);
	struct evaluator e;
	struct search s = {.evaluator = &e,
	                   .cutting = automap_cutting(arena, g, 2, machine.size),
	                   .budget = 3,
	                   .rng_seed = 1,
	                   .nstart = 5,
	                   .start = start};

	evaluator_start(&e, arena, g, &prices);
	search_start(&s, arena);
	if (how[_i] == STRUCTURE)
		search_structure(&s);
	else if (how[_i] == MCTS)
		search_mcts(&s);
	else
		search_exhaustive(&s);
	ck_assert_double_le(s.best.step_s, wanted.step_s);
	search_apply(&s);
	again = evaluate(&e, s.cutting);
	ck_assert_double_eq(again.step_s, s.best.step_s);
}
END_TEST

/*
 * States of the optimizer alone in parts (ZeRO-2) are found where memory demands as much: that takes
 * no longer than the tactic, and fits where it does.
 */
START_TEST(cuts_states_alone)
{
	static const char *const known[] = {"data", "megatron", "zero2"};
	struct architecture m = automap_model(arena, "gpt-24");
	struct plain_machine machine = {{20e9, 200e9}, 5e-6, 200e12, 1.3e12, {8, 4}};
	const struct expert none = {known, axes, 3, 0, 0, {{0}}};
	const struct graph *g;
	struct evaluation wanted;
	struct search s;
	bool alone = false;

	m.train.optimizer = OPTIMIZER_ADAM;
	g = automap_train(arena, &m, true);
	wanted = told(g, &machine, known, axes, 3);
	s = find(STRUCTURE, g, &machine, &wanted, &none, 1);
	ck_assert(s.best.peak_bytes <= wanted.peak_bytes * 1.0001);
	ck_assert(s.best.step_s <= wanted.step_s * (1 + 1e-9));
	for (int64_t i = 0; i < s.actions.at.n; i++)
		alone |= s.actions.at.at[i].dim == DIM_OF_STATES;
	ck_assert(alone);
}
END_TEST

enum { SPOTS = CUT_AXES + 1 };

/* For each axis the dimension or factor, and which of the axes there it is; -1: nowhere. */
static void write_spots(int32_t *spot, const struct cuts *cuts, uint8_t atomic)
{
	int nth[INT8_MAX] = {0};

	for (int axis = 0; axis < CUT_AXES; axis++)
		spot[axis] = -1;
	for (int i = 0; i < cuts->n; i++)
		spot[cuts->axis[i]] = cuts->at[i] * CUT_AXES + nth[cuts->at[i]]++;
	spot[CUT_AXES] = atomic;
}

/* All that a state is, number by number. */
static int32_t *written(const struct cutting *c, size_t size)
{
	int64_t values = c->graph->value.n, ops = c->graph->op.n;
	int32_t *out = arena_alloc(arena, 1, size);

	for (int64_t i = 0; i < values; i++)
		write_spots(out + i * SPOTS, &c->value[i], c->atomic[i]);
	for (int64_t i = 0; i < ops; i++)
		write_spots(out + (values + i) * SPOTS, &c->op[i], 0);
	return out;
}

/*
 * States are what is cut and kept whole, whatever led to them: some actions at random, some of them
 * taken back, come to states of the same number where all is written alike, and nowhere else.
 */
START_TEST(tells_states_apart)
{
	enum { LOOKS = 400, DEPTH = 3 };
	struct architecture m = small(_i);
	const struct graph *g = automap_train(arena, &m, true);
	size_t size = (size_t)(g->value.n + g->op.n) * SPOTS * sizeof(int32_t);
	struct evaluator e;
	struct search s = {.evaluator = &e,
	                   .cutting =
	                           automap_cutting(arena, g, 3, (int32_t[]){2, 2, 4})};
	struct rng *rng = rng_new((uint64_t)_i + 1);
	int32_t *state[LOOKS], number[LOOKS];
	int64_t mark[DEPTH];
	int again = 0;

	evaluator_start(&e, arena, g, NULL);
	search_start(&s, arena);
	for (int i = 0, depth = 0; i < LOOKS; i++) {
		if (depth == DEPTH || (depth && rng_below(rng, 4) == 0)) {
			depth = (int)rng_below(rng, (uint32_t)depth);
			action_undo(&s, mark[depth], 0);
		}
		mark[depth] = cutting_mark(s.cutting);
		depth += automap_act(&s, rng);
		number[i] = search_state(&s);
		state[i] = written(s.cutting, size);
		for (int k = 0; k < i; k++) {
			bool alike = !memcmp(state[i], state[k], size);

			again += alike && k + 1 < i;
			ck_assert_int_eq(number[i] == number[k], alike);
		}
	}
	ck_assert_int_gt(again, LOOKS / 10);
	rng_free(rng);
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
	tcase_add_loop_test(t, finds_it_in_126_layers, 0, 2);
	tcase_add_test(t, needs_groups);
	tcase_add_test(t, cuts_states_alone);
	tcase_add_loop_test(t, tells_states_apart, 0, 3);
	tcase_add_test(t, finds_expert_parallelism);
	tcase_add_loop_test(t, is_no_worse_than_where_it_starts, 0, 3);
	suite_add_tcase(s, t);
	return s;
}
