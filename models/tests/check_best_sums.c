/*
 * Problems with unreduced axes: `best` is no dearer than any other planner, on drawn ones
 * and on some in which tiles had better move before they are summed.
 */
#include "tests/tests.h"

#include "base/rng.h"
#include "notation/notation.h"
#include "plan/check.h"
#include "planner/planner.h"
#include "price/price.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { AXES_MAX = 4, PROBLEMS = 400, DEVICES_MOST = 16 };

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct link nvlink = {.bandwidth_Bps = 450e9, .latency_s = 0.5e-6};
static const struct link nic = {.bandwidth_Bps = 50e9, .latency_s = 2e-6};
static const struct device device = {.memory_Bps = 2e12, .launch_s = 3e-6};

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* --- machines --------------------------------------------------------------------- */

/* Tori and lines of at least n devices, and nodes of GPUs. */
static const struct machine *draw_machine(struct rng *r, int32_t n)
{
	static const int32_t shape[][3] = {{2, 2, 1}, {2, 2, 2}, {4, 2, 1}, {2, 2, 4},
	                                   {4, 4, 1}, {4, 4, 2}, {2, 8, 2}, {8, 4, 1}};
	enum { SHAPES = sizeof(shape) / sizeof(shape[0]) };

	if (rng_below(r, 3) == 0) {
		int32_t gpus = 2 << rng_below(r, 3);

		return machine_gpu(arena, (n + gpus - 1) / gpus, gpus, nvlink, nic,
		                   device);
	}
	for (;;) {
		const int32_t *s = shape[rng_below(r, SHAPES)];
		bool wrap[3];

		for (int i = 0; i < 3; i++)
			wrap[i] = s[i] > 2 && rng_below(r, 2);
		if (s[0] * s[1] * s[2] >= n)
			return machine_torus(arena, s[2] > 1 ? 3 : 2, s, wrap, ici,
			                     device);
	}
}

/* --- problems --------------------------------------------------------------------- */

/* The axes of a drawn mesh, and in which dimension each is: `rank` is unreduced, -1 none. */
struct drawn {
	int n, rank;
	int size[AXES_MAX], order[AXES_MAX], dim[AXES_MAX];
	char first; /* the name of the first axis */
};

static const char *say_mesh(const struct drawn *m)
{
	const char *text = "";

	for (int i = 0; i < m->n; i++)
		text = arena_printf(arena, "%s%s%c=%d", text, i ? "," : "",
		                    m->first + i, m->size[i]);
	return text;
}

/* Returns the axes of a dimension, in their order, each as 'a' and a comma. */
static const char *say_axes(const struct drawn *m, int dim)
{
	const char *text = "";

	for (int i = 0; i < m->n; i++)
		if (m->dim[m->order[i]] == dim)
			text = arena_printf(arena, "%s'%c', ", text,
			                    m->first + m->order[i]);
	return text;
}

static const char *say_layout(const struct drawn *m)
{
	const char *text = "P(", *sums = say_axes(m, m->rank);

	for (int dim = 0; dim < m->rank; dim++)
		text = arena_printf(arena, "%s(%s), ", text, say_axes(m, dim));
	if (*sums)
		text = arena_printf(arena, "%sunreduced={%.*s}", text,
		                    (int)strlen(sums) - 2, sums);
	return arena_printf(arena, "%s)", text);
}

static int32_t draw_sizes(struct drawn *m, struct rng *r, int32_t most)
{
	static const int sizes[] = {2, 2, 4, 3};
	int32_t devices = 1;

	m->n = 0;
	while (m->n < AXES_MAX && (m->n < 1 || rng_below(r, 4))) {
		int size = sizes[rng_below(r, 4)];

		if (devices * size > most)
			break;
		devices *= size;
		m->size[m->n++] = size;
	}
	return devices;
}

/* Puts axes anywhere; none is unreduced. */
static void draw_dims(struct drawn *m, struct rng *r)
{
	for (int i = 0; i < m->n; i++) {
		int j = (int)rng_below(r, (uint32_t)i + 1);

		m->order[i] = m->order[j];
		m->order[j] = i;
		m->dim[i] = (int)rng_below(r, (uint32_t)m->rank + 1) - 1;
	}
}

/* Sums over one axis, or two, or more. */
static void draw_sums(struct drawn *m, struct rng *r)
{
	m->dim[rng_below(r, (uint32_t)m->n)] = m->rank;
	for (int i = 0; i < m->n; i++)
		if (rng_below(r, 4) == 0)
			m->dim[i] = m->rank;
}

/* Draws another mesh of as many devices, with its axes in another order. */
static void draw_other_mesh(struct drawn *m, struct rng *r)
{
	int size[AXES_MAX];

	memcpy(size, m->size, sizeof(size));
	draw_dims(m, r);
	for (int i = 0; i < m->n; i++)
		m->size[i] = size[m->order[i]];
	draw_dims(m, r);
	m->first = 'p';
}

/* Draws a problem; NULL: its texts say none. */
static struct problem *draw_problem(struct rng *r, int32_t most)
{
	static const int extents[] = {8, 16, 64, 48, 512, 24, 7, 30};
	struct drawn from = {.rank = 1 + (int)rng_below(r, 3), .first = 'a'}, to;
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct problem_text t = {.array = rng_below(r, 2) ? "f32[" : "bf16["};
	struct error e = {0};

	draw_sizes(&from, r, most);
	draw_dims(&from, r);
	draw_sums(&from, r);
	to = from;
	draw_dims(&to, r);
	if (rng_below(r, 8) == 0)
		draw_other_mesh(&to, r);
	for (int i = 0; i < from.n && to.first == from.first; i++)
		if (from.dim[i] == from.rank && rng_below(r, 6) == 0)
			to.dim[i] = to.rank;
	for (int dim = 0; dim < from.rank; dim++)
		t.array = arena_printf(arena, "%s%s%d", t.array, dim ? "," : "",
		                       extents[rng_below(r, 8)] << rng_below(r, 4));
	t.array = arena_printf(arena, "%s]", t.array);
	t.mesh = say_mesh(&from);
	t.from = say_layout(&from);
	t.to = say_layout(&to);
	if (to.first != from.first)
		t.to_mesh = say_mesh(&to);
	return problem_make(p, arena, &t, &e) == OK ? p : NULL;
}

/* --- the plans -------------------------------------------------------------------- */

static const char *describe(const struct problem *p, const struct machine *m)
{
	struct text t = {0};

	layout_print(&t, &p->from, &p->mesh, &p->array.shape);
	text_printf(&t, " -> ");
	layout_print(&t, &p->to, &p->to_mesh, &p->array.shape);
	text_printf(&t, " of %d devices on %s", p->ndevices, m->name);
	return text_take(&t, arena);
}

/* Returns what the planner's plan costs, or INFINITY. */
static double cost_of(const struct planner *planner, const struct problem *p,
                      const struct prices *prices)
{
	struct text why = {0};
	struct plan *plan = NULL;
	double cost = INFINITY;

	if (planner_run(planner, &plan, p, prices, arena, &why) == ANSWER_PLAN)
		cost = prices->plan(prices->self, plan).cost;
	text_free(&why);
	return cost;
}

/* Holds `best` to all others, and returns how many of them have a plan. */
static int hold(const struct problem *p, const struct machine *m)
{
	struct pricer *pricer = pricer_new(m, NULL);
	struct prices prices = pricer_prices(pricer);
	double best = cost_of(planner_find("best", 4), p, &prices);
	int plans = 0;

	for (int i = 0; planners[i]; i++) {
		double cost = cost_of(planners[i], p, &prices);

		if (strcmp(planners[i]->name, "best") == 0 || !isfinite(cost))
			continue;
		plans++;
		ck_assert_msg(best <= cost * (1 + 1e-9), "%s takes %g s, best %g s: %s",
		              planners[i]->name, cost, best, describe(p, m));
	}
	pricer_free(pricer);
	return plans;
}

START_TEST(best_is_no_dearer_with_sums)
{
	struct rng *r = rng_new(19);
	int planned = 0;

	for (int k = 0; k < PROBLEMS; k++) {
		struct problem *p = draw_problem(r, DEVICES_MOST);

		if (p && p->ndevices > 1)
			planned += hold(p, draw_machine(r, p->ndevices)) > 1;
		arena_reset(arena);
	}
	ck_assert_int_gt(planned, PROBLEMS / 2);
	rng_free(r);
}
END_TEST

/*
 * Two lines of two chips. Columns lie over a, and every chip has a partial sum over b. To
 * bring a to the rows first, while unreduced, sends half of 8 KiB to one neighbour; the sum
 * over b then halves the columns: 4 KiB each, both times over one link. To sum onto the rows
 * first costs as much, but what is left then is a permutation, in which chips swap
 * tiles two hops away, once more 4 KiB: it waits one latency longer.
 */
START_TEST(tiles_move_before_the_sum)
{
	const bool open[] = {false, false};
	const struct machine *m =
		machine_torus(arena, 2, (int32_t[]){2, 2}, open, ici, device);
	struct problem_text t = {.array = "f32[8,512]",
	                         .mesh = "a=2,b=2",
	                         .from = "P(None, 'a', unreduced={'b'})",
	                         .to = "P('a', 'b')"};
	const double bytes = 4096, wire_s = bytes / ici.bandwidth_Bps + ici.latency_s;
	const double all_to_all_s = wire_s + 4 * 2 * bytes / device.memory_Bps;
	const double sum_s = wire_s + 3 * bytes / device.memory_Bps;
	struct problem p;
	struct error e = {0};
	struct pricer *pricer = pricer_new(m, NULL);
	struct prices prices = pricer_prices(pricer);
	double cost;

	ck_assert_msg(problem_make(&p, arena, &t, &e) == OK, "%s", e.text);
	cost = cost_of(planner_find("best", 4), &p, &prices);
	ck_assert_double_le(cost,
	                    (all_to_all_s + sum_s + 2 * device.launch_s) * (1 + 1e-9));
	pricer_free(pricer);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("best_sums");
	TCase *t = tcase_create("sums");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, best_is_no_dearer_with_sums);
	tcase_add_test(t, tiles_move_before_the_sum);
	suite_add_tcase(suite, t);
	return suite;
}
