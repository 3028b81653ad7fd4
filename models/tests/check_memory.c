/*
 * The memory of devices: what a plan holds is counted by hand, and a plan that holds more
 * is over-memory with its need.
 */
#include "plan/memory.h"
#include "plan_random.h"
#include "planner_case.h"
#include "tests/tests.h"

#include "plan/plan_text.h"
#include "planner/best/best.h"
#include "price/price.h"

#include <check.h>
#include <string.h>

#define MiB (INT64_C(1) << 20)
#define GiB (INT64_C(1) << 30)
#define GB INT64_C(1000000000)

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static const struct planner *planner_of(const char *name)
{
	return planner_find(name, strlen(name));
}

/* Runs a planner; *why is what it says, the arena's. */
static enum answer run(struct plan **plan, const char **why, const char *planner,
                       const struct problem *p, const struct prices *prices)
{
	struct text t = {0};
	enum answer answer;

	*plan = NULL;
	answer = planner_run(planner_of(planner), plan, p, prices, arena, &t);
	*why = t.length ? text_take(&t, arena) : "";
	return answer;
}

/* --- words ------------------------------------------------------------------------- */

static const struct {
	int64_t limit, array; /* limit -1: none */
	int64_t has, live;    /* has 0: not known */
	const char *says;     /* NULL: it fits */
} words[] = {
	{-1, 700, 0, 900, NULL},
	{700, 700, 900, 900, NULL},
	/* 118.6 GiB = 127,345,779,507 B */
	{-1, 0, 16 * GB, 127345779507, "needs 118.6 GiB, the device has 16 GB"},
	{-1, 0, 80 * GB, 128 * GiB, "needs 128 GiB, the device has 80 GB"},
	{-1, 0, 141 * GB, 1536 * GiB, "needs 1.5 TiB, the device has 141 GB"},
	{-1, 0, 32 * GiB, 48 * GiB, "needs 48 GiB, the device has 32 GiB"},
	{-1, 0, 95 * GiB, 96 * GiB, "needs 96 GiB, the device has 95 GiB"},
	{-1, 0, 48 << 10, 49 << 10, "needs 49 KiB, the device has 48 KiB"},
	/* 15 looks less than 16: 16 GB are 16e9 / 2^30 = 14.901 GiB */
	{-1, 0, 16 * GB, 15 * GiB, "needs 15 GiB, the device has 16 GB (14.9 GiB)"},
	/* in four digits they are equal */
	{-1, 0, 16 * GB, 16 * GB + 1,
         "needs 16000000001 bytes, the device has 16000000000"},
	{699, 700, 900, 900, "needs a memory limit of at least 700 bytes"},
	{699, 700, 512, 1024,
         "needs a memory limit of at least 700 bytes; needs 1 KiB, the device has "
         "512 B"},
	{700, 700, 512, 1024, "needs 1 KiB, the device has 512 B"},
};

START_TEST(test_words)
{
	const struct problem p = {.memory_limit_bytes = words[_i].limit,
	                          .device_memory_bytes = words[_i].has};
	struct text t = {0};

	ck_assert_int_eq(memory_exceeded(&p, words[_i].array, words[_i].live),
	                 words[_i].says != NULL);
	memory_explain(&t, &p, words[_i].array, words[_i].live);
	ck_assert_pstr_eq(t.s, words[_i].says);
	text_free(&t);
}
END_TEST

/* --- machines ---------------------------------------------------------------------- */

static struct problem *read_problem(struct problem_text t)
{
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, arena, &t, &e) == OK, "%s", e.text);
	return p;
}

/* Four devices of 40, 16, 80 GB and an unknown memory: that of the smallest counts. */
START_TEST(test_devices)
{
	const struct device device[] = {
		{40e9, 0, 0}, {16e9, 0, 0}, {80e9, 0, 0}, {0, 0, 0}};
	const struct machine m = {.ndevices = 4, .device = device};
	static const struct {
		const char *mesh, *devices, *to_mesh, *to_devices, *limit;
		int64_t bytes;
	} cases[] = {
		{"x=4", NULL, NULL, NULL, NULL, 16 * GB},
		{"x=1", NULL, NULL, NULL, NULL, 40 * GB},
		{"x=2", "2,0", NULL, NULL, NULL, 40 * GB},
		{"x=2", "2,3", NULL, NULL, NULL, 80 * GB},
		{"x=1", "3", NULL, NULL, NULL, 0},
		/* two meshes sit on their union */
		{"x=1", "2", "y=1", "1", NULL, 16 * GB},
		{"x=1", "2", "y=2", "0,2", NULL, 40 * GB},
		{"x=4", NULL, NULL, NULL, "none", 0},
		{"x=4", NULL, NULL, NULL, "1GiB", 16 * GB},
		/* more than the machine has, which is told elsewhere */
		{"x=8", NULL, NULL, NULL, NULL, 16 * GB},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct problem *p = read_problem(
			(struct problem_text){.array = "f32[8]",
		                              .mesh = cases[i].mesh,
		                              .devices = cases[i].devices,
		                              .to_mesh = cases[i].to_mesh,
		                              .to_devices = cases[i].to_devices,
		                              .memory_limit = cases[i].limit,
		                              .from = "P()",
		                              .to = "P()"});

		ck_assert_int_eq(p->memory_limit_bytes, i == 8 ? GiB : -1);
		ck_assert_int_eq(p->device_memory_bytes, 0);
		problem_use_memory(p, &m);
		ck_assert_msg(p->device_memory_bytes == cases[i].bytes, "%zu: %lld", i,
		              (long long)p->device_memory_bytes);
		problem_use_memory(p, NULL);
		ck_assert_int_eq(p->device_memory_bytes, 0);
	}
}
END_TEST

/* --- planners ---------------------------------------------------------------------- */

/*
 * 512 GiB over eight devices: tiles of 64 GiB at both ends, so that every plan of one step
 * holds 128 GiB at once and fits no device of 80 GB; the easy program holds 64 + 512 GiB,
 * then 64 + 512 + 64. With 128 GiB it fits exactly.
 */
START_TEST(test_too_large)
{
	struct problem *p = case_of_texts(arena, "x=8", "bf16[524288,524288]",
	                                  "P('x', None)", "P(None, 'x')");
	struct plan *plan;
	const char *why;

	ck_assert_int_eq(run(&plan, &why, "synth", p, &prices_bytes), ANSWER_PLAN);
	p->device_memory_bytes = 80 * GB;
	for (int i = 0; planners[i]; i++) {
		const char *name = planners[i]->name;

		ck_assert_int_eq(run(&plan, &why, name, p, &prices_bytes),
		                 ANSWER_OVER_MEMORY);
		ck_assert_str_eq(why, strcmp(name, "gather") == 0
		                              ? "needs 640 GiB, the device has 80 GB"
		                              : "needs 128 GiB, the device has 80 GB");
		ck_assert_str_eq(plan->planner, name);
	}
	p->device_memory_bytes = 128 * GiB;
	for (int i = 1; planners[i]; i++)
		ck_assert_int_eq(run(&plan, &why, planners[i]->name, p, &prices_bytes),
		                 ANSWER_PLAN);
	p->device_memory_bytes = 128 * GiB - 1;
	for (int i = 1; planners[i]; i++)
		ck_assert_int_eq(run(&plan, &why, planners[i]->name, p, &prices_bytes),
		                 ANSWER_OVER_MEMORY);
	ck_assert_str_eq(why, "needs 137438953472 bytes, the device has 137438953471");
}
END_TEST

/* Where nothing is to be done the array itself must be there. */
START_TEST(test_nothing_to_do)
{
	struct problem *p = case_of_texts(arena, "x=8", "f32[1024]", "P('x')", "P('x')");
	struct plan *plan;
	const char *why;

	p->device_memory_bytes = 512;
	ck_assert_int_eq(run(&plan, &why, "xla", p, &prices_bytes), ANSWER_PLAN);
	p->device_memory_bytes = 511;
	ck_assert_int_eq(run(&plan, &why, "xla", p, &prices_bytes), ANSWER_OVER_MEMORY);
	ck_assert_str_eq(why, "needs 512 B, the device has 511 B");
}
END_TEST

/*
 * Tiles of 32 MiB become tiles of 64. On nodes of GPUs the fastest plan slices, 32 + 16
 * MiB, and gathers, 32 + 16 + 64 = 112 MiB. One exchange holds 32 + 64 = 96 MiB, and no
 * plan less, but it is dearer, and not portable.
 */
START_TEST(test_best_fits)
{
	const struct link nvlink = {.bandwidth_Bps = 235e9, .latency_s = 0.475e-6};
	const struct link nic = {.bandwidth_Bps = 24e9, .latency_s = 1.25e-6};
	const struct device device = {.memory_Bps = 1.6e12, .launch_s = 3e-6};
	struct problem *p = case_of_texts(arena, "x=4,y=2", "bf16[8192,8192]",
	                                  "P('x', None)", "P(None, 'y')");
	struct pricer *pricer =
		pricer_new(machine_gpu(arena, 1, 8, nvlink, nic, device), NULL);
	struct prices prices = pricer_prices(pricer);
	struct plan *fast, *plan;
	const char *why;

	ck_assert_int_eq(run(&fast, &why, "best", p, &prices), ANSWER_PLAN);
	ck_assert_int_eq(fast->peak_live_bytes, 112 * MiB);
	p->device_memory_bytes = 112 * MiB;
	ck_assert_int_eq(run(&plan, &why, "best", p, &prices), ANSWER_PLAN);
	ck_assert_int_eq(plan->peak_live_bytes, 112 * MiB);

	p->device_memory_bytes = 112 * MiB - 1;
	ck_assert_int_eq(run(&plan, &why, "best", p, &prices), ANSWER_PLAN);
	ck_assert_int_eq(plan->peak_live_bytes, 96 * MiB);
	ck_assert(price_compare(prices.plan(prices.self, plan),
	                        prices.plan(prices.self, fast)) > 0);
	ck_assert_int_eq(run(&plan, &why, "best-portable", p, &prices),
	                 ANSWER_OVER_MEMORY);
	ck_assert_str_eq(why, "needs 117440512 bytes, the device has 117440511");

	p->device_memory_bytes = 90 * MiB;
	ck_assert_int_eq(run(&plan, &why, "best", p, &prices), ANSWER_OVER_MEMORY);
	ck_assert_str_eq(why, "needs 96 MiB, the device has 90 MiB");
	ck_assert_int_eq(run(&plan, &why, "best-portable", p, &prices),
	                 ANSWER_OVER_MEMORY);
	ck_assert_str_eq(why, "needs 112 MiB, the device has 90 MiB");
	pricer_free(pricer);
}
END_TEST

/*
 * A memory limit and a memory that only different plans keep: the smallest answer is the
 * one that keeps the limit.
 */
START_TEST(test_both_limits)
{
	struct problem *p = case_of_texts(arena, "x=4,y=2", "bf16[8192,8192]",
	                                  "P('x', None)", "P(None, 'y')");
	struct plan *plan;
	const char *why;

	p->memory_limit_bytes = 64 * MiB;
	p->device_memory_bytes = 90 * MiB;
	ck_assert_int_eq(run(&plan, &why, "best", p, &prices_bytes), ANSWER_OVER_MEMORY);
	ck_assert_str_eq(why, "needs 96 MiB, the device has 90 MiB");
	p->memory_limit_bytes = 64 * MiB - 1;
	ck_assert_int_eq(run(&plan, &why, "best", p, &prices_bytes), ANSWER_OVER_MEMORY);
	ck_assert_str_eq(
		why, "needs a memory limit of at least 67108864 bytes, that is 64 MiB");
}
END_TEST

/*
 * Whatever the memory, best has a plan that fits where some planner has one, and no dearer
 * one; where none fits, the need it tells is the least.
 */
START_TEST(test_random_problems)
{
	struct rng *r = rng_new(8191);
	int fit = 0, over = 0;

	for (int k = 0; k < 80; k++) {
		struct problem *p = random_problem(r, arena, 16);
		struct plan *best = NULL, *other;
		enum answer answer;
		const char *why;

		if (run(&other, &why, k % 2 ? "xla" : "gather", p, &prices_bytes) !=
		    ANSWER_PLAN)
			continue;
		p->device_memory_bytes = other->peak_live_bytes / (k % 4 + 1);
		answer = run(&best, &why, "best", p, &prices_bytes);
		fit += answer == ANSWER_PLAN;
		over += answer == ANSWER_OVER_MEMORY;
		ck_assert_int_eq(answer == ANSWER_OVER_MEMORY, plan_over_memory(best));
		for (int i = 0; planners[i]; i++) {
			enum answer theirs =
				run(&other, &why, planners[i]->name, p, &prices_bytes);

			ck_assert(theirs != ANSWER_PLAN || answer == ANSWER_PLAN);
			if (theirs == ANSWER_PLAN)
				ck_assert_int_le(best->recv_bytes, other->recv_bytes);
			else if (other && answer == ANSWER_OVER_MEMORY)
				ck_assert_int_le(best->peak_live_bytes,
				                 other->peak_live_bytes);
		}
		arena_reset(arena);
	}
	ck_assert_int_gt(fit, 10);
	ck_assert_int_gt(over, 10);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("memory");
	TCase *hand = tcase_create("hand");

	tcase_add_checked_fixture(hand, setup, teardown);
	tcase_set_timeout(hand, 120);
	tcase_add_loop_test(hand, test_words, 0, sizeof(words) / sizeof(*words));
	tcase_add_test(hand, test_devices);
	tcase_add_test(hand, test_too_large);
	tcase_add_test(hand, test_nothing_to_do);
	tcase_add_test(hand, test_best_fits);
	tcase_add_test(hand, test_both_limits);
	tcase_add_test(hand, test_random_problems);
	suite_add_tcase(suite, hand);
	return suite;
}
