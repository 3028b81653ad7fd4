/*
 * The exact search where a path is known, and its bounds with it, against the search where
 * none is: plain Dijkstra, which check_synth_paths.c holds to Bellman and Ford.
 */
#include "planner_case.h"
#include "tariff.h"
#include "tests/tests.h"

#include "planner/synth/exact.h"

#include <check.h>

struct known {
	int mesh[8];
	int rank, cases;
};

static const struct known knowns[] = {
	{{2, 2, 2}, 4, 200}, {{2, 2, 2, 2}, 3, 200}, {{2, 2, 2, 2, 2}, 3, 60},
	{{2, 3, 2}, 3, 200}, {{4, 2, 3}, 2, 100},    {{3, 3, 3, 3}, 3, 60},
	{{4, 4, 2}, 3, 60},  {{2, 4, 2, 2}, 2, 100},
};

/* No step of the tariff by which a device receives so much is below this. */
static struct price tariff_least(void *self, const struct problem *p, double recv_bytes)
{
	const struct tariff *t = self;
	double fastest = 0;

	(void)p;
	for (int i = 0; i < 8; i++)
		fastest = t->axis_Bps[i] > fastest ? t->axis_Bps[i] : fastest;
	return (struct price){.cost = t->launch_s + recv_bytes / fastest};
}

static struct price sum_of_hops(struct synth *s, const struct path *path)
{
	const struct type *before = &s->from;
	struct price sum = {0};

	for (int i = 0; i < path->n; i++) {
		sum = price_add(sum, hop_price(s, path->hop[i].op, before,
		                               &path->hop[i].after, 0));
		before = &path->hop[i].after;
	}
	ck_assert(type_equal(before, &s->to));
	return sum;
}

/*
 * However dear the known path is, what is pruned for its sake is of no use: the price is
 * that of the search without one, Dijkstra's. Below that price there is no path.
 */
static void try_known(struct synth *s)
{
	static const double factors[] = {1, 1.2, 2, 10};
	struct exact_paths found;
	struct price least, most;

	ck_assert(synth_exact(&found, s, NULL));
	ck_assert_int_eq(found.n, 1);
	least = most = sum_of_hops(s, &found.path[0]);
	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
		most.cost = factors[i] * least.cost;
		ck_assert(synth_exact(&found, s, &most));
		for (int k = 0; k < found.n; k++)
			ck_assert_msg(price_compare(sum_of_hops(s, &found.path[k]),
			                            least) == 0,
			              "%s", case_describe(s->arena, s->problem));
	}
	most.cost = 0.999 * least.cost;
	ck_assert(!synth_exact(&found, s, &most));
}

START_TEST(test_known_path)
{
	const struct known *x = &knowns[_i];
	struct rng *r = rng_new(17 + (uint64_t)_i);
	struct arena *a = arena_new();

	for (int i = 0; i < x->cases; i++) {
		struct tariff tariff = {
			.seconds = true,
			.launch_s = i % 3 * 0.004,
			.axis_Bps = {4e3, 7e3, i % 2 ? 1e3 : 6e3, 2e3, 5e3}};
		struct prices prices = tariff_prices(&tariff);
		struct mesh mesh = case_mesh(a, x->mesh);
		struct atoms atoms = case_atoms(&mesh);
		struct shape extent = {.rank = x->rank};
		struct type from, to;
		struct synth s;
		struct text why = {0};

		for (int dim = 0; dim < extent.rank; dim++)
			extent.dim[dim] = dim % 2 ? 144 : 432;
		from = case_random_type(r, &atoms, &extent, 20 + rng_below(r, 81));
		to = case_random_type(r, &atoms, &extent, 20 + rng_below(r, 81));
		prices.least = i % 4 ? tariff_least : NULL;
		ck_assert(synth_begin(&s, case_of_types(a, &mesh, &extent, &from, &to),
		                      &prices, a, &why));
		if (!type_equal(&s.from, &s.to))
			try_known(&s);
		arena_reset(a);
	}
	arena_free(a);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("synth exact");
	TCase *tcase = tcase_create("known path");

	tcase_set_timeout(tcase, 200);
	tcase_add_loop_test(tcase, test_known_path, 0,
	                    sizeof(knowns) / sizeof(knowns[0]));
	suite_add_tcase(suite, tcase);
	return suite;
}
