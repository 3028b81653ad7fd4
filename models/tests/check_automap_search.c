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
	                   .rng_seed = seed};

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
		if (search_compare_answers(&s, &all->known.at[i], &best) < 0)
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
			search_compare_answers(&by, &by.best, &best) == 0,
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
	static const struct expert expert = {
		tactics, axes, 2, 250, 2, {{0, GOAL_TIME}, {1, GOAL_TIME}}};
	struct architecture m = automap_model(arena, "gpt-24");
	struct plain_machine machine = {{20e9, 200e9}, 5e-6, 200e12, 1.3e12, {8, 4}};
	const struct graph *g = ungrouped(&m);
	struct evaluation wanted = told(g, &machine, tactics, axes, 2);
	int found = 0;

	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct search s = find(MCTS, g, &machine, &wanted, &expert, seed);

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

/* --- optima that others have published ---------------------------------------------- */

/*
 * The prices of Alpa's solver tests (github.com/alpa-projects/alpa,
 * playground/auto_sharding_solver): a collective over an axis costs 1 and B bytes, ring
 * factors on top; only all-reduces and whole gathers are to be had; every matmul has to
 * be split over all axes, so that a kernel that is not costs more than anything.
 */
struct alpa {
	double B[CUT_AXES];
	int32_t size[CUT_AXES];
	double devices, flops; /* flops of each matmul, whole */
};

static double alpa_collective(void *self, const struct collective_ask *ask)
{
	const struct alpa *m = self;
	double sum = 0;

	if (ask->op == OP_SLICE)
		return 0;
	if (ask->op == OP_REDUCE_SCATTER || ask->op == OP_ALL_TO_ALL)
		return 1e12;
	for (int axis = 0; axis < 2; axis++) {
		double n = m->size[axis];
		bool moves = ask->op == OP_ALL_REDUCE ? ask->axes >> axis & 1
		                                      : cuts_at(&ask->from, axis) !=
		                                                cuts_at(&ask->to, axis);

		if (moves && ask->op == OP_ALL_REDUCE)
			sum += 1 + 2 * m->B[axis] * (n - 1) / n * ask->bytes + .01;
		else if (moves)
			sum += 1 + m->B[axis] * (n - 1) * ask->bytes + .1;
	}
	return sum;
}

/* All matmuls of the chain have as many flops. */
static double alpa_kernel(void *self, const struct compute_ask *ask)
{
	const struct alpa *m = self;

	return ask->kind == COMPUTE_MATMUL && ask->flops > m->flops / m->devices * 1.001
	               ? 1e12
	               : 0;
}

/* y = x w1 ... wn, its gradients of dy, and SGD: n matrices of h x h. */
static const char *chain(int n, int batch, int h)
{
	struct text t = {0};
	const char *dot = "lhs_contracting_dims={%d}, rhs_contracting_dims={%d}%s\n";
	const char *back = ", metadata={op_name=\"backward/dot\"}";

	text_printf(&t, "HloModule chain, input_output_alias={ ");
	for (int i = 0; i < n; i++)
		text_printf(&t, "%s{%d}: (%d, {})", i ? ", " : "", i, i + 2);
	text_printf(&t, " }\nENTRY %%main {\n  %%a0 = f32[%d,%d] parameter(0)\n", batch,
	            h);
	text_printf(&t, "  %%d%d = f32[%d,%d] parameter(1)\n", n, batch, h);
	for (int i = 1; i <= n; i++)
		text_printf(&t, "  %%%s%d = f32[%d,%d] parameter(%d)\n",
		            i % 2 ? "odd" : "even", i, h, h, i + 1);
	for (int i = 1; i < n; i++) {
		text_printf(&t, "  %%a%d = f32[%d,%d] dot(%%a%d, %%%s%d), ", i, batch,
		            h, i - 1, i % 2 ? "odd" : "even", i);
		text_printf(&t, dot, 1, 0, "");
	}
	/* Of the last product nothing but its gradient is there: it is a result, too. */
	text_printf(&t, "  %%y = f32[%d,%d] dot(%%a%d, %%%s%d), ", batch, h, n - 1,
	            n % 2 ? "odd" : "even", n);
	text_printf(&t, dot, 1, 0, "");
	for (int i = n; i >= 1; i--) {
		text_printf(&t, "  %%g%d = f32[%d,%d] dot(%%a%d, %%d%d), ", i, h, h,
		            i - 1, i);
		text_printf(&t, dot, 0, 0, back);
		if (i > 1) {
			text_printf(&t, "  %%d%d = f32[%d,%d] dot(%%d%d, %%%s%d), ",
			            i - 1, batch, h, i, i % 2 ? "odd" : "even", i);
			text_printf(&t, dot, 1, 1, back);
		}
	}
	for (int i = 1; i <= n; i++)
		text_printf(&t,
		            "  %%n%d = f32[%d,%d] subtract(%%%s%d, %%g%d), "
		            "metadata={op_name=\"update/sub\"}\n",
		            i, h, h, i % 2 ? "odd" : "even", i, i);
	text_printf(&t, "  ROOT %%t = (");
	for (int i = 0; i <= n; i++)
		text_printf(&t, "%sf32[%d,%d]", i ? ", " : "", i < n ? h : batch, h);
	text_printf(&t, ") tuple(");
	for (int i = 1; i <= n; i++)
		text_printf(&t, "%%n%d, ", i);
	text_printf(&t, "%%y)\n}\n");
	return text_take(&t, arena);
}

/*
 * On (4, 1) a large batch wants data parallelism, an all-reduce of each weight's
 * gradient; wide layers want their columns and rows cut by turns, an all-reduce of
 * activations for each layer but one. On two axes both are mixed.
 */
START_TEST(finds_the_optima_of_alpa)
{
	static const struct {
		int n, batch, h;
		int32_t size[2];
		double B[2];
		int weights,
			activations; /* all-reduces over axis 0 and over the last one */
	} of[] = {
		{2, 1024, 128, {4, 1}, {1, 1}, 2, 0},
		{2, 128, 1024, {4, 1}, {1, 1}, 0, 1},
		{12, 1024, 128, {4, 1}, {1, 1}, 12, 0},
		{12, 128, 1024, {4, 1}, {1, 1}, 0, 11},
		{2, 1024, 128, {4, 8}, {1, .01}, 2, 1},
		{2, 1024, 128, {8, 4}, {1, .01}, 2, 1},
		{12, 1024, 128, {4, 8}, {1, .01}, 12, 11},
		{12, 1024, 128, {8, 4}, {1, .01}, 12, 11},
	};
	static const char *const like[] = {"odd", "even"};
	struct program p =
		program_sample_text(arena, chain(of[_i].n, of[_i].batch, of[_i].h));
	double n0 = of[_i].size[0], n1 = of[_i].size[1], h = of[_i].h, wanted;
	struct alpa m = {{of[_i].B[0], of[_i].B[1]},
	                 {of[_i].size[0], of[_i].size[1]},
	                 n0 * n1,
	                 2. * of[_i].batch * h * h};
	struct cut_prices prices = {alpa_collective, alpa_kernel, NULL, &m};
	double last = n1 > 1 ? n1 : n0, B = n1 > 1 ? m.B[1] : m.B[0];
	struct evaluator e;
	struct search s = {.evaluator = &e};
	struct graph g;
	struct error error = {0};

	ck_assert(graph_make(&g, arena, &p, false, like, 2, &error) == OK);
	s.cutting = automap_cutting(arena, &g, n1 > 1 ? 2 : 1, m.size);
	evaluator_start(&e, arena, &g, &prices);
	search_start(&s, arena);
	search_structure(&s);
	wanted = of[_i].weights * (1.01 + 2 * m.B[0] * (n0 - 1) / n0 * h * h * 4 / n1) +
	         of[_i].activations * (1.01 + 2 * B * (last - 1) / last * of[_i].batch *
	                                              h * 4 / (n1 > 1 ? n0 : 1));
	ck_assert_msg(fabs(s.best.step_s / wanted - 1) < 1e-3,
	              "%d: %.9g of %.9g; %g %g %g %g", _i, s.best.step_s, wanted,
	              s.best.count[0], s.best.count[1], s.best.count[2],
	              s.best.count[3]);
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
	tcase_add_test(t, needs_groups);
	tcase_add_test(t, cuts_states_alone);
	tcase_add_test(t, finds_expert_parallelism);
	tcase_add_loop_test(t, is_no_worse_than_where_it_starts, 0, 3);
	tcase_add_loop_test(t, finds_the_optima_of_alpa, 0, 8);
	suite_add_tcase(s, t);
	return s;
}
