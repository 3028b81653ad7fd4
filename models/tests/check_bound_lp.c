#include "bound/bound.h"
#include "tests/tests.h"

#include "bound_machine.h"
#include "flow/forest.h"
#include "glpk_flows.h"
#include "plan_random.h"
#include "planner_case.h"
#include "price/price.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Bounds against the best that flows of data can do (glpk_flows.h): no plan can do better,
 * and every cut says less.
 */

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* --- bounds ----------------------------------------------------------------------- */

static const struct {
	const char *name;
	int sizes[4]; /* of the mesh */
	int naxes;    /* of the torus; 0: nodes */
	int32_t shape[3];
	bool wrap[3];
	int problems;
} rows[] = {
	{"ring of 8", {8}, 1, {8}, {true, true, true}, 20},
	{"line of 8", {2, 4}, 1, {8}, {false}, 20},
	{"2x4", {2, 4}, 2, {2, 4}, {true, true, true}, 40},
	{"2x2x2", {2, 2, 2}, 3, {2, 2, 2}, {true, true, true}, 40},
	{"3x3", {3, 3}, 2, {3, 3}, {true, true, true}, 40},
	{"4x4", {4, 4}, 2, {4, 4}, {true, true, true}, 20},
	{"4x4 lines", {4, 4}, 2, {4, 4}, {false}, 20},
	{"2x2x4", {2, 2, 4}, 3, {2, 2, 4}, {true, true, true}, 20},
	{"2 nodes of 4", {2, 4}, 0, {2, 4}, {false}, 40},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* A problem, and the same of an array that is SCALE times as long in both dimensions. */
struct drawn {
	struct problem *small, *large;
};

enum { SCALE = 256 };

static struct drawn drawn_of(const struct mesh *mesh, const struct layout *from,
                             const struct layout *to)
{
	struct shape small = {.rank = 2, .dim = {144, 144}};
	struct shape large = {.rank = 2, .dim = {144 * SCALE, 144 * SCALE}};

	return (struct drawn){case_of_layouts(arena, mesh, &small, from, to),
	                      case_of_layouts(arena, mesh, &large, from, to)};
}

static struct drawn draw(struct rng *r, const int *sizes)
{
	struct mesh mesh = case_mesh(arena, sizes);
	struct layout from = random_layout(r, &mesh, 2), to = random_layout(r, &mesh, 2);

	return drawn_of(&mesh, &from, &to);
}

static struct machine *machine_of(int row, double latency_s)
{
	struct link link = {"", 100e9, latency_s}, nic = {"", 25e9, 2 * latency_s};

	if (rows[row].naxes == 0)
		return machine_gpu(arena, rows[row].shape[0], rows[row].shape[1], link,
		                   nic, bound_device);
	return machine_torus(arena, rows[row].naxes, rows[row].shape, rows[row].wrap,
	                     link, bound_device);
}

/*
 * Logarithms of how far the best flows are above bounds, those of schedules (flow/forest.h)
 * above the best, and the wires of plans of 5 GB, which may be schedules, with latencies.
 */
struct gaps {
	int n;
	double logs, most, schedules, worst, plans, worst_plan;
};

/* Returns the seconds of the busiest link of a schedule. */
static double schedule_s(const struct problem *p, const struct machine *m)
{
	int32_t *platform = arena_alloc(arena, (size_t)p->ndevices, sizeof(*platform));
	struct network network;
	struct demand demand;
	struct symmetry symmetry;
	struct forest forest;

	for (int32_t d = 0; d < p->ndevices; d++)
		platform[d] = d;
	ck_assert(network_make(&network, m, platform, p->ndevices, FLOW_ALL, arena) &&
	          demand_make(&demand, p, arena) &&
	          (!demand.sums || network_turn(&network, arena)));
	symmetry_find(&symmetry, &network, &demand, &p->mesh, arena);
	ck_assert(forest_make(&forest, &network, &demand, &symmetry, false, arena));
	return forest.busiest_s;
}

/* Returns the seconds on the wires of the plan of `best` with links of 1 us. */
static double plan_s(const struct problem *p, struct machine *m)
{
	struct pricer *pricer;
	struct prices prices;
	struct model *model;
	struct plan *plan = NULL;
	struct step_time *times;
	struct text why = {0};
	char message[200];
	double wire_s = 0;

	m->tuning = tuning_default;
	m->tuning.value[TUNING_SCHEDULED] = 1;
	pricer = pricer_new(m, NULL);
	prices = pricer_prices(pricer);
	model = model_new(m);
	ck_assert_int_eq(
		planner_run(planner_find("best", 4), &plan, p, &prices, arena, &why),
		ANSWER_PLAN);
	times = arena_alloc(arena, (size_t)plan->nsteps + 1, sizeof(*times));
	ck_assert_double_ge(plan_seconds(times, plan, m, NULL, model_clock, model,
	                                 message, sizeof(message)),
	                    0);
	for (int i = 0; i < plan->nsteps; i++)
		wire_s += times[i].wire_s;
	text_free(&why);
	model_free(model);
	pricer_free(pricer);
	return wire_s;
}

/* Compares bound and flows, and names what the bound misses by more than 5 %. */
static void compare(struct gaps *g, int row, const struct drawn *drawn)
{
	const struct problem *p = drawn->small;
	struct machine *m = machine_of(row, 0);
	double least_s = bound_s(p, m, NULL), best_s, sent_s, planned;

	if (least_s == 0)
		return;
	sent_s = schedule_s(p, m);
	best_s = glpk_flows_s(p, m, arena);
	ck_assert_msg(least_s <= best_s * (1 + 1e-6), "%s, %s: bound %g s, flows %g s",
	              rows[row].name, case_describe(arena, p), least_s, best_s);
	if (best_s > 1.05 * least_s)
		printf("%s, %s: %.3f\n", rows[row].name, case_describe(arena, p),
		       best_s / least_s);
	ck_assert_double_ge(sent_s, best_s * (1 - 1e-6));
	planned = plan_s(drawn->large, machine_of(row, 1e-6)) / (SCALE * SCALE) / best_s;
	ck_assert_double_ge(planned, 1 - 1e-6);
	g->plans += log(planned);
	g->worst_plan = fmax(g->worst_plan, planned);
	g->schedules += log(sent_s / best_s);
	g->worst = fmax(g->worst, sent_s / best_s);
	g->logs += log(best_s / least_s);
	g->most = fmax(g->most, best_s / least_s);
	g->n++;
}

/* Prints the gaps of a row (.ci/optimal reads them), and holds plans and schedules to limits. */
static void report(const struct gaps *g, int row, const char *what)
{
	double schedules = exp(g->schedules / g->n), plans = exp(g->plans / g->n);

	printf("%s%s: %d problems, best flows over bound: mean %.4f, most %.3f; "
	       "schedules over these: mean %.3f, most %.3f; "
	       "plans of best over these: mean %.3f, most %.3f\n",
	       rows[row].name, what, g->n, exp(g->logs / g->n), g->most, schedules,
	       g->worst, plans, g->worst_plan);
	ck_assert_double_le(schedules, 1.10);
	ck_assert_double_le(plans, 1.25);
}

START_TEST(bounds_are_near_the_best_flows)
{
	struct rng *r = rng_new(100);
	struct gaps all = {0};

	for (int row = 0; row < ROWS; row++) {
		struct gaps g = {0};

		for (int k = 0; k < rows[row].problems; k++) {
			struct drawn drawn = draw(r, rows[row].sizes);

			compare(&g, row, &drawn);
			arena_reset(arena);
		}
		report(&g, row, "");
		all.n += g.n;
		all.logs += g.logs;
	}
	ck_assert_int_gt(all.n, 150);
	ck_assert_double_le(exp(all.logs / all.n), 1.01);
	rng_free(r);
}
END_TEST

/* --- sums ------------------------------------------------------------------------- */

/* A problem in which no two devices have the same contribution, or want the same sum. */
static struct drawn draw_sum(struct rng *r, const int *sizes)
{
	struct mesh mesh = case_mesh(arena, sizes);
	struct layout from = layout_replicated(2), to = layout_replicated(2);
	int summed = (int)rng_below(r, (uint32_t)mesh.naxes);

	for (int k = 0; k < mesh.naxes; k++) {
		struct part part = {k, 1, mesh.axis[k].size};

		layout_append(&from, k == summed ? 2 : (int)rng_below(r, 3), part);
		layout_append(&to, (int)rng_below(r, 2), part);
	}
	return drawn_of(&mesh, &from, &to);
}

/* No bound of a sum is above the best flows, which run backwards, and no plan below. */
START_TEST(sums_are_near_the_best_flows)
{
	struct rng *r = rng_new(101);

	for (int row = 0; row < ROWS; row++) {
		struct gaps g = {0};

		/* programs of 16 devices take half a minute together */
		if (machine_of(row, 0)->ndevices > 9)
			continue;
		for (int k = 0; k < 12; k++) {
			struct drawn drawn = draw_sum(r, rows[row].sizes);

			compare(&g, row, &drawn);
			arena_reset(arena);
		}
		report(&g, row, ", sums");
		ck_assert_int_gt(g.n, 8);
	}
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("bound_lp");
	TCase *c = tcase_create("bound_lp");

	tcase_set_timeout(c, 240);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, bounds_are_near_the_best_flows);
	tcase_add_test(c, sums_are_near_the_best_flows);
	suite_add_tcase(suite, c);
	return suite;
}
