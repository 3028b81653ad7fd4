/* The planner xla-2021 over whole families of problems: counts, bytes, and refusals. */
#include "tests/plan_count.h"
#include "tests/tests.h"
#include "xla_text.h"

#include "base/rng.h"
#include "plan/check.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* A plan that passes plan_check, or NULL with the reason not to have one. */
static struct plan *checked_plan(const struct planner *planner, const struct problem *p,
                                 const char **reason)
{
	struct plan *plan = NULL;
	struct text why = {0};
	enum answer answer = planner->plan(&plan, p, &prices_bytes, p->arena, &why);

	if (answer == ANSWER_PLAN && !plan_check(plan, &why))
		ck_abort_msg("%s", why.s);
	if (answer != ANSWER_PLAN) {
		ck_assert_int_eq(answer, ANSWER_NOT_APPLICABLE);
		ck_assert(!plan);
	}
	*reason = text_take(&why, p->arena);
	return plan;
}

/* Bytes received by a plan's steps of one op, each by its busiest device. */
static int64_t bytes_of(const struct plan *plan, enum op op)
{
	int64_t bytes = 0;

	for (int k = 0; k < plan->nsteps; k++)
		if (plan->step[k].op == op)
			bytes += plan->step[k].recv_bytes;
	return bytes;
}

/* What the interpreter says the busiest device receives over all steps. */
static int64_t counted_bytes(const struct plan *plan, struct arena *a)
{
	int64_t *received, *real, most = 0;
	int32_t n = plan->problem->mesh.ndevices;

	plan_count(plan, a, &received, &real);
	for (int32_t d = 0; d < n; d++) {
		int64_t sum = 0;

		for (int k = 0; k < plan->nsteps; k++)
			sum += received[k * n + d];
		most = sum > most ? sum : most;
	}
	return dtype_bytes(plan->problem->array.dtype, most);
}

/*
 * Full rematerialization gathers (tiles - 1) source tiles whatever the target and holds
 * the full array.
 */
static void check_rematerialized(const struct plan *plan)
{
	const struct problem *p = plan->problem;
	const struct dtype *type = p->array.dtype;
	int64_t all = dtype_bytes(type, shape_elements(&p->array.shape));
	int64_t tile =
		dtype_bytes(type, layout_local_elements(&p->from, &p->array.shape));

	ck_assert_int_eq(bytes_of(plan, OP_ALL_GATHER), all - tile);
	ck_assert_int_eq(plan->recv_bytes, all - tile);
	ck_assert_int_eq(plan->peak_array_bytes, all);
	ck_assert_int_eq(plan->step[plan->nsteps - 1].op, OP_SLICE);
}

/*
 * Plans over all ordered pairs of layouts of whole axes, and how many of them hold the
 * full array although neither end is replicated, counted by other code.
 */
static const struct {
	const char *mesh, *array;
	int pairs, full_2021, full_today;
} census_table[] = {
	{"2,4", "64,64", 110, 38, 12},     {"4,4", "64,64", 110, 32, 8},
	{"2,3", "36,36", 110, 46, 20},     {"2,2,2", "64,64", 2352, 996, 324},
	{"2,4", "64,64,64", 342, 162, 60}, {"2,2,2", "64,64,64", 11130, 6342, 2034},
};

static int count_full(const struct planner *planner, int row)
{
	struct mesh m = mesh_of(census_table[row].mesh);
	struct array array = array_of(census_table[row].array);
	struct layout *all = arena_alloc(arena, 200, sizeof(*all));
	int n = all_layouts(all, array.shape.rank, &m), full = 0;
	struct arena *own = arena_new();
	const char *reason;

	ck_assert_int_eq(n * (n - 1), census_table[row].pairs);
	for (int i = 0; i < n * n; i++) {
		const struct layout *from = &all[i / n], *to = &all[i % n];
		struct problem *p;
		struct plan *plan;

		if (from == to)
			continue;
		p = problem_of(&array, &m, NULL, from, to, own);
		plan = checked_plan(planner, p, &reason);
		ck_assert_msg(plan, "%s", reason);
		ck_assert_int_eq(plan->recv_bytes, counted_bytes(plan, own));
		full += plan->full_remat;
		if (plan->full_remat)
			check_rematerialized(plan);
		arena_reset(own);
	}
	arena_free(own);
	return full;
}

START_TEST(census)
{
	ck_assert_int_eq(count_full(&planner_xla_2021, _i), census_table[_i].full_2021);
	ck_assert_int_eq(count_full(&planner_xla, _i), census_table[_i].full_today);
}
END_TEST

/* --- any device lists --- */

/*
 * Dimensions are multiples of the squared number of devices, where no rule loses data,
 * so every problem has a plan.
 */
START_TEST(random_device_lists)
{
	const struct planner *planner = _i % 2 ? &planner_xla : &planner_xla_2021;
	struct rng *rng = rng_new(20211130u + (unsigned)_i);
	int seen[OPS] = {0};

	for (int i = 0; i < 1500; i++) {
		int32_t n = 2 + (int32_t)rng_below(rng, 15);
		struct array array = array_of("1,1,1");
		struct mesh m = {.naxes = 1, .axis = {{"x", n}}, .ndevices = n};
		struct layout from, to;
		struct plan *plan;
		const char *reason;

		array.shape.rank = 1 + (int)rng_below(rng, 3);
		for (int d = 0; d < array.shape.rank; d++)
			array.shape.dim[d] = n * n * (1 + (int)rng_below(rng, 3));
		from = layout_of_tiling(
			random_tiling(rng, array.shape.rank, n, i % 2, arena), arena);
		to = layout_of_tiling(
			random_tiling(rng, array.shape.rank, n, i % 3 == 0, arena),
			arena);
		plan = checked_plan(planner,
		                    problem_of(&array, &m, NULL, &from, &to, arena),
		                    &reason);
		ck_assert_msg(plan, "%s", reason);
		ck_assert_int_eq(plan->recv_bytes, counted_bytes(plan, arena));
		if (plan->full_remat && planner == &planner_xla_2021)
			check_rematerialized(plan);
		for (int k = 0; k < plan->nsteps; k++)
			seen[plan->step[k].op]++;
		arena_reset(arena);
	}
	rng_free(rng);
	for (int op = OP_SLICE; op <= OP_PERMUTE; op++)
		ck_assert_int_gt(seen[op], 20);
}
END_TEST

/* Two meshes over the same devices meet in device lists. */
START_TEST(two_meshes)
{
	struct mesh m = mesh_of("2,4"), other = mesh_of("4,2");
	struct array array = array_of("48,80");
	struct layout from = axes_of("x,y", &m), to = axes_of("x,y", &other);
	const char *reason;
	struct plan *plan =
		checked_plan(&planner_xla_2021,
	                     problem_of(&array, &m, &other, &from, &to, arena), &reason);

	/* One swap makes [4,2] of [2,4]; devices 1, 2 and 5, 6 then change places. */
	ck_assert_msg(plan, "%s", reason);
	ck_assert_int_eq(plan->nsteps, 2);
	ck_assert_int_eq(plan->step[0].op, OP_ALL_TO_ALL);
	ck_assert_int_eq(plan->step[1].op, OP_PERMUTE);
}
END_TEST

/* --- refusals --- */

static const struct {
	const char *mesh, *array, *from, *to;
	const char *reason; /* "" for a plan */
} refusal_table[] = {
	/* tiles of 2 rows cut into 4, of 4, and of 3 * 4 */
	{"8", "4,8", "[2,4]", "[4,2]", "loses data"},
	{"8", "8,8", "[2,4]", "[4,2]", ""},
	{"8", "24,8", "[2,4]", "[4,2]", ""},
	{"8", "12,8", "[2,4]", "[4,2]", "loses data"},
	/* the other dimension; a dimension cut for the first time */
	{"8", "8,4", "[4,2]", "[2,4]", "loses data"},
	{"8", "8,8", "[1,8]", "[8,1]", ""},
	{"8", "4,8", "[2,1,4] r", "[1,2,4] r", ""},
	/* swaps in the middle of partial rules */
	{"6", "6,6", "[2,3]", "[1,2,3] r", ""},
	/* no multiple of the shard count, at either end (check_xla_placed.c) */
	{"2,4", "5,8", "x,-", "y,-", ""},
	{"2,4", "6,8", "x,-", "y,-", ""},
	{"2,4", "8,6", "-,-", "-,y", ""},
	{"4", "1,6", "x,-", "-,-", ""},
	/* two shards of 4 rows on both sides: the plan runs on 8 rows */
	{"2,4", "7,8", "x,-", "x,y", ""},
	{"2,4", "7,8", "x,y", "y,x", ""},
	{"2,4", "7,16", "x,y", "x,-", ""},
	{"2,2", "7,5", "x,y", "y,x", ""},
};

START_TEST(refusals)
{
	struct mesh m = mesh_of(refusal_table[_i].mesh);
	struct array array = array_of(refusal_table[_i].array);
	struct layout from = layout_from(refusal_table[_i].from, &m, arena);
	struct layout to = layout_from(refusal_table[_i].to, &m, arena);
	const char *reason;
	struct plan *plan =
		checked_plan(&planner_xla_2021,
	                     problem_of(&array, &m, NULL, &from, &to, arena), &reason);

	ck_assert_int_eq(!plan, refusal_table[_i].reason[0] != 0);
	ck_assert_msg(strstr(reason, refusal_table[_i].reason), "%s", reason);
}
END_TEST

/*
 * Swaps 1>3, 0>1, 2>0 in this order: fused, 2>0 comes first, and 2 tiles do not divide
 * by 4. Swaps 2>0, 1>2, 3>1: fused, 3>1 comes before 1>2, which leads to [2,1,8,4].
 */
static const struct {
	const char *devices, *array, *from, *to, *says;
} failing_table[] = {
	{"16", "64,64,64,64", "[4,2,2,1]", "[2,4,1,2]",
         "from dimension 2, which has 2, to dimension 0, which has 4, before those"},
	{"64", "64,64,64,64", "[1,4,2,8]", "[2,8,4,1]",
         "leads to 2x1x8x4 shards in place of 2x8x4x1"},
};

START_TEST(failed_checks)
{
	struct mesh m = mesh_of(failing_table[_i].devices);
	struct array array = array_of(failing_table[_i].array);
	struct layout from = layout_from(failing_table[_i].from, &m, arena);
	struct layout to = layout_from(failing_table[_i].to, &m, arena);
	struct problem *p = problem_of(&array, &m, NULL, &from, &to, arena);
	struct text t = {0};
	const char *reason;

	ck_assert(checked_plan(&planner_xla_2021, p, &reason));
	ck_assert(!checked_plan(&planner_xla, p, &reason));
	ck_assert_msg(strstr(reason, "failed check") &&
	                      strstr(reason, failing_table[_i].says),
	              "%s", reason);
	xla_explain(&t, p, true);
	ck_assert(strstr(text_take(&t, arena), failing_table[_i].says));
}
END_TEST

START_TEST(kinds_refused)
{
	struct mesh m = mesh_of("2,3");
	struct array array = array_of("6,6");
	struct layout plain = axes_of("x,y", &m), sum = axes_of("x,-", &m);
	struct part y = {.axis = 1, .pre = 1, .size = 3};
	const char *reason;
	struct plan *plan;

	ck_assert(layout_append(&sum, 2, y));
	ck_assert(!checked_plan(&planner_xla_2021,
	                        problem_of(&array, &m, NULL, &sum, &plain, arena),
	                        &reason));
	ck_assert(strstr(reason, "unreduced"));
	ck_assert(!checked_plan(&planner_xla_2021,
	                        problem_of(&array, &m, NULL, &plain, &sum, arena),
	                        &reason));
	ck_assert(strstr(reason, "unreduced"));
	/* Equal shardings are no reshard, whatever they are (UnreducedParam). */
	plan = checked_plan(&planner_xla,
	                    problem_of(&array, &m, NULL, &sum, &sum, arena), &reason);
	ck_assert_msg(plan, "%s", reason);
	ck_assert_int_eq(plan->nsteps, 0);
}
END_TEST

START_TEST(scalar_needs_nothing)
{
	struct mesh m = mesh_of("3");
	struct array array = array_of("1");
	struct layout l = layout_replicated(0);
	const char *reason;
	struct plan *plan;

	array.shape.rank = 0;
	plan = checked_plan(&planner_xla_2021,
	                    problem_of(&array, &m, NULL, &l, &l, arena), &reason);
	ck_assert_msg(plan, "%s", reason);
	ck_assert_int_eq(plan->nsteps, 0);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("xla_plan");
	TCase *tc = tcase_create("xla_plan");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, census, 0, COUNT(census_table));
	tcase_add_loop_test(tc, random_device_lists, 0, 4);
	tcase_add_test(tc, two_meshes);
	tcase_add_loop_test(tc, refusals, 0, COUNT(refusal_table));
	tcase_add_loop_test(tc, failed_checks, 0, COUNT(failing_table));
	tcase_add_test(tc, kinds_refused);
	tcase_add_test(tc, scalar_needs_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
