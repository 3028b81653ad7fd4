#include "cost/lines.h"
#include "tests/tests.h"

#include "base/rng.h"

#include <check.h>

#include <math.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

enum { TASKS = 20, MESSAGES = 300, LINKS_MAX = 4096 };

static const struct {
	int naxes;
	int32_t shape[TORUS_AXES_MAX];
	bool wrap[TORUS_AXES_MAX];
} shapes[] = {{1, {7}, {true}},
              {1, {64}, {true}},
              {2, {16, 16}, {true, false}},
              {2, {2, 5}, {false, true}},
              {3, {4, 2, 9}, {true, false, true}},
              {3, {1, 8, 8}, {false, false, true}}};

static struct machine *make_torus(struct arena *a, int i)
{
	return machine_torus(a, shapes[i].naxes, shapes[i].shape, shapes[i].wrap,
	                     (struct link){.bandwidth_Bps = 45e9, .latency_s = 1e-6},
	                     (struct device){0});
}

static void add(void *self, int32_t link, double bytes)
{
	((double *)self)[link] += bytes;
}

/* Sends a message both ways: on its lines, and link by link on machine_route(). */
static void send_both(struct lines *lines, double *loads, double *plain,
                      const struct machine *m, struct rng *r)
{
	int32_t src = (int32_t)rng_below(r, (uint32_t)m->ndevices);
	int32_t dst = (int32_t)rng_below(r, (uint32_t)m->ndevices);
	int32_t route[ROUTE_LINKS_MAX];
	const int32_t *some;
	/* halves are no whole numbers, but their sums are exact, too */
	double bytes = rng_below(r, 1u << 30) / 2., latency_s;
	int n, nroute = machine_route(m, 0, src, dst, route, ROUTE_LINKS_MAX);

	latency_s = lines_send(lines, &some, &n, 0, src, dst, bytes);
	ck_assert_double_eq(latency_s, machine_latency(m, 0, src, dst));
	for (int i = 0; i < n; i++)
		loads[some[i]] += bytes;
	for (int i = 0; i < nroute; i++)
		plain[route[i]] += bytes;
}

START_TEST(links_carry_what_routes_put_on_them)
{
	struct arena *a = arena_new();
	const struct machine *m = make_torus(a, _i);
	struct lines *lines = lines_new(m);
	struct rng *r = rng_new((uint64_t)_i + 1);

	ck_assert_int_le(m->nlinks, LINKS_MAX);
	for (int t = 0; t < TASKS; t++) {
		double loads[LINKS_MAX] = {0}, plain[LINKS_MAX] = {0};

		for (int i = t % 2 ? 3 : MESSAGES; i > 0; i--)
			send_both(lines, loads, plain, m, r);
		lines_load(lines, add, loads);
		for (int32_t l = 0; l < m->nlinks; l++)
			ck_assert_double_eq(loads[l], plain[l]);
	}
	rng_free(r);
	lines_free(lines);
	arena_free(a);
}
END_TEST

/* What nobody asks for is forgotten. */
START_TEST(nothing_is_left)
{
	struct arena *a = arena_new();
	const struct machine *m = make_torus(a, 1);
	struct lines *lines = lines_new(m);
	double loads[LINKS_MAX] = {0};
	const int32_t *some;
	int n;

	ck_assert_double_eq_tol(lines_send(lines, &some, &n, 0, 0, 20, 100), 2e-5,
	                        1e-15);
	ck_assert_int_eq(n, 0);
	lines_load(lines, NULL, NULL);
	lines_load(lines, add, loads);
	for (int32_t l = 0; l < m->nlinks; l++)
		ck_assert_double_eq(loads[l], 0);
	/* what sums might not be exact of is not summed up */
	lines_send(lines, &some, &n, 0, 0, 20, 0.5);
	ck_assert_int_gt(n, 0);
	lines_send(lines, &some, &n, 0, 0, 20, 1e300);
	ck_assert_int_gt(n, 0);
	ck_assert(lines_have(lines, 0));
	lines_free(lines);
	lines_free(NULL);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("lines");
	TCase *tcase = tcase_create("lines");

	tcase_add_loop_test(tcase, links_carry_what_routes_put_on_them, 0,
	                    COUNT(shapes));
	tcase_add_test(tcase, nothing_is_left);
	suite_add_tcase(suite, tcase);
	return suite;
}
