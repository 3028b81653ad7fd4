#include "bound/cells.h"
#include "tests/tests.h"

#include "array/tile.h"
#include "plan_random.h"

#include <check.h>

#include <stdio.h>

/*
 * What crosses into and out of sets of devices, against every element looked at alone.
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

/* Is the element at `at` in the device's tile? */
static bool has(const struct tilemap *t, const struct shape *g, int32_t d,
                const int64_t *at)
{
	if (!tilemap_has(t, d))
		return false;
	for (int i = 0; i < g->rank; i++) {
		int64_t lo, hi;

		tilemap_interval(t, g, d, i, &lo, &hi);
		if (at[i] < lo || at[i] >= hi)
			return false;
	}
	return true;
}

/* Do the devices with inside[d] == side hold all contributions to the element? */
static bool whole(const struct tilemap *t, const struct shape *g, const int64_t *at,
                  const bool *inside, bool side)
{
	for (int32_t k = 0; k < t->partials; k++) {
		bool found = false;

		for (int32_t d = 0; d < t->ndevices && !found; d++)
			found = inside[d] == side && t->partial[d] == k &&
			        has(t, g, d, at);
		if (!found)
			return false;
	}
	return true;
}

static bool wanted(const struct tilemap *t, const struct shape *g, const int64_t *at,
                   const bool *inside, bool side)
{
	for (int32_t d = 0; d < t->ndevices; d++)
		if (inside[d] == side && has(t, g, d, at))
			return true;
	return false;
}

static struct crossing by_element(const struct problem *p, const bool *inside)
{
	const struct shape *g = &p->array.shape;
	struct tilemap from = tilemap_make(&p->from, &p->mesh, g, arena);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, g, arena);
	struct crossing out = {0};

	for (int64_t e = 0; e < shape_elements(g); e++) {
		int64_t at[RANK_MAX], rest = e;

		for (int i = g->rank - 1; i >= 0; i--) {
			at[i] = rest % g->dim[i];
			rest /= g->dim[i];
		}
		out.in += wanted(&to, g, at, inside, true) &&
		          !whole(&from, g, at, inside, true);
		out.out += wanted(&to, g, at, inside, false) &&
		           !whole(&from, g, at, inside, false);
	}
	return out;
}

static void compare(const struct problem *p, struct cells *c, const bool *inside)
{
	int32_t *member = arena_alloc(arena, (size_t)p->ndevices, sizeof(*member)),
		n = 0;
	struct crossing wanted = by_element(p, inside), got;

	for (int32_t d = 0; d < p->ndevices; d++)
		if (inside[d])
			member[n++] = d;
	got = cells_crossing(c, member, n);
	ck_assert_msg(got.in == wanted.in && got.out == wanted.out,
	              "%d of %d devices: %lld in, %lld out, wanted %lld and %lld", n,
	              p->ndevices, (long long)got.in, (long long)got.out,
	              (long long)wanted.in, (long long)wanted.out);
}

static void compare_random(struct rng *r, const struct problem *p)
{
	struct cells *c = cells_make(p, arena);
	bool inside[64];

	ck_assert_int_le(p->ndevices, 64);
	for (int k = 0; k < 6; k++) {
		uint32_t often = 1 + rng_below(r, 6);

		for (int32_t d = 0; d < p->ndevices; d++)
			inside[d] = rng_below(r, often + 1) == 0;
		compare(p, c, inside);
		/* A block of devices, as a node has them: products of indices. */
		for (int32_t d = 0; d < p->ndevices; d++)
			inside[d] = d / 4 % 2 == k % 2;
		compare(p, c, inside);
	}
	arena_reset(arena);
}

enum { PROBLEMS = 150 };

START_TEST(crossings_of_random_problems)
{
	struct rng *r = rng_new(3);

	for (int k = 0; k < PROBLEMS; k++)
		compare_random(r, random_problem(r, arena, 12));
	rng_free(r);
}
END_TEST

START_TEST(crossings_of_listed_problems)
{
	struct rng *r = rng_new(5);

	for (int k = 0; k < PROBLEMS; k++)
		compare_random(r, random_listed_problem(r, arena, 12));
	rng_free(r);
}
END_TEST

/*
 * Two meshes, some devices in both, some in one; uneven, unreduced, one device alone.
 */
static const struct {
	const char *array, *mesh, *from, *devices, *to_mesh, *to, *to_devices;
} cases[] = {
	{"f32[6,10]", "x=2,y=2", "P('x','y')", "0-3", "x=3,y=2", "P('y','x')", "2-7"},
	{"f32[6,10]", "x=2,y=3", "P(('y','x'))", "0-5", "x=4", "P(None,'x')", "6-9"},
	{"f32[7,5]", "x=4", "P('x')", "0-3", "x=3", "P('x')", "1-3"},
	{"f32[13]", "x=8", "P('x')", "0-7", "x=5", "P('x')", "0-4"},
	{"f32[6,4]", "x=6", "P()", "0-5", "x=1", "P()", "9"},
	{"f32[6,4]", "x=1", "P()", "9", "x=6", "P(None,'x')", "0-5"},
	{"f32[]", "x=2", "P()", "0-1", "x=3", "P()", "1-3"},
	{"f32[6,10]", "x=4,y=2", "P('x',unreduced={'y'})", "0-7", "x=4,y=2",
         "P('x','y')", "0-7"},
	{"f32[6,10]", "x=4,y=2", "P(unreduced={'x'})", "0-7", "x=4,y=2", "P(None,'y')",
         "4-11"},
	{"f32[6,10]", "x=4,y=2", "P('y',unreduced={'x'})", "0-7", "x=2,y=2", "P('x')",
         "0-3"},
};

START_TEST(crossings_between_meshes)
{
	struct problem p;
	struct problem_text t = {.array = cases[_i].array,
	                         .mesh = cases[_i].mesh,
	                         .from = cases[_i].from,
	                         .devices = cases[_i].devices,
	                         .to_mesh = cases[_i].to_mesh,
	                         .to = cases[_i].to,
	                         .to_devices = cases[_i].to_devices};
	struct rng *r = rng_new(17);
	struct error e = {0};

	for (int k = 0; k < 20; k++) {
		ck_assert_msg(problem_make(&p, arena, &t, &e) == OK, "%s", e.text);
		compare_random(r, &p);
	}
	rng_free(r);
}
END_TEST

/* Which contribution goes where is free, and all but one may be zeros. */
START_TEST(nothing_must_cross_for_an_unreduced_target)
{
	static const char *const from[] = {"P('x')", "P()", "P(unreduced={'x'})"};
	struct problem_text t = {.array = "f32[6,10]",
	                         .mesh = "x=4",
	                         .from = from[_i],
	                         .to = "P(None,unreduced={'x'})"};
	struct problem p;
	struct error e = {0};
	struct crossing got;

	ck_assert_msg(problem_make(&p, arena, &t, &e) == OK, "%s", e.text);
	got = cells_crossing(cells_make(&p, arena), (int32_t[]){0, 2}, 2);
	ck_assert_int_eq(got.in, 0);
	ck_assert_int_eq(got.out, 0);
}
END_TEST

/*
 * 4096 tiles that meet 4096 others each are too many to go through. A half of the
 * devices that is no product of index sets gets the weaker figure, others the exact
 * one.
 */
START_TEST(a_weaker_figure_where_cells_are_many)
{
	struct problem_text t = {.array = "f32[64,64,64,64]",
	                         .mesh = "x=64,y=64",
	                         .from = "P('x','y')",
	                         .to = "P(None,None,'x','y')"};
	const int64_t all = 64 * 64 * 64 * 64;
	int32_t n = 0, *member = arena_alloc(arena, 4096, sizeof(*member));
	struct problem p;
	struct error e = {0};
	struct crossing got;
	struct cells *c;

	ck_assert_msg(problem_make(&p, arena, &t, &e) == OK, "%s", e.text);
	c = cells_make(&p, arena);
	for (int32_t d = 0; d < 4096; d++)
		if (d % 64 < 32)
			member[n++] = d;
	got = cells_crossing(c, member, n);
	ck_assert_int_eq(got.in, all / 4);
	ck_assert_int_eq(got.out, all / 4);
	/* a chessboard: really a quarter, too */
	n = 0;
	for (int32_t d = 0; d < 4096; d++)
		if ((d / 64 + d) % 2)
			member[n++] = d;
	got = cells_crossing(c, member, n);
	ck_assert_int_ge(got.in, 0);
	ck_assert_int_le(got.in, all / 4);
	ck_assert_int_le(got.out, all / 4);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("bound_cells");
	TCase *c = tcase_create("bound_cells");

	tcase_set_timeout(c, 120);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, crossings_of_random_problems);
	tcase_add_test(c, crossings_of_listed_problems);
	tcase_add_loop_test(c, crossings_between_meshes, 0, COUNT(cases));
	tcase_add_loop_test(c, nothing_must_cross_for_an_unreduced_target, 0, 3);
	tcase_add_test(c, a_weaker_figure_where_cells_are_many);
	suite_add_tcase(suite, c);
	return suite;
}
