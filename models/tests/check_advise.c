/*
 * Advice: against all chains of up to two layouts on small meshes, a case by hand, and
 * what holds of every chain on random problems.
 */
#include "plan_random.h"
#include "planner_case.h"
#include "tests/tests.h"

#include "notation/notation.h"
#include "plan/check.h"
#include "plan/memory.h"
#include "plan/plan_text.h"
#include "planner/advise/advise.h"
#include "planner/best/best.h"
#include "price/price.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct link nvlink = {.bandwidth_Bps = 235e9, .latency_s = 0.475e-6};
static const struct link nic = {.bandwidth_Bps = 24e9, .latency_s = 1.25e-6};
static const struct device device = {.memory_Bps = 2e12, .launch_s = 5e-6};

static struct arena *arena, *kept;
static struct pricer *pricer;
static struct prices prices;

static void setup(void)
{
	arena = arena_new();
	kept = arena_new();
	prices = prices_bytes;
}

static void teardown(void)
{
	pricer_free(pricer);
	pricer = NULL;
	arena_free(arena);
	arena_free(kept);
}

/* Takes bytes, a torus of 2x4 that is open one way, or nodes of four GPUs. */
static void use(int number)
{
	const bool wrap[] = {false, true};

	if (number == 0)
		return;
	pricer = pricer_new(number == 1 ? machine_torus(kept, 2, (int32_t[]){2, 4},
	                                                wrap, ici, device)
	                                : machine_gpu(kept, 2, 4, nvlink, nic, device),
	                    NULL);
	prices = pricer_prices(pricer);
}

static const struct planner *planner_of(const char *name)
{
	return planner_find(name, strlen(name));
}

static struct advice advice_on(const struct problem *p, const char *compiler,
                               const struct plan *guide, int held)
{
	const struct plan *guides[] = {guide, NULL};
	const struct advise_ask ask = {p, planner_of(compiler), &prices, guides, held};
	struct advice out;

	advise(&out, &ask, arena);
	return out;
}

static const struct advised_chain *last_of(const struct advice *a, int most)
{
	const struct advised_chain *c = NULL;

	for (int i = 0; i < a->nchains; i++)
		if (a->chain[i].nhops <= most + 1)
			c = &a->chain[i];
	return c;
}

/* Returns the printed layouts between, "P('x') P('y')". */
static const char *layouts_of(const struct advised_chain *c)
{
	struct text out = {0};

	for (int i = 0; i < c->nhops - 1; i++) {
		const struct problem *q = c->hop[i].problem;

		text_printf(&out, "%s", i ? " " : "");
		layout_print(&out, &q->to, &q->to_mesh, &q->array.shape);
	}
	return out.s ? text_take(&out, arena) : "";
}

/* --- by hand ----------------------------------------------------------------------- */

/*
 * 64x64 of 4 bytes, 16 KiB, on 4x2. XLA gathers all of it, 7/8 of 16 KiB. By way of
 * columns over both axes an all-to-all brings 7/8 of a tile of 2 KiB, and gathering two of
 * these into one of 4 KiB another 2 KiB: 3,840 bytes, as best receives.
 */
START_TEST(test_hand)
{
	struct problem *p = case_of_texts(arena, "a=4,b=2", "f32[64,64]",
	                                  "P(('a', 'b'), None)", "P(None, 'a')");
	struct advice a = advice_on(p, "xla", NULL, 0);
	const struct advised_chain *c = last_of(&a, ADVISE_MOST);

	ck_assert_int_eq(a.alone, ANSWER_PLAN);
	ck_assert_int_eq(a.nchains, 2);
	ck_assert(a.chain[0].price.cost == 7 * 2048);
	ck_assert_str_eq(layouts_of(c), "P(None, ('a', 'b'))");
	ck_assert(c->price.cost == 1792 + 2048);
	ck_assert(c->hop[0].price.cost == 1792);
	ck_assert(c->hop[1].price.cost == 2048);
	/* The source of 2 KiB stays beside what goes into the gather and comes out. */
	ck_assert_int_eq(c->peak_live_bytes, 2048 + 2048 + 4096);
	ck_assert_int_eq(c->peak_array_bytes, 4096);
	ck_assert_int_eq(a.chain[0].peak_array_bytes, 16384);
}
END_TEST

/*
 * 4,095 columns over two devices. XLA permutes tiles of 4 MiB or, by way of whole rows, cuts
 * the padding off them and puts it back. Of 4,096 columns it has nothing to pad: a copy of the
 * tile, 5 us and 2 * 4 MiB at 2 TB/s, then a gather and a slice. Every device keeps a tile of
 * 2,048 columns.
 */
START_TEST(test_padded)
{
	struct problem *p, *even;
	struct advice a;
	const struct advised_padding *padding = &a.padding;

	use(1);
	p = case_of_texts(arena, "a=2,b=2,c=2", "bf16[2048,4095]", "P('c', 'a')",
	                  "P('c', 'b')");
	even = case_of_texts(arena, "a=2,b=2,c=2", "bf16[2048,4096]", "P('c', 'a')",
	                     "P('c', 'b')");
	a = advice_on(p, "xla", NULL, 0);
	ck_assert_ptr_nonnull(padding->problem);
	ck_assert_int_eq(padding->problem->array.shape.dim[1], 4096);
	ck_assert_double_eq_tol(padding->pad.cost, 5e-6 + 2 * 4194304 / 2e12, 1e-15);
	ck_assert_str_eq(layouts_of(&padding->chain), "P('c', None)");
	ck_assert(padding->chain.price.cost < last_of(&a, ADVISE_MOST)->price.cost);
	ck_assert_double_eq_tol(padding->chain.price.cost,
	                        padding->pad.cost + padding->chain.hop[0].price.cost +
	                                padding->chain.hop[1].price.cost,
	                        1e-15);
	for (int i = 0; i < padding->chain.nhops; i++) {
		const struct plan *plan = padding->chain.hop[i].plan;
		struct text why = {0};

		ck_assert(plan_check(plan, &why));
		for (int k = 0; k < plan->nsteps; k++)
			ck_assert_int_ne(plan->step[k].op, OP_PAD);
	}
	/* What is cheapest for the array that has 4,096 columns anyhow. */
	a = advice_on(even, "xla", NULL, 0);
	ck_assert_ptr_null(padding->problem);
	ck_assert_str_eq(layouts_of(last_of(&a, ADVISE_MOST)), "P('c', None)");
	/* Others do not pad around steps, or cannot be told. */
	a = advice_on(p, "shardy", NULL, 0);
	ck_assert_ptr_null(padding->problem);
	a = advice_on(p, "xla", NULL, 1);
	ck_assert_ptr_null(padding->problem);
}
END_TEST

/* One all-to-all is what it takes; and nothing, where nothing moves. */
START_TEST(test_nothing_to_gain)
{
	static const char *const to[] = {"P(None, 'x')", "P('x', None)"};
	static const char *const compilers[] = {"xla", "shardy", "dtensor"};

	for (int i = 0; i < 6; i++) {
		struct problem *p = case_of_texts(arena, "x=4,y=2", "f32[64,64]",
		                                  "P('x', None)", to[i % 2]);
		struct advice a = advice_on(p, compilers[i / 2], NULL, 0);

		ck_assert_int_eq(a.nchains, 1);
		ck_assert_int_eq(a.chain[0].nhops, 1);
	}
}
END_TEST

/* Where XLA's copy of all 16 KiB does not fit, there is a chain that does. */
START_TEST(test_memory_limit)
{
	struct problem *p = case_of_texts(arena, "a=4,b=2", "f32[64,64]",
	                                  "P(('a', 'b'), None)", "P(None, 'a')");
	struct advice a;

	p->memory_limit_bytes = 8192;
	a = advice_on(p, "xla", NULL, 0);
	ck_assert_int_eq(a.alone, ANSWER_OVER_MEMORY);
	ck_assert_ptr_nonnull(strstr(a.why, "16384"));
	ck_assert_ptr_nonnull(a.plan);
	ck_assert_int_eq(a.nchains, 1);
	ck_assert_str_eq(layouts_of(&a.chain[0]), "P(None, ('a', 'b'))");
	/* Of 8,191 bytes of memory the gather needs one more: with the source 8,192. */
	p->memory_limit_bytes = -1;
	p->device_memory_bytes = 8191;
	a = advice_on(p, "xla", NULL, 0);
	for (int i = 0; i < a.nchains; i++)
		ck_assert_int_lt(a.chain[i].peak_live_bytes, 8192);
	p->device_memory_bytes = 8192;
	a = advice_on(p, "xla", NULL, 0);
	ck_assert_int_ge(a.nchains, 1);
}
END_TEST

/* Dimension 0 stays cut by x, whatever that costs. */
START_TEST(test_held)
{
	struct problem *p =
		case_of_texts(arena, "x=2,a=4,b=2", "f32[2,64,64]",
	                      "P('x', ('a', 'b'), None)", "P('x', None, 'a')");
	struct advice a = advice_on(p, "xla", NULL, 1);

	ck_assert_int_eq(a.nchains, 2);
	ck_assert_str_eq(layouts_of(&a.chain[1]), "P('x', None, ('a', 'b'))");
	for (int i = 0; i < a.chain[1].nhops; i++)
		for (int k = 0; k < a.chain[1].hop[i].plan->nsteps; k++)
			ck_assert_int_eq(a.chain[1].hop[i].plan->step[k].local.dim[0],
			                 1);
}
END_TEST

/* Nobody but planners for the same devices can be told anything. */
START_TEST(test_not_applicable)
{
	struct problem_text t = {.array = "f32[8,8]",
	                         .mesh = "x=4",
	                         .to_mesh = "y=4",
	                         .to_devices = "4-7",
	                         .from = "P('x')",
	                         .to = "P('y')"};
	struct problem p;
	struct error e = {0};
	struct advice a;

	ck_assert(problem_make(&p, arena, &t, &e) == OK);
	a = advice_on(&p, "xla", NULL, 0);
	ck_assert_int_eq(a.alone, ANSWER_NOT_APPLICABLE);
	ck_assert_ptr_nonnull(strstr(a.why, "different devices"));
	ck_assert_int_eq(a.nchains, 0);
}
END_TEST

/* --- all chains -------------------------------------------------------------------- */

/* What hops between all types of a mesh cost a compiler; INFINITY where it cannot. */
struct table {
	int n;
	struct type *type;
	double *cost; /* [n * n] */
};

/* Returns whether dimensions list the axes of a mesh of prime ones in its order. */
static bool is_in_order(const struct type *t)
{
	for (int dim = 0, at = 0; dim < t->rank; at += t->count[dim++])
		for (int k = 1; k < t->count[dim]; k++)
			if (t->atom[at + k] < t->atom[at + k - 1])
				return false;
	return true;
}

static double cost_of(const struct problem *p, const struct planner *compiler)
{
	struct text why = {0};
	struct plan *plan = NULL;
	double cost = INFINITY;

	if (planner_run(compiler, &plan, p, &prices, arena, &why) == ANSWER_PLAN)
		cost = prices.plan(prices.self, plan).cost;
	text_free(&why);
	return cost;
}

static struct table table_of(const struct mesh *m, const struct atoms *atoms,
                             const struct shape *extent, const char *compiler)
{
	struct table t = {0};

	t.n = case_types(&t.type, atoms, extent->rank);
	t.cost = xmalloc((size_t)(t.n * t.n), sizeof(*t.cost));
	for (int i = 0; i < t.n * t.n; i++) {
		arena_reset(arena);
		t.cost[i] = cost_of(case_of_types(arena, m, extent, &t.type[i / t.n],
		                                  &t.type[i % t.n]),
		                    planner_of(compiler));
	}
	return t;
}

/* Returns the cheapest of all chains of at most `most` layouts, of two at most. */
static double cheapest(const struct table *t, int from, int to, int most, bool ordered)
{
	double least = t->cost[from * t->n + to];

	for (int i = 0; i < t->n && most > 0; i++) {
		double in = t->cost[from * t->n + i];

		if (ordered && !is_in_order(&t->type[i]))
			continue;
		least = fmin(least, in + t->cost[i * t->n + to]);
		for (int k = 0; k < t->n && most > 1; k++)
			if (!ordered || is_in_order(&t->type[k]))
				least = fmin(least, in + t->cost[i * t->n + k] +
				                            t->cost[k * t->n + to]);
	}
	return least;
}

static const struct {
	const char *compiler;
	int machine, sizes[4], one_of;
} spaces[] = {
	{"xla", 0, {2, 2}, 1},         {"xla", 0, {2, 3}, 1},
	{"xla", 1, {2, 4}, 4},         {"xla", 2, {2, 2, 2}, 8},
	{"xla-2021", 2, {2, 2, 2}, 8}, {"shardy", 1, {2, 2, 2}, 8},
	{"shardy", 0, {4, 2}, 4},      {"dtensor", 2, {2, 2, 2}, 8},
	{"dtensor", 0, {2, 3}, 1},
};

/* Chains of at most n layouts cost what the cheapest of all of them does. */
START_TEST(test_all_chains)
{
	const char *compiler = spaces[_i].compiler;
	const struct shape extent = {2, {96, 48}};
	struct mesh m = case_mesh(kept, spaces[_i].sizes);
	struct atoms atoms = case_atoms(&m);
	bool ordered = strcmp(compiler, "dtensor") == 0;
	struct rng *rng = rng_new(7);
	struct table t;
	int gains = 0;

	use(spaces[_i].machine);
	t = table_of(&m, &atoms, &extent, compiler);
	for (int i = 0; i < t.n * t.n; i++) {
		int from = i / t.n, to = i % t.n;
		struct problem *p;
		struct advice a;

		if (from == to || rng_below(rng, (uint32_t)spaces[_i].one_of))
			continue;
		arena_reset(arena);
		p = case_of_types(arena, &m, &extent, &t.type[from], &t.type[to]);
		a = advice_on(p, compiler, NULL, 0);
		for (int most = 0; most <= 2; most++) {
			const struct advised_chain *c = last_of(&a, most);
			double least = cheapest(&t, from, to, most, ordered);
			double got = c ? c->price.cost : INFINITY;

			ck_assert_msg(got == least || fabs(got - least) <= 1e-9 * least,
			              "%s %s, at most %d: %g, of all chains %g",
			              compiler, case_describe(arena, p), most, got,
			              least);
			gains += most == 2 && least < t.cost[i] * (1 - 1e-9);
		}
	}
	ck_assert_int_gt(gains, 20);
	free(t.type);
	xfree(t.cost);
	rng_free(rng);
}
END_TEST

/* --- what holds of every chain ----------------------------------------------------- */

static void check_joined(const struct problem *p, const struct advised_chain *c)
{
	for (int i = 0; i <= c->nhops; i++) {
		const struct problem *before = i > 0 ? c->hop[i - 1].problem : p;
		const struct problem *after = i < c->nhops ? c->hop[i].problem : p;

		ck_assert(layout_same_tiles(i > 0 ? &before->to : &before->from,
		                            i > 0 ? &before->to_mesh : &before->mesh,
		                            i < c->nhops ? &after->from : &after->to,
		                            i < c->nhops ? &after->mesh
		                                         : &after->to_mesh));
	}
}

static void check_chain(const struct problem *p, const struct advised_chain *c)
{
	struct text why = {0};
	int64_t peak = 0;
	double sum = 0;

	check_joined(p, c);
	for (int i = 0; i < c->nhops; i++) {
		const struct plan *plan = c->hop[i].plan;

		ck_assert_msg(plan_check(plan, &why), "%s: hop %d: %s",
		              case_describe(arena, p), i, why.s);
		ck_assert(fabs(c->hop[i].price.cost -
		               prices.plan(prices.self, plan).cost) <= 1e-9 * sum);
		sum += c->hop[i].price.cost;
		peak = plan->peak_array_bytes > peak ? plan->peak_array_bytes : peak;
		ck_assert_int_ge(c->peak_live_bytes, plan->peak_live_bytes);
	}
	ck_assert(fabs(sum - c->price.cost) <= 1e-9 * sum);
	ck_assert_int_eq(c->peak_array_bytes, peak);
	ck_assert(!memory_exceeded(p, peak, c->peak_live_bytes));
	text_free(&why);
}

/* By axes or device lists, even or not, with and without guides and limits. */
START_TEST(test_random)
{
	static const char *const compilers[] = {"xla", "xla-2021", "shardy", "dtensor"};
	struct rng *rng = rng_new(3);
	int gains = 0;

	for (int i = 0; i < 400; i++) {
		const char *compiler = compilers[i % 4];
		struct text why = {0};
		struct plan *guide = NULL;
		struct problem *p;
		struct advice a;

		arena_reset(arena);
		p = i % 3 ? random_problem(rng, arena, 24)
		          : random_listed_problem(rng, arena, 12);
		if (i % 5 == 0)
			p->memory_limit_bytes = 2 * p->memory_bound_bytes;
		if (i % 2)
			planner_run(&planner_best_portable, &guide, p, &prices, arena,
			            &why);
		text_free(&why);
		a = advice_on(p, compiler, guide, 0);
		ck_assert_int_eq(a.alone == ANSWER_PLAN,
		                 a.nchains > 0 && a.chain[0].nhops == 1);
		for (int k = 0; k < a.nchains; k++) {
			check_chain(p, &a.chain[k]);
			if (k == 0)
				continue;
			ck_assert_int_gt(a.chain[k].nhops, a.chain[k - 1].nhops);
			ck_assert_int_lt(
				price_compare(a.chain[k].price, a.chain[k - 1].price),
				0);
			gains++;
		}
	}
	ck_assert_int_gt(gains, 30);
	rng_free(rng);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("advise");
	TCase *c = tcase_create("advise");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 600);
	tcase_add_test(c, test_hand);
	tcase_add_test(c, test_padded);
	tcase_add_test(c, test_nothing_to_gain);
	tcase_add_test(c, test_memory_limit);
	tcase_add_test(c, test_held);
	tcase_add_test(c, test_not_applicable);
	tcase_add_loop_test(c, test_all_chains, 0,
	                    (int)(sizeof(spaces) / sizeof(*spaces)));
	tcase_add_test(c, test_random);
	suite_add_tcase(s, c);
	return s;
}
