/*
 * Bounds of sums: against the fewest messages that bring every sum where it is wanted, found
 * by trying all of them, element by element; and against the plans of all planners.
 */
#include "bound/bound.h"
#include "tests/tests.h"

#include "array/tile.h"
#include "bound_machine.h"
#include "plan_random.h"
#include "planner_case.h"
#include "price/price.h"

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

/* --- problems --------------------------------------------------------------------- */

/*
 * Sums over axes that the source does not use, all of them or only some; over the first axis
 * where it uses all.
 */
static struct problem *draw_problem(struct rng *r, const struct mesh *mesh,
                                    const struct shape *extent)
{
	struct layout from = random_layout(r, mesh, extent->rank);
	struct layout to = random_layout(r, mesh, extent->rank);

	for (int x = 0; x < mesh->naxes; x++) {
		bool used = false;

		for (int k = 0; k < LAYOUT_PARTS_MAX; k++)
			used = used || (from.part[k].size && from.part[k].axis == x);
		if (!used && rng_below(r, 4))
			layout_append(&from, from.rank,
			              (struct part){x, 1, mesh->axis[x].size});
	}
	if (from.nunreduced == 0) {
		from = layout_replicated(extent->rank);
		layout_append(&from, from.rank, (struct part){0, 1, mesh->axis[0].size});
	}
	return case_of_layouts(arena, mesh, extent, &from, &to);
}

/* --- all messages ----------------------------------------------------------------- */

enum { FEW = 4, STATES = 1 << (FEW * FEW) };

/*
 * Of one element: which contributions device d has, in bits 4 d to 4 d + 3, and which
 * devices want them all.
 */
struct asked {
	uint32_t has;
	int all;     /* the bits of all contributions */
	int wanters; /* bit d: device d */
};

static bool is_done(const struct asked *q, uint32_t has)
{
	for (int d = 0; d < FEW; d++)
		if (q->wanters >> d & 1 && (int)(has >> FEW * d & 15) != q->all)
			return false;
	return true;
}

/*
 * Returns the fewest messages after which all who want the sum have it. A message brings one
 * device all that another one has, which is no less than a value made of that can.
 */
static int fewest_messages(const struct asked *q)
{
	static uint8_t after[STATES];
	static uint32_t queue[STATES];
	int first = 0, last = 0;

	memset(after, 255, sizeof(after));
	after[q->has] = 0;
	queue[last++] = q->has;
	while (!is_done(q, queue[first])) {
		uint32_t has = queue[first++];

		for (int k = 0; k < FEW * FEW; k++) {
			uint32_t sent = has >> FEW * (k / FEW) & 15;
			uint32_t then = has | sent << FEW * (k % FEW);

			if (after[then] != 255)
				continue;
			after[then] = after[has] + 1;
			queue[last++] = then;
		}
	}
	return after[queue[first]];
}

static bool has_element(const struct tilemap *t, const struct shape *shape, int32_t d,
                        int64_t row, int64_t column)
{
	int64_t lo[2], hi[2];

	if (!tilemap_has(t, d))
		return false;
	for (int i = 0; i < 2; i++)
		tilemap_interval(t, shape, d, i, &lo[i], &hi[i]);
	return row >= lo[0] && row < hi[0] && column >= lo[1] && column < hi[1];
}

/* Returns the messages of all elements. */
static int all_messages(const struct problem *p)
{
	const struct shape *shape = &p->array.shape;
	struct tilemap from = tilemap_make(&p->from, &p->mesh, shape, arena);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, shape, arena);
	int messages = 0;

	for (int64_t i = 0; i < shape->dim[0] * shape->dim[1]; i++) {
		int64_t row = i / shape->dim[1], column = i % shape->dim[1];
		struct asked q = {.all = (1 << from.partials) - 1};

		for (int32_t d = 0; d < p->ndevices; d++) {
			if (has_element(&from, shape, d, row, column))
				q.has |= UINT32_C(1) << (FEW * d + from.partial[d]);
			if (has_element(&to, shape, d, row, column))
				q.wanters |= 1 << d;
		}
		messages += fewest_messages(&q);
	}
	return messages;
}

/*
 * On a switch whose ports carry a byte per second each way, without latency. Arrays of 5 x 3
 * end in padding on most meshes.
 */
START_TEST(sums_need_as_many_messages)
{
	static const int meshes[][3] = {{2}, {3}, {4}, {2, 2}};
	static const struct link link = {.bandwidth_Bps = 1};
	struct rng *r = rng_new(41);
	int sums = 0;

	for (int k = 0; k < 400; k++) {
		struct mesh mesh = case_mesh(arena, meshes[k % 4]);
		struct shape extent = {.rank = 2, .dim = {k % 3 ? 4 : 5, 3}};
		struct problem *p = draw_problem(r, &mesh, &extent);
		struct machine *m = machine_gpu(arena, 1, FEW, link, link, bound_device);
		struct bound bound = bound_find(p, m, NULL, arena);
		double least_s = 4. * all_messages(p) / p->ndevices;

		ck_assert_msg(bound.s >= least_s * (1 - 1e-9), "%s: %g s, messages %g s",
		              case_describe(arena, p), bound.s, least_s);
		if (bound.what && strncmp(bound.what, "sums", 4) == 0) {
			ck_assert_msg(bound.s <= least_s * (1 + 1e-9),
			              "%s: %g s, messages %g s",
			              case_describe(arena, p), bound.s, least_s);
			sums++;
		}
	}
	ck_assert_int_gt(sums, 20);
	rng_free(r);
}
END_TEST

/* --- plans ------------------------------------------------------------------------ */

/* Returns the seconds that a planner's plan takes on the wires, INFINITY without one. */
static double plan_s(const struct planner *planner, const struct problem *p,
                     const struct machine *m, const struct prices *prices,
                     struct model *model)
{
	struct text why = {0};
	struct plan *plan = NULL;
	struct step_time *step;
	char message[200];
	double sum_s = 0;

	if (planner_run(planner, &plan, p, prices, arena, &why) != ANSWER_PLAN)
		plan = NULL;
	text_free(&why);
	if (!plan)
		return INFINITY;
	step = arena_alloc(arena, (size_t)plan->nsteps + 1, sizeof(*step));
	if (plan_seconds(step, plan, m, NULL, model_clock, model, message,
	                 sizeof(message)) < 0)
		return INFINITY;
	for (int i = 0; i < plan->nsteps; i++)
		sum_s += step[i].wire_s;
	return sum_s;
}

/* Returns how many plans there are of a problem, none of which is below the bound. */
static int hold(const struct problem *p, const struct machine *m)
{
	struct bound bound = bound_find(p, m, NULL, arena);
	struct pricer *pricer = pricer_new(m, NULL);
	struct prices prices = pricer_prices(pricer);
	struct model *model = model_new(m);
	int plans = 0;

	for (int i = 0; planners[i]; i++) {
		double s = plan_s(planners[i], p, m, &prices, model);

		ck_assert_msg(s >= bound.s * (1 - 1e-9),
		              "%s: %g s on %s, below %g s (%s) of %s", planners[i]->name,
		              s, m->name, bound.s, bound.what, case_describe(arena, p));
		plans += isfinite(s);
	}
	model_free(model);
	pricer_free(pricer);
	return plans;
}

START_TEST(no_plan_with_sums_is_below_its_bound)
{
	struct rng *r = rng_new(43);
	int plans = 0;

	for (int k = 0; k < 1500; k++) {
		struct mesh mesh = random_mesh(r, 16);
		struct shape extent = {.rank = 1 + (int)rng_below(r, 3),
		                       .dim = {120, 72, 12}};
		struct problem *p = draw_problem(r, &mesh, &extent);
		struct machine *m = random_any_machine(r, arena, p->ndevices,
		                                       k % 2 ? 1e-6 : 1, k % 3);

		plans += hold(p, m);
		arena_reset(arena);
	}
	ck_assert_int_gt(plans, 3000);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("bound_sums");
	TCase *c = tcase_create("bound_sums");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 240);
	tcase_add_test(c, sums_need_as_many_messages);
	tcase_add_test(c, no_plan_with_sums_is_below_its_bound);
	suite_add_tcase(suite, c);
	return suite;
}
