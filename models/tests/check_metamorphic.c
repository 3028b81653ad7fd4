/*
 * What must not make a plan of `best` dearer: other names of axes leave its seconds as they
 * are, and so does another order of the dimensions of the array where passes over memory are
 * free; faster links never add any.
 */
#include "compose_pairs.h"
#include "planner_case.h"
#include "tests/tests.h"

#include "price/price.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { PROBLEMS = 1000, RANK = 3 };

/* Sizes of meshes, on machines of as many devices. */
static const struct compose_case cases[] = {
	{{2, 2, 2}, COMPOSE_NODES, {2, 4}, NULL},
	{{4, 2}, COMPOSE_WRAPPED, {4, 2}, NULL},
	{{2, 3, 2}, COMPOSE_OPEN, {3, 4}, NULL},
	{{4, 3}, COMPOSE_NODES, {3, 4}, NULL},
};

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static double best_s(const struct problem *p, const struct machine *m)
{
	struct pricer *pricer = pricer_new(m, NULL);
	struct prices prices = pricer_prices(pricer);
	struct text why = {0};
	struct plan *plan;
	double seconds;

	ck_assert_int_eq(
		planner_run(planner_find("best", 4), &plan, p, &prices, arena, &why),
		ANSWER_PLAN);
	seconds = prices.plan(prices.self, plan).cost;
	text_free(&why);
	pricer_free(pricer);
	return seconds;
}

static struct problem *draw(struct rng *r, const struct compose_case *c)
{
	const struct mesh m = case_mesh(arena, c->mesh);
	const struct shape extent = {.rank = RANK, .dim = {480, 1440, 96}};
	struct atoms atoms = case_atoms(&m);
	struct type from = case_random_type(r, &atoms, &extent, 70);
	struct type to = case_random_type(r, &atoms, &extent, 70);

	return case_of_types(arena, &m, &extent, &from, &to);
}

/* Returns the layout with dimension i where the order says that it goes. */
static struct layout turned(const struct layout *l, const int *order)
{
	struct layout out = layout_replicated(l->rank);

	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, order[dim], &n);

		for (int k = 0; k < n; k++)
			layout_append(&out, dim, part[k]);
	}
	return out;
}

static struct problem *with_dims(const struct problem *p, const int *order)
{
	struct shape extent = {.rank = RANK};
	struct layout from = turned(&p->from, order), to = turned(&p->to, order);

	for (int dim = 0; dim < RANK; dim++)
		extent.dim[dim] = p->array.shape.dim[order[dim]];
	return case_of_layouts(arena, &p->mesh, &extent, &from, &to);
}

static struct problem *with_names(const struct problem *p)
{
	struct mesh m = p->mesh;

	for (int axis = 0; axis < m.naxes; axis++)
		m.axis[axis].name = arena_printf(arena, "%c%d", 'z' - axis, axis);
	return case_of_layouts(arena, &m, &p->array.shape, &p->from, &p->to);
}

static void count(int *n, const struct problem *p, double base_s, double other_s,
                  bool equal, const char *what)
{
	double ratio = other_s / base_s;

	if (base_s == 0 || (ratio <= 1 + 1e-9 && (!equal || ratio >= 1 - 1e-9)))
		return;
	++*n;
	printf("%s: %.4f: %s\n", what, ratio, case_describe(arena, p));
}

START_TEST(test_metamorphic)
{
	static const int order[2][RANK] = {{1, 0, 2}, {2, 0, 1}};
	struct rng *r = rng_new(7);
	int names = 0, dims = 0, faster = 0;

	for (int i = 0; i < PROBLEMS; i++) {
		const struct compose_case *c = &cases[i % 4];
		struct machine *m = compose_machine(arena, c, 1, false);
		struct machine *fast = compose_machine(arena, c, 2, false);
		struct problem *p;
		double base_s;

		p = draw(r, c);
		base_s = best_s(p, m);
		count(&names, p, base_s, best_s(with_names(p), m), true, "names");
		count(&dims, p, base_s, best_s(with_dims(p, order[i / 4 % 2]), m), true,
		      "dimensions");
		count(&faster, p, base_s, best_s(p, fast), false, "faster links");
		arena_reset(arena);
	}
	printf("of %d problems other names change %d, other dimensions %d, faster "
	       "links "
	       "make %d dearer\n",
	       PROBLEMS, names, dims, faster);
	ck_assert_int_eq(names, 0);
	ck_assert_int_eq(dims, 0);
	ck_assert_int_eq(faster, 0);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("metamorphic");
	TCase *all = tcase_create("best");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_set_timeout(all, 300);
	tcase_add_test(all, test_metamorphic);
	suite_add_tcase(suite, all);
	return suite;
}
