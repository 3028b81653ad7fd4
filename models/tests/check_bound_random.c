#include "bound/bound.h"
#include "tests/tests.h"

#include "bound_machine.h"
#include "notation/notation.h"
#include "plan_random.h"
#include "price/price.h"

#include <check.h>

#include <math.h>
#include <stdio.h>

/*
 * On random problems and machines: no plan of any planner is below its bound, and what
 * must not change a bound does not.
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

static struct problem *problem_read(struct problem_text *t)
{
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, arena, t, &e) == OK, "%s", e.text);
	return p;
}

/* Two meshes on two overlapping lists of devices. */
static struct problem *random_crossing(struct rng *r)
{
	struct problem_text t = {.array = "f32[36,30]"};
	int a = 1 + (int)rng_below(r, 4), b = 1 + (int)rng_below(r, 4);
	int at = (int)rng_below(r, 8), to_at = (int)rng_below(r, 8);
	static const char *const layout[] = {"P()",          "P('x')",
	                                     "P(None,'x')",  "P('y','x')",
	                                     "P(('x','y'))", "P('x','y')"};

	t.mesh = arena_printf(arena, "x=%d,y=2", a);
	t.to_mesh = arena_printf(arena, "x=3,y=%d", b);
	t.devices = arena_printf(arena, "%d-%d", at, at + 2 * a - 1);
	t.to_devices = arena_printf(arena, "%d-%d", to_at, to_at + 3 * b - 1);
	t.from = layout[rng_below(r, 6)];
	t.to = layout[rng_below(r, 6)];
	return problem_read(&t);
}

/* Sums over an axis that the source layout does not use, if there is one. */
static struct problem *random_sum(struct rng *r)
{
	struct problem *p = random_problem(r, arena, 16);

	for (int x = 0; x < p->mesh.naxes; x++) {
		bool used = false;

		for (int k = 0; k < LAYOUT_PARTS_MAX; k++)
			used = used ||
			       (p->from.part[k].size && p->from.part[k].axis == x);
		if (!used)
			layout_append(&p->from, p->from.rank,
			              (struct part){x, 1, p->mesh.axis[x].size});
	}
	problem_finish(p);
	return p;
}

static struct problem *random_any(struct rng *r)
{
	switch (rng_below(r, 5)) {
	case 0:
		return random_listed_problem(r, arena, 12);
	case 1:
		return random_crossing(r);
	case 2:
		return random_sum(r);
	default:
		return random_problem(r, arena, 16);
	}
}

/* The problem's platform devices, else the first, in any order. */
static struct placement random_placement(struct rng *r, const struct problem *p,
                                         const struct machine *m)
{
	if (p->platform || rng_below(r, 2))
		return (struct placement){p->ndevices, p->platform};
	return (struct placement){p->ndevices, random_order(r, m->ndevices, arena)};
}

static int32_t devices_needed(const struct problem *p)
{
	int32_t n = p->ndevices;

	for (int32_t d = 0; d < p->ndevices && p->platform; d++)
		n = p->platform[d] >= n ? p->platform[d] + 1 : n;
	return n;
}

/* Seconds on the wires, < 0 where the machine cannot run the plan. */
static double wire_s(const struct plan *plan, const struct machine *m,
                     const struct placement *place, struct model *model)
{
	struct step_time *step =
		arena_alloc(arena, (size_t)plan->nsteps + 1, sizeof(*step));
	char message[200];
	double sum_s = 0;

	if (plan_seconds(step, plan, m, place, model_clock, model, message,
	                 sizeof(message)) < 0)
		return -1;
	for (int i = 0; i < plan->nsteps; i++)
		sum_s += step[i].wire_s;
	return sum_s;
}

/* Fails with all that is needed to see it again. */
static void check_above(double time_s, const struct bound *bound, const char *planner,
                        const struct problem *p, const struct machine *m, int seed)
{
	struct text t = {0};

	if (time_s >= bound->s * (1 - 1e-9))
		return;
	layout_print(&t, &p->from, &p->mesh, &p->array.shape);
	text_printf(&t, " -> ");
	layout_print(&t, &p->to, &p->to_mesh, &p->array.shape);
	ck_abort_msg("seed %d: %s takes %g s on %s, below the bound %g s (%s) of %s",
	             seed, planner, time_s, m->name, bound->s, bound->what, t.s);
}

/* Times over bounds of the best plan, on a scale of powers of sqrt(2). */
struct tightness {
	int n, plans, unbounded, at[9];
	double logs;
};

static void tightness_add(struct tightness *t, double ratio)
{
	int k = 0;

	while (k < 8 && ratio > 1.0001 * pow(2, k / 2.))
		k++;
	t->at[k]++;
	t->n++;
	t->logs += log(ratio);
}

static void tightness_print(const struct tightness *t, const char *of)
{
	printf("%s: %d plans, %d problems with a bound (%d without); best over bound:",
	       of, t->plans, t->n, t->unbounded);
	for (int k = 0; k < 9; k++)
		printf(" %s%.2f %.0f%%", k < 8 ? "<=" : ">",
		       pow(2, (k < 8 ? k : 7) / 2.), 100. * t->at[k] / t->n);
	printf(", geometric mean %.2f\n", exp(t->logs / t->n));
}

/* Every planner's plan of one random problem on one random machine. */
static void one_problem(struct tightness *t, int seed, double latency, bool alike)
{
	struct rng *r = rng_new((uint64_t)seed);
	struct problem *p = random_any(r);
	struct machine *m =
		random_any_machine(r, arena, devices_needed(p), latency, alike);
	struct placement place = {p->ndevices, p->platform};
	struct model *model = model_new(m);
	struct pricer *pricer;
	struct prices prices;
	struct bound bound;
	double best_s = INFINITY;

	if (!alike)
		place = random_placement(r, p, m);
	bound = bound_find(p, m, &place, arena);
	pricer = pricer_new(m, &place);
	prices = pricer_prices(pricer);
	for (int i = 0; planners[i]; i++) {
		struct text why = {0};
		struct plan *plan;
		double time_s = -1;

		if (planner_run(planners[i], &plan, p, &prices, arena, &why) ==
		    ANSWER_PLAN)
			time_s = wire_s(plan, m, &place, model);
		text_free(&why);
		if (time_s < 0)
			continue;
		t->plans++;
		check_above(time_s, &bound, planners[i]->name, p, m, seed);
		best_s = fmin(best_s, time_s);
	}
	if (bound.s > 0 && isfinite(best_s))
		tightness_add(t, best_s / bound.s);
	else
		t->unbounded++;
	pricer_free(pricer);
	model_free(model);
	rng_free(r);
}

enum { PROBLEMS = 2500 };

START_TEST(no_plan_is_below_its_bound)
{
	static const char *const of[][2] = {
		{"small arrays, odd machines", "small arrays"},
		{"large arrays, odd machines", "large arrays"}};

	for (int alike = 0; alike < 2; alike++) {
		struct tightness t = {0};

		for (int seed = 1; seed <= PROBLEMS; seed++) {
			one_problem(&t, seed, _i ? 1e-6 : 1, alike);
			arena_reset(arena);
		}
		ck_assert_int_gt(t.plans, 2 * PROBLEMS);
		ck_assert_int_gt(t.n, PROBLEMS / 2);
		tightness_print(&t, of[_i][alike]);
	}
}
END_TEST

/* Plans of random steps, most of them no planner's. */
START_TEST(no_random_plan_is_below_its_bound)
{
	struct rng *r = rng_new(7);
	int bounded = 0;

	for (int k = 0; k < 2000; k++) {
		struct plan *plan = random_plan(r, arena, 16, 5);
		const struct problem *p = plan->problem;
		struct machine *m = random_any_machine(r, arena, devices_needed(p),
		                                       k % 2 ? 1e-6 : 1, k % 3);
		struct placement place = random_placement(r, p, m);
		struct bound bound = bound_find(p, m, &place, arena);
		struct model *model = model_new(m);
		double time_s = wire_s(plan, m, &place, model);

		if (time_s >= 0)
			check_above(time_s, &bound, "random", p, m, k);
		bounded += bound.s > 0 && time_s >= 0;
		model_free(model);
		arena_reset(arena);
	}
	ck_assert_int_gt(bounded, 500);
	rng_free(r);
}
END_TEST

/* --- what must not change a bound ------------------------------------------------- */

START_TEST(more_bandwidth_never_raises_it)
{
	struct rng *r = rng_new(11);

	for (int k = 0; k < 2000; k++) {
		struct problem *p = random_any(r);
		struct machine *m =
			random_any_machine(r, arena, devices_needed(p), 1, k % 2);
		struct placement place = random_placement(r, p, m);
		struct link *link =
			arena_dup(arena, m->link, (size_t)m->nlinks, sizeof(*link));
		double before_s = bound_s(p, m, &place), after_s;

		link[rng_below(r, (uint32_t)m->nlinks)].bandwidth_Bps *= 3;
		m->link = link;
		after_s = bound_s(p, m, &place);
		ck_assert_msg(after_s <= before_s * (1 + 1e-12), "%g to %g", before_s,
		              after_s);
		for (int32_t l = 0; l < m->nlinks; l++)
			link[l].bandwidth_Bps *= 5;
		ck_assert(bound_s(p, m, &place) <= after_s);
		arena_reset(arena);
	}
	rng_free(r);
}
END_TEST

static struct layout turned(const struct layout *l)
{
	struct layout out = layout_replicated(l->rank);
	int n;

	for (int dim = 0; dim <= l->rank; dim++) {
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++)
			layout_append(&out, dim < l->rank ? l->rank - 1 - dim : dim,
			              part[k]);
	}
	return out;
}

START_TEST(the_order_of_dimensions_does_not_matter)
{
	struct rng *r = rng_new(13);

	for (int k = 0; k < 2000; k++) {
		struct problem *p =
			rng_below(r, 2) ? random_problem(r, arena, 16) : random_sum(r);
		struct problem q = *p;
		struct machine *m =
			random_any_machine(r, arena, devices_needed(p), 1, k % 2);
		int rank = p->array.shape.rank;

		for (int i = 0; i < rank; i++)
			q.array.shape.dim[i] = p->array.shape.dim[rank - 1 - i];
		q.from = turned(&p->from);
		q.to = turned(&p->to);
		ck_assert(bound_s(p, m, NULL) == bound_s(&q, m, NULL));
		arena_reset(arena);
	}
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("bound_random");
	TCase *c = tcase_create("bound_random");

	tcase_set_timeout(c, 240);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, no_plan_is_below_its_bound, 0, 2);
	tcase_add_test(c, no_random_plan_is_below_its_bound);
	tcase_add_test(c, more_bandwidth_never_raises_it);
	tcase_add_test(c, the_order_of_dimensions_does_not_matter);
	suite_add_tcase(suite, c);
	return suite;
}
