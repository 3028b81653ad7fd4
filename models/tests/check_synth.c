/*
 * The synthesizer on examples worked out by hand; its search on weak types against the
 * exact one; what it refuses; large meshes.
 */
#include "planner_case.h"
#include "tariff.h"
#include "tests/plan_count.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "plan/plan_text.h"
#include "planner/synth/synth.h"

#include <check.h>
#include <string.h>

static struct plan *plan_with(const char *name, const struct problem *p,
                              const struct prices *prices, struct arena *a)
{
	const struct planner *planner = planner_find(name, strlen(name));
	struct plan *plan = NULL;
	struct text why = {0};

	ck_assert_ptr_nonnull(planner);
	ck_assert_msg(planner_run(planner, &plan, p, prices, a, &why) == ANSWER_PLAN,
	              "%s: %s", name, why.s);
	ck_assert_msg(plan_check(plan, &why), "%s: %s: %s", name, case_describe(a, p),
	              why.s);
	text_free(&why);
	return plan;
}

static struct plan *search(const struct problem *p, const struct prices *prices,
                           int exact_atoms, struct arena *a)
{
	struct plan *plan = NULL;
	struct text why = {0};

	ck_assert_msg(synth_search(&plan, p, prices, a, exact_atoms, &why) == ANSWER_PLAN,
	              "%s", why.s);
	return plan;
}

static const char *ops_of(const struct plan *plan, struct arena *a)
{
	struct text ops = {0};

	for (int i = 0; i < plan->nsteps; i++)
		text_printf(&ops, "%s%s", i ? " " : "", op_name(plan->step[i].op));
	return text_take(&ops, a);
}

/* Received elements of the busiest device by running the steps. */
static int64_t counted(const struct plan *plan, struct arena *a)
{
	int64_t *received, *real, most = 0;
	int32_t n = plan->problem->mesh.ndevices;

	plan_count(plan, a, &received, &real);
	for (int32_t d = 0; d < n; d++) {
		int64_t sum = 0;

		for (int i = 0; i < plan->nsteps; i++)
			sum += received[(int64_t)i * n + d];
		most = sum > most ? sum : most;
	}
	return most;
}

/* --- worked examples -------------------------------------------------------------- */

struct example {
	const char *planner, *mesh, *array, *from, *to;
	const char *ops; /* "": as many as the search likes */
	int64_t recv_elements, peak_elements;
};

static const struct example examples[] = {
	/* Tiles of 3, 1, 1 and 2. */
	{"synth", "x=2,y=3", "f32[6]", "P('x')", "P('y')", "slice permute all-gather",
         2, 3},
	{"gather", "x=2,y=3", "f32[6]", "P('x')", "P('y')", "all-gather slice", 3, 6},
	/* 2: one permute each; a tile is 768 / 16, then 64 x 12 / 16. */
	{"synth", "X=4,Y=4,Z=16", "f32[768]", "P(('X', 'Y'))", "P(('Y', 'X'))",
         "permute", 48, 48},
	{"synth", "X=4,Y=4,Z=16", "f32[64,12]", "P('Y', 'X')", "P('X', 'Y')", "permute",
         48, 48},
	{"synth", "X=4,Y=4,Z=16", "f32[768]", "P(('X', 'Y'))", "P('Z')", "permute", 48,
         48},
	/*
	 * 3: equal sizes swap in one permute; 4 and 2 on tiles of 16: permute and half.
	 */
	{"synth", "x=2,y=2", "f32[8,8]", "P('x', 'y')", "P('y', 'x')", "permute", 16, 16},
	{"synth", "x=4,y=2", "f32[8,16]", "P('x', 'y')", "P('y', 'x')", "", 24, 16},
	/* 4: all-to-all of both axes (12 of 16), then gather x (16). */
	{"synth", "x=2,y=2", "f32[8,8]", "P(('y', 'x'), None)", "P(None, 'y')",
         "all-to-all all-gather", 28, 32},
	/* Section 5, (c): slice y and gather x; tiles of 64, 32, 64. */
	{"synth", "x=2,y=2", "f32[8,16]", "P('x', None)", "P(None, 'y')",
         "slice all-gather", 32, 64},
	{"synth-rewrite", "x=2,y=2", "f32[8,16]", "P('x', None)", "P(None, 'y')",
         "slice all-gather", 32, 64},
	/* Section 5, mixed primes: the best normal form moves 7/3 of a tile of 12. */
	{"synth", "a=2,b=2,c=3", "f32[12,12]", "P('a', ('c', 'b'))",
         "P(('c', 'a'), 'b')", "", 28, 12},
	/* What each op costs alone, on tiles of 3 x 5 x 7 x 8. */
	{"synth", "x=7", "f32[21,35]", "P('x', None)", "P(None, 'x')", "all-to-all", 90,
         105},
	{"synth", "x=7", "f32[21,35]", "P('x', None)", "P(None, None)", "all-gather",
         630, 735},
	{"synth", "x=7", "f32[21,35]", "P(None, None)", "P(None, 'x')", "slice", 0, 735},
	{"gather", "x=7", "f32[21,35]", "P(None, None)", "P(None, 'x')", "slice", 0, 735},
	{"gather", "x=7", "f32[21,35]", "P('x', None)", "P()", "all-gather", 630, 735},
	{"gather", "x=7", "f32[21,35]", "P('x', None)", "P('x')", "", 0, 105},
	/* Several pairs of dimensions in one all-to-all: 3/4 of 4. */
	{"synth", "x=2,y=2", "f32[2,2,2,2]", "P('x', None, 'y', None)",
         "P(None, 'x', None, 'y')", "all-to-all", 3, 4},
	/* Seven and more atoms, without an exact search. */
	{"synth", "x=8,y=16", "f32[16,16]", "P('x', None)", "P(None, 'x')",
         "all-to-all", 28, 32},
	{"synth", "x=8,y=16", "f32[16,16]", "P('x', None)", "P(None, 'y')",
         "slice all-gather", 14, 32},
	{"synth", "x=8,y=16", "f32[128,128]", "P('x', 'y')", "P('y', 'x')", "", 192, 128},
};

START_TEST(test_examples)
{
	const struct example *x = &examples[_i];
	struct arena *a = arena_new();
	struct problem *p = case_of_texts(a, x->mesh, x->array, x->from, x->to);
	struct plan *plan = plan_with(x->planner, p, &prices_bytes, a);

	if (x->ops[0] || x->recv_elements == 0)
		ck_assert_str_eq(ops_of(plan, a), x->ops);
	ck_assert_int_eq(counted(plan, a), x->recv_elements);
	ck_assert_int_eq(plan->recv_bytes, 4 * x->recv_elements);
	ck_assert_int_eq(plan->peak_array_bytes, 4 * x->peak_elements);
	arena_free(a);
}
END_TEST

/* --- not applicable --------------------------------------------------------------- */

struct refusal {
	const char *mesh, *array, *from, *to;
	const char *why; /* some of it */
	bool not_gather; /* gather sums first */
};

static const struct refusal refusals[] = {
	{"x=2,y=2", "f32[8]", "P('x', unreduced={'y'})", "P('x')", "unreduced", true},
	{"x=2,y=2", "f32[8]", "P('x')", "P(None, unreduced={'y'})", "unreduced", false},
	{"x=4", "f32[8]", "{maximal device=1}", "P('x')", "one device", false},
	{"x=4", "f32[8]", "P('x')", "{devices=[4]0,3,1,2}", "device list", false},
	{"x=6", "f32[36]", "[{\"x\":(1)2}]", "[{\"x\":(1)3}]", "sub-axes", false},
	{"x=2,y=3", "f32[7]", "P('x')", "P('y')", "pad", false},
};

static const char *const mine[] = {"gather", "synth", "synth-rewrite"};

START_TEST(test_refusals)
{
	const struct refusal *x = &refusals[_i];
	struct arena *a = arena_new();
	struct problem *p = case_of_texts(a, x->mesh, x->array, x->from, x->to);

	for (size_t i = 0; i < sizeof(mine) / sizeof(mine[0]); i++) {
		const struct planner *planner = planner_find(mine[i], strlen(mine[i]));
		struct text why = {0};
		struct plan *plan;

		if (x->not_gather && strcmp(mine[i], "gather") == 0)
			continue;
		ck_assert_int_eq(planner_run(planner, &plan, p, &prices_bytes, a, &why),
		                 ANSWER_NOT_APPLICABLE);
		ck_assert_msg(strstr(why.s, x->why) != NULL, "%s: %s", mine[i], why.s);
		text_free(&why);
	}
	arena_free(a);
}
END_TEST

/*
 * Limits below the larger tile are nobody's; at it the valley fits and gather does not.
 */
START_TEST(test_limits)
{
	struct arena *a = arena_new();
	struct problem *p = case_of_texts(a, "x=3,y=5", "f32[15,15]", "P('x', None)",
	                                  "P(None, 'y')");
	struct plan *plan;
	struct text why = {0};

	ck_assert_int_eq(p->memory_bound_bytes, 4 * 75);
	p->memory_limit_bytes = 4 * 75;
	ck_assert_int_eq(planner_run(planner_find("gather", 6), &plan, p, &prices_bytes,
	                             a, &why),
	                 ANSWER_OVER_MEMORY);
	ck_assert_ptr_nonnull(strstr(why.s, "900"));
	plan = plan_with("synth", p, &prices_bytes, a);
	ck_assert_int_eq(plan->peak_array_bytes, 4 * 75);
	plan_with("synth-rewrite", p, &prices_bytes, a);
	p->memory_limit_bytes--;
	ck_assert_int_eq(
		planner_run(planner_find("synth", 5), &plan, p, &prices_bytes, a, &why),
		ANSWER_OVER_MEMORY);
	text_free(&why);
	arena_free(a);
}
END_TEST

/* Another mesh of the same devices: x, y of the source are digits of the target's c. */
START_TEST(test_two_meshes)
{
	static const struct {
		const char *from, *ops;
	} rows[] = {
		{"P('x')", "slice"},
		{"P(('x', 'y'))", ""},
		{"P(('y', 'x'))", "permute"},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct problem p = {.arena = a, .memory_limit_bytes = -1};
		struct problem_text text = {.array = "f32[30]",
		                            .mesh = "x=2,y=3",
		                            .to_mesh = "c=6",
		                            .from = rows[i].from,
		                            .to = "P('c')"};
		struct error e = {0};

		ck_assert_msg(problem_make(&p, a, &text, &e) == OK, "%s", e.text);
		ck_assert_str_eq(ops_of(plan_with("synth", &p, &prices_bytes, a), a),
		                 rows[i].ops);
		ck_assert_str_eq(
			ops_of(plan_with("synth-rewrite", &p, &prices_bytes, a), a),
			rows[i].ops);
	}
	arena_free(a);
}
END_TEST

/* --- weak search against the exact one -------------------------------------------- */

struct sample {
	int prime, atoms, rank, cases;
};

static const struct sample samples[] = {
	{2, 4, 3, 400}, {2, 5, 2, 300}, {2, 5, 3, 300}, {2, 5, 4, 200}, {2, 6, 2, 300},
	{2, 6, 3, 200}, {2, 6, 4, 40},  {3, 4, 3, 200}, {3, 5, 2, 100}, {5, 4, 2, 100},
};

static bool same_plan(const struct plan *x, const struct plan *y, struct arena *a)
{
	struct text s = {0}, t = {0};

	plan_print(&s, x);
	plan_print(&t, y);
	return strcmp(text_take(&s, a), text_take(&t, a)) == 0;
}

static void run_sample(const struct sample *x, struct rng *r, struct arena *a)
{
	int sizes[8] = {0};
	struct mesh mesh;
	struct atoms atoms;
	struct shape extent = {.rank = x->rank};
	struct type from, to;
	struct problem *p;
	struct plan *exact, *weak, *again;
	struct text why = {0};

	for (int i = 0; i < x->atoms; i++)
		sizes[i] = x->prime;
	mesh = case_mesh(a, sizes);
	atoms = case_atoms(&mesh);
	for (int dim = 0; dim < x->rank; dim++) {
		int factors = rng_below(r, 2)
		                      ? x->atoms
		                      : (int)rng_below(r, (uint32_t)x->atoms + 1);

		extent.dim[dim] = 1;
		while (factors-- > 0)
			extent.dim[dim] *= x->prime;
	}
	from = case_random_type(r, &atoms, &extent, 20 + rng_below(r, 81));
	to = case_random_type(r, &atoms, &extent, 20 + rng_below(r, 81));
	p = case_of_types(a, &mesh, &extent, &from, &to);
	exact = search(p, &prices_bytes, 6, a);
	weak = search(p, &prices_bytes, 0, a);
	again = search(p, &prices_bytes, 0, a);
	ck_assert_msg(price_compare(prices_bytes.plan(NULL, exact),
	                            prices_bytes.plan(NULL, weak)) == 0,
	              "%s: %s is not %s", case_describe(a, p), ops_of(weak, a),
	              ops_of(exact, a));
	ck_assert(same_plan(weak, again, a));
	ck_assert(same_plan(exact, search(p, &prices_bytes, 6, a), a));
	ck_assert_int_le(weak->peak_array_bytes, p->memory_bound_bytes);
	if (shape_elements(&extent) * mesh.ndevices < 1 << 20)
		ck_assert_msg(plan_check(weak, &why) && plan_check(exact, &why),
		              "%s: %s", case_describe(a, p), why.s);
}

START_TEST(test_weak)
{
	struct rng *r = rng_new(5 + (uint64_t)_i);
	struct arena *a = arena_new();

	for (int i = 0; i < samples[_i].cases; i++) {
		run_sample(&samples[_i], r, a);
		arena_reset(a);
	}
	arena_free(a);
	rng_free(r);
}
END_TEST

/*
 * Meshes too large for the exact search: plans are right and never beaten by rewriting.
 */
START_TEST(test_large)
{
	static const int meshes[][10] = {
		{8, 8, 8},    {4, 2, 16, 2}, {16, 16},
		{3, 9, 9, 3}, {6, 4, 10},    {2, 12, 6, 2},
	};
	struct rng *r = rng_new(41);
	struct arena *a = arena_new();
	struct tariff tariff = {
		.seconds = true, .launch_s = 0.02, .axis_Bps = {5e3, 3e3, 9e3, 2e3}};

	for (int i = 0; i < 60; i++) {
		struct mesh mesh = case_mesh(a, meshes[_i]);
		struct atoms atoms = case_atoms(&mesh);
		struct shape extent = {.rank = 2 + i % 3};
		struct prices prices = tariff_prices(&tariff);
		struct type from, to;
		struct problem *p;
		struct plan *plan, *rewritten;

		for (int dim = 0; dim < extent.rank; dim++)
			extent.dim[dim] = extent.rank < 4 ? mesh.ndevices : 48;
		from = case_random_type(r, &atoms, &extent, 20 + rng_below(r, 81));
		to = case_random_type(r, &atoms, &extent, 20 + rng_below(r, 81));
		p = case_of_types(a, &mesh, &extent, &from, &to);
		rewritten = search(p, &prices_bytes, 0, a);
		ck_assert_int_le(rewritten->peak_array_bytes, p->memory_bound_bytes);
		ck_assert_int_ge(rewritten->recv_bytes, p->recv_bound_bytes);
		plan = rewritten;
		rewritten = plan_with("synth-rewrite", p, &prices_bytes, a);
		ck_assert_int_le(plan->recv_bytes, rewritten->recv_bytes);
		plan = plan_with("synth", p, &prices, a);
		ck_assert_int_le(price_compare(tariff_plan(&tariff, plan),
		                               tariff_plan(&tariff, rewritten)),
		                 0);
		arena_reset(a);
	}
	arena_free(a);
	rng_free(r);
}
END_TEST

/*
 * Whole axes of 6 and 3 have no normal form here, for the 3 of x must leave dimension 0
 * while its 2 stays: the search over whole axes finds nothing, that over primes does.
 */
START_TEST(test_whole_axes_in_vain)
{
	struct arena *a = arena_new();
	struct tariff tariff = {.seconds = true, .launch_s = 1e-6};
	struct prices prices = tariff_prices(&tariff);
	struct problem *p =
		case_of_texts(a, "x=6,y=3", "f32[96,6]", "P('x', 'y')", "P('y', None)");
	struct plan *plan;

	for (int i = 0; i < 8; i++)
		tariff.axis_Bps[i] = 1e9;
	plan = plan_with("synth", p, &prices, a);
	/* A tile of 32 travels, then 32 x 2 and 96 x 1 elements are gathered: |dst|. */
	ck_assert_int_eq(plan->recv_bytes, 4 * (32 + 160));
	ck_assert_int_eq(plan->peak_array_bytes, 4 * 192);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("synth");
	TCase *tcase = tcase_create("synth");

	tcase_set_timeout(tcase, 200);
	tcase_add_loop_test(tcase, test_examples, 0,
	                    sizeof(examples) / sizeof(examples[0]));
	tcase_add_loop_test(tcase, test_refusals, 0,
	                    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tcase, test_limits);
	tcase_add_test(tcase, test_two_meshes);
	tcase_add_test(tcase, test_whole_axes_in_vain);
	tcase_add_loop_test(tcase, test_weak, 0, sizeof(samples) / sizeof(samples[0]));
	tcase_add_loop_test(tcase, test_large, 0, 6);
	suite_add_tcase(suite, tcase);
	return suite;
}
