/*
 * DTensor's cost model against numbers worked out by hand, its search against the
 * shortest ways between all states of small meshes, and both planners on random layouts.
 */
#include "planner/dtensor/dtensor.h"
#include "tests/tests.h"

#include "base/rng.h"
#include "plan/check.h"
#include "plan_interpret.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

extern const struct planner planner_dtensor, planner_dtensor_mincost;

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct mesh mesh_of(const int32_t *size, int naxes)
{
	static const char *const name[] = {"a", "b", "c", "d", "e", "f",
	                                   "g", "h", "i", "j", "k", "l"};
	struct mesh m = {.naxes = naxes, .ndevices = 1};

	for (int i = 0; i < naxes; i++) {
		m.axis[i] = (struct axis){name[i], size[i]};
		m.ndevices *= size[i];
	}
	return m;
}

/* --- costs ------------------------------------------------------------------------- */

enum { P = DTENSOR_PARTIAL, R = DTENSOR_REPLICATE };

/*
 * Mesh (2, 4, 3) of hosts of 8: the products from the right are 3, 12, 24, so only the
 * last mesh dimension is inside a host. From 1 GiB per device, for instance 3 to all:
 * 6.6 + 2 x 0.6 + 1e6 x 3 x 2/3 / 87.7 = 7.8 + 22805.017104.
 */
static const struct {
	int mesh_dim, from, to;
	double us;
} costs[] = {
	{2, 0, R, 22812.817104},
	{2, 0, 1, 7610.472368},
	{2, P, R, 15212.344736},
	{2, P, 1, 7609.472368},
	{2, R, 0, 0},
	{2, R, P, 0},
	{1, 1, R, 155503.452980},
	{1, 1, 0, 38887.888245},
	{1, P, R, 77767.176490},
	{1, P, 0, 38886.888245},
	{0, 0, R, 51838.884327},
	{0, 0, 1, 25925.092163},
	{0, P, R, 51841.584327},
	{0, P, 0, 25924.092163},
	{0, R, 1, 0},
};

START_TEST(costs_are_those_worked_out_by_hand)
{
	static const int32_t size[] = {2, 4, 3};
	struct mesh m = mesh_of(size, 3);
	struct dtensor_links links = dtensor_links_of(&m, 8);
	struct dtensor_transform t = {costs[_i].mesh_dim, costs[_i].from, costs[_i].to};

	ck_assert_double_eq_tol(dtensor_transform_us(&links, &m, &t, 1), costs[_i].us,
	                        1e-6);
}
END_TEST

START_TEST(links_leave_the_host_where_the_product_passes_it)
{
	static const int32_t size[] = {2, 2, 2};
	struct mesh m = mesh_of(size, 3);

	for (int hosts = 1; hosts <= 8; hosts++) {
		struct dtensor_links links = dtensor_links_of(&m, hosts);

		for (int i = 0; i < 3; i++) {
			bool inside = (8 >> i) <= hosts;

			ck_assert_double_eq(links.latency_us[i], inside ? 0.6 : 2.7);
			ck_assert_double_eq_tol(links.bandwidth_GiBps[i],
			                        inside ? 87.7 : 19.294, 1e-9);
		}
	}
}
END_TEST

/* --- all states -------------------------------------------------------------------- */

enum { STATES_MAX = 400, RANK = 2 };

struct world {
	struct mesh mesh;
	struct array array;
	int n;
	struct dtensor_state state[STATES_MAX];
	double way_us[STATES_MAX][STATES_MAX];
};

/* Are the places of each tensor dimension 0, 1, ... once each, those of others 0? */
static bool valid(const struct dtensor_state *s)
{
	for (int i = 0; i < s->naxes; i++) {
		int lower = 0;

		for (int j = 0; j < s->naxes; j++) {
			if (s->placement[i] < 0 || s->placement[j] != s->placement[i])
				continue;
			if (j != i && s->place[j] == s->place[i])
				return false;
			lower += s->place[j] < s->place[i];
		}
		if (lower != s->place[i])
			return false;
	}
	return true;
}

static void list_states(struct world *w)
{
	int naxes = w->mesh.naxes, codes = 1;

	for (int i = 0; i < naxes; i++)
		codes *= (RANK + 2) * naxes;
	for (int code = 0; code < codes; code++) {
		struct dtensor_state s = {.naxes = naxes};

		for (int i = 0, rest = code; i < naxes; i++) {
			s.placement[i] = (int16_t)(rest % (RANK + 2) - 2);
			rest /= RANK + 2;
			s.place[i] = (int16_t)(rest % naxes);
			rest /= naxes;
		}
		if (!valid(&s))
			continue;
		ck_assert_int_lt(w->n, STATES_MAX);
		w->state[w->n++] = s;
	}
}

static bool is_innermost(const struct dtensor_state *s, int axis)
{
	for (int i = 0; i < s->naxes; i++)
		if (s->placement[i] == s->placement[axis] && s->place[i] > s->place[axis])
			return false;
	return true;
}

/* DTensor's cost: t = 6.6 + hops lat + 1e6 GB hops / n / BW. */
static double cost_of(const struct world *w, const struct dtensor_state *a, int axis,
                      int to)
{
	double n = w->mesh.axis[axis].size, gb, hops = n - 1, devices = 1;
	int from = a->placement[axis];

	gb = (double)dtype_bytes(w->array.dtype, shape_elements(&w->array.shape)) /
	     ldexp(1, 30);
	for (int i = 0; i < a->naxes; i++)
		gb /= a->placement[i] >= 0 ? w->mesh.axis[i].size : 1;
	for (int i = axis; i < a->naxes; i++)
		devices *= w->mesh.axis[i].size;
	if (from == R)
		return 0;
	if (from == P && to == R)
		hops *= 2;
	if (from >= 0 && to == R)
		gb *= n;
	return 6.6 + hops * (devices > 8 ? 2.7 : 0.6) +
	       1e6 * gb * hops / n / (devices > 8 ? 87.7 * 0.22 : 87.7) +
	       (from >= 0 && to >= 0 ? 1 : 0);
}

/* One step from a to b; infinite where there is none. */
static double edge(const struct world *w, const struct dtensor_state *a,
                   const struct dtensor_state *b)
{
	int axis = -1;

	for (int i = 0; i < a->naxes; i++) {
		if (a->placement[i] != b->placement[i]) {
			if (axis >= 0)
				return INFINITY;
			axis = i;
		}
	}
	if (axis < 0)
		return INFINITY;
	for (int i = 0; i < a->naxes; i++)
		if (i != axis && a->place[i] != b->place[i])
			return INFINITY;
	if (!is_innermost(a, axis) || !is_innermost(b, axis) ||
	    (a->placement[axis] >= 0 && b->placement[axis] == P))
		return INFINITY;
	return cost_of(w, a, axis, b->placement[axis]);
}

static void find_ways(struct world *w)
{
	for (int i = 0; i < w->n; i++)
		for (int j = 0; j < w->n; j++)
			w->way_us[i][j] =
				i == j ? 0 : edge(w, &w->state[i], &w->state[j]);
	for (int k = 0; k < w->n; k++)
		for (int i = 0; i < w->n; i++)
			for (int j = 0; j < w->n; j++)
				w->way_us[i][j] =
					fmin(w->way_us[i][j],
				             w->way_us[i][k] + w->way_us[k][j]);
}

/* Run the transforms from one state to the other; what they cost. */
static double cost_of_way(const struct world *w, const struct dtensor_transforms *t,
                          struct dtensor_state now, const struct dtensor_state *end)
{
	double us = 0;

	for (int i = 0; i < t->n; i++) {
		us += cost_of(w, &now, t->step[i].mesh_dim, t->step[i].to);
		dtensor_apply(&now, &t->step[i]);
	}
	ck_assert_mem_eq(&now, end, sizeof(now));
	return us;
}

static const struct {
	int naxes;
	int32_t size[3];
	int64_t dim[RANK];
} worlds[] = {
	{2, {2, 3}, {6, 6}},         {2, {5, 3}, {30, 49153}},
	{3, {2, 2, 2}, {8, 8}},      {3, {3, 2, 2}, {8192, 8192}},
	{3, {2, 3, 4}, {2400, 24}},  {3, {4, 4, 4}, {65536, 65536}},
	{2, {2, 1}, {1000003, 600}},
};

START_TEST(the_search_finds_a_cheapest_way)
{
	struct world *w = arena_alloc(arena, 1, sizeof(*w));
	struct text why = {0};

	w->mesh = mesh_of(worlds[_i].size, worlds[_i].naxes);
	w->array.dtype = &dtypes[0];
	w->array.shape = (struct shape){RANK, {worlds[_i].dim[0], worlds[_i].dim[1]}};
	list_states(w);
	find_ways(w);
	for (int i = 0; i < w->n; i += 2) {
		for (int j = 0; j < w->n; j++) {
			struct dtensor_state *from = &w->state[i], *to = &w->state[j];
			struct dtensor_transforms t;
			double us;

			if (w->mesh.axis[1].size == 1 &&
			    (from->placement[1] != R || to->placement[1] != R))
				continue;
			ck_assert(dtensor_search(&t, from, to, &w->array, &w->mesh,
			                         DTENSOR_STATES_MAX, arena, &why));
			us = cost_of_way(w, &t, *from, to);
			ck_assert_double_eq_tol(us, w->way_us[i][j], 1e-9 * us + 1e-12);
			if (!dtensor_default_order(from) || !dtensor_default_order(to))
				continue;
			t = dtensor_greedy(from, to, &w->mesh, arena);
			ck_assert_int_le(t.n, 2 * w->mesh.naxes);
			for (int k = 0; k < t.n; k++) /* refused by DTensor, no price */
				if (t.step[k].from >= 0 && t.step[k].to == P)
					t.n = -1;
			if (t.n >= 0)
				ck_assert_double_ge(
					cost_of_way(w, &t, *from, to) * (1 + 1e-9), us);
		}
	}
}
END_TEST

/* Twelve mesh dimensions of 2 turned round: no small part of the states decides it. */
START_TEST(the_search_gives_up)
{
	static const int32_t size[] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
	struct mesh m = mesh_of(size, COUNT(size));
	struct array array = {&dtypes[0], {3, {4096, 4096, 4096}}};
	struct dtensor_state from = {.naxes = m.naxes}, to = from;
	struct dtensor_transforms t;
	struct text why = {0};

	for (int i = 0; i < m.naxes; i++) {
		from.place[i] = (int16_t)i;
		to.place[i] = (int16_t)(m.naxes - 1 - i);
	}
	ck_assert(!dtensor_search(&t, &from, &to, &array, &m, DTENSOR_STATES_MAX, arena,
	                          &why));
	ck_assert_str_eq(why.s, "DTensor's search passes 262144 states");
	text_free(&why);
}
END_TEST

/* --- random layouts ---------------------------------------------------------------- */

static struct layout random_placements(struct rng *r, const struct mesh *m, int rank,
                                       bool any_order)
{
	struct layout l = layout_replicated(rank);
	int order[MESH_AXES_MAX] = {0};

	for (int i = 0; i < m->naxes; i++) {
		int j = any_order ? (int)rng_below(r, (uint32_t)i + 1) : i;

		order[i] = order[j];
		order[j] = i;
	}
	for (int i = 0; i < m->naxes; i++) {
		int dim = (int)rng_below(r, (uint32_t)rank + 1);
		struct part part = {order[i], 1, m->axis[order[i]].size};

		if (dim < rank)
			ck_assert(layout_append(&l, dim, part));
	}
	return l;
}

static struct problem *random_dtensor_problem(struct rng *r, bool even)
{
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	int rank = 1 + (int)rng_below(r, 3), naxes = 1 + (int)rng_below(r, 4);
	int32_t size[4];

	for (int i = 0; i < naxes; i++)
		size[i] = 2 + (int32_t)rng_below(r, naxes > 3 ? 1 : naxes > 2 ? 3 : 4);
	*p = (struct problem){.arena = arena, .memory_limit_bytes = -1};
	p->mesh = p->to_mesh = mesh_of(size, naxes);
	p->array.dtype = &dtypes[rng_below(r, 6)];
	p->array.shape.rank = rank;
	for (int i = 0; i < rank; i++)
		p->array.shape.dim[i] =
			even ? p->mesh.ndevices : 1 + (int64_t)rng_below(r, 25);
	p->from = random_placements(r, &p->mesh, rank, rng_below(r, 2));
	p->to = random_placements(r, &p->mesh, rank, rng_below(r, 2));
	problem_finish(p);
	return p;
}

/* A step but a pad acts on one whole mesh dimension, with the groups along it. */
static void check_step(const struct problem *p, const struct step *s)
{
	if (s->op == OP_PAD)
		return;
	ck_assert_int_eq(s->nmoves, 1);
	ck_assert_int_eq(s->move->nparts, 1);
	ck_assert_int_eq(s->move->factor, p->mesh.axis[s->move->parts->axis].size);
	if (s->op != OP_SLICE)
		ck_assert_int_eq(s->groups.size, s->move->factor);
}

START_TEST(random_plans_are_right)
{
	static const struct planner *const planner[] = {&planner_dtensor,
	                                                &planner_dtensor_mincost};
	struct rng *r = rng_new(8100 + (uint64_t)_i);
	bool even = _i < 3;
	int plans = 0, refused = 0;

	for (int round = 0; round < 300; round++) {
		struct problem *p = random_dtensor_problem(r, even);

		for (int k = 0; k < 2; k++) {
			struct plan *plan = NULL;
			struct text why = {0};
			int wrong;

			if (planner_run(planner[k], &plan, p, &prices_bytes, arena,
			                &why) != ANSWER_PLAN) {
				ck_assert(why.length > 0);
				refused++;
				text_free(&why);
				continue;
			}
			plans++;
			ck_assert_msg(plan_check(plan, &why), "%s", why.s);
			ck_assert(plan_interpret(plan, arena, &wrong));
			for (int i = 0; i < plan->nsteps; i++)
				check_step(p, &plan->step[i]);
		}
		arena_reset(arena);
	}
	ck_assert_int_eq(even ? refused : plans > 40 && refused > 40, !even);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("dtensor_search");
	TCase *t = tcase_create("search");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, costs_are_those_worked_out_by_hand, 0, COUNT(costs));
	tcase_add_test(t, links_leave_the_host_where_the_product_passes_it);
	tcase_add_loop_test(t, the_search_finds_a_cheapest_way, 0, COUNT(worlds));
	tcase_add_test(t, the_search_gives_up);
	tcase_add_loop_test(t, random_plans_are_right, 0, 6);
	suite_add_tcase(s, t);
	return s;
}
