/*
 * Which of several cheapest ways DTensor's search takes, against Dijkstra's algorithm
 * written down plainly from the header: over all states, with no bound; and the bound
 * against what the ways cost.
 */
#include "planner/dtensor/bound.h"
#include "tests/tests.h"

#include "base/rng.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { P = DTENSOR_PARTIAL, R = DTENSOR_REPLICATE, STATES_MAX = 1 << 12 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* A state that was reached, in the order in which they were. */
struct reached {
	struct dtensor_state state;
	struct dtensor_transform by;
	double us;
	int before, since; /* the transforms that were tried until its cost fell last */
	bool taken;
};

struct plain {
	const struct mesh *mesh;
	const struct array *array;
	bool partial;
	int n, tried;
	struct reached reached[STATES_MAX];
};

/* --- the plain search --------------------------------------------------------------- */

static bool is_innermost(const struct dtensor_state *s, int axis)
{
	for (int i = 0; i < s->naxes; i++)
		if (s->placement[i] == s->placement[axis] && s->place[i] > s->place[axis])
			return false;
	return true;
}

static int reached_at(const struct plain *x, const struct dtensor_state *state)
{
	int i = 0;

	while (i < x->n && memcmp(&x->reached[i].state, state, sizeof(*state)) != 0)
		i++;
	return i;
}

static void try_transform(struct plain *x, int before, int axis, int to)
{
	struct dtensor_links links = dtensor_links_of(x->mesh, DTENSOR_HOST_DEVICES);
	const struct reached *b = &x->reached[before];
	struct dtensor_transform t = {axis, b->state.placement[axis], to};
	struct dtensor_state state = b->state;
	double shards = 1, us;
	int at;

	for (int i = 0; i < state.naxes; i++)
		shards *= state.placement[i] >= 0 ? x->mesh->axis[i].size : 1;
	us = b->us +
	     dtensor_transform_us(&links, x->mesh, &t,
	                          (double)dtype_bytes(x->array->dtype,
	                                              shape_elements(&x->array->shape)) /
	                                  shards / 1024 / 1024 / 1024);
	dtensor_apply(&state, &t);
	at = reached_at(x, &state);
	x->tried++;
	if (at == x->n) {
		ck_assert_int_lt(x->n, STATES_MAX);
		x->reached[x->n++] = (struct reached){.state = state, .us = INFINITY};
	}
	if (us < x->reached[at].us) {
		x->reached[at].us = us;
		x->reached[at].by = t;
		x->reached[at].before = before;
		x->reached[at].since = x->tried;
	}
}

/* All mesh dimensions of one placement to another, in their order. */
static void try_all(struct plain *x, int k, int from, int to)
{
	for (int i = 0; i < x->mesh->naxes; i++) {
		const struct dtensor_state *s = &x->reached[k].state;

		if (x->mesh->axis[i].size == 1 || s->placement[i] != from ||
		    (from >= 0 && !is_innermost(s, i)))
			continue;
		for (int dim = 0; to == RANK_MAX && dim < x->array->shape.rank; dim++)
			try_transform(x, k, i, dim);
		if (to != RANK_MAX)
			try_transform(x, k, i, to);
	}
}

static void take(struct plain *x, int k)
{
	int rank = x->array->shape.rank;

	x->reached[k].taken = true;
	for (int from = 0; from < rank; from++)
		for (int to = 0; to < rank; to++)
			if (to != from)
				try_all(x, k, from, to);
	for (int from = 0; from < rank; from++)
		try_all(x, k, from, R);
	try_all(x, k, P, R);
	try_all(x, k, R, RANK_MAX);
	try_all(x, k, P, RANK_MAX);
	if (x->partial)
		try_all(x, k, R, P);
}

/* The cheapest that waits, of several the one that has waited longest; -1: none. */
static int next(const struct plain *x)
{
	int best = -1;

	for (int i = 0; i < x->n; i++) {
		const struct reached *a = &x->reached[i];
		const struct reached *b = &x->reached[best < 0 ? i : best];

		if (!a->taken && (best < 0 || a->us < b->us ||
		                  (a->us == b->us && a->since < b->since)))
			best = i;
	}
	return best;
}

/* From a state to all others. */
static void search_plainly(struct plain *x, const struct dtensor_state *from)
{
	x->n = x->tried = 0;
	x->reached[x->n++] = (struct reached){.state = *from, .before = -1};
	for (int k = 0; (k = next(x)) >= 0;)
		take(x, k);
}

static void check_way(const struct plain *x, const struct dtensor_transforms *t,
                      const struct dtensor_state *to)
{
	int at = reached_at(x, to);

	ck_assert_int_lt(at, x->n);
	for (int i = t->n - 1; i >= 0; i--) {
		const struct reached *r = &x->reached[at];

		ck_assert_int_ge(r->before, 0);
		ck_assert_int_eq(t->step[i].mesh_dim, r->by.mesh_dim);
		ck_assert_int_eq(t->step[i].from, r->by.from);
		ck_assert_int_eq(t->step[i].to, r->by.to);
		at = r->before;
	}
	ck_assert_int_eq(x->reached[at].before, -1);
}

/* --- against the search --------------------------------------------------------------- */

/* Large arrays, where bytes count, and small ones, where steps do and many ways tie. */
static const struct {
	int naxes;
	int32_t size[5];
	int rank;
	int64_t dim[3];
	bool partial;
} worlds[] = {
	{3, {2, 2, 2}, 2, {8, 8}, true},
	{3, {4, 4, 4}, 2, {65536, 65536}, true},
	{3, {2, 3, 4}, 3, {24, 24, 24}, false},
	{3, {8, 2, 3}, 1, {4096}, true},
	{4, {2, 2, 2, 2}, 2, {16, 1 << 20}, false},
	{4, {4, 1, 2, 2}, 3, {48, 1000, 1000}, true},
	{4, {2, 3, 2, 2}, 2, {48, 1000}, true},
	{4, {2, 2, 3, 3}, 2, {1 << 14, 1 << 14}, false},
};

static struct mesh mesh_of(const int32_t *size, int naxes)
{
	static const char *const name[] = {"a", "b", "c", "d", "e", "f", "g"};
	struct mesh m = {.naxes = naxes, .ndevices = 1};

	for (int i = 0; i < naxes; i++) {
		m.axis[i] = (struct axis){name[i], size[i]};
		m.ndevices *= size[i];
	}
	return m;
}

/* Random placements; the axes are placed in a random order. */
static struct dtensor_state draw(struct rng *r, const struct mesh *m, int rank,
                                 bool partial)
{
	struct dtensor_state s = {.naxes = m->naxes};
	int order[MESH_AXES_MAX] = {0}, count[RANK_MAX] = {0};

	for (int i = 0; i < m->naxes; i++) {
		int j = (int)rng_below(r, (uint32_t)i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (int k = 0; k < m->naxes; k++) {
		int i = order[k];
		int to = (int)rng_below(r, (uint32_t)(rank + 1 + partial)) - 1 - partial;

		s.placement[i] = (int16_t)(m->axis[i].size == 1 ? R : to);
		if (s.placement[i] >= 0)
			s.place[i] = (int16_t)count[s.placement[i]]++;
	}
	return s;
}

static struct plain *world_of(int i, struct mesh *m, struct array *array)
{
	static struct plain plain;
	struct plain *x = &plain;

	*m = mesh_of(worlds[i].size, worlds[i].naxes);
	*array = (struct array){&dtypes[0], {.rank = worlds[i].rank}};
	memcpy(array->shape.dim, worlds[i].dim, sizeof(worlds[i].dim));
	x->mesh = m;
	x->array = array;
	x->n = 0;
	return x;
}

static bool any_partial(const struct dtensor_state *s)
{
	for (int i = 0; i < s->naxes; i++)
		if (s->placement[i] == P)
			return true;
	return false;
}

/* From a source to many targets; a partial end is what lets ways lead through partials. */
START_TEST(the_search_takes_the_way_reached_first)
{
	struct mesh m;
	struct array array;
	struct plain *x = world_of(_i, &m, &array);
	struct rng *r = rng_new(8200 + (uint64_t)_i);

	for (int round = 0; round < 4; round++) {
		bool partial = worlds[_i].partial && round % 2;
		struct dtensor_state from = draw(r, &m, worlds[_i].rank, partial);

		x->partial = partial;
		search_plainly(x, &from);
		for (int k = 0; k < 200; k++) {
			struct dtensor_state to = draw(r, &m, worlds[_i].rank, partial);
			struct dtensor_transforms t;
			struct text why = {0};

			if ((any_partial(&from) || any_partial(&to)) != partial)
				continue;
			ck_assert(dtensor_search(&t, &from, &to, &array, &m,
			                         DTENSOR_STATES_MAX, arena, &why));
			check_way(x, &t, &to);
		}
	}
	rng_free(r);
}
END_TEST

/* The number of a state in the bound, from what the header says of roles. */
static int32_t number_of(const struct dtensor_bound *b, const struct dtensor_state *s,
                         const struct dtensor_state *to, const struct mesh *m)
{
	int32_t number = 0;
	int n = 0;

	for (int i = 0; i < s->naxes; i++) {
		enum dtensor_role role = ROLE_PLACED;

		if (m->axis[i].size == 1)
			continue;
		for (int j = 0; j < s->naxes; j++)
			if (s->placement[j] == s->placement[i] &&
			    s->place[j] <= s->place[i] &&
			    (to->placement[j] != s->placement[j] ||
			     to->place[j] != s->place[j]))
				role = ROLE_ASTRAY;
		role = s->placement[i] == R   ? ROLE_REPLICATED
		       : s->placement[i] == P ? ROLE_PARTIAL
		                              : role;
		number += b->weight[n++][role];
	}
	return number;
}

/* What is left on the way to any state that was reached, and from each one on it. */
START_TEST(the_bound_is_never_above_a_way)
{
	struct mesh m;
	struct array array;
	struct plain *x = world_of(_i, &m, &array);
	struct rng *r = rng_new(8300 + (uint64_t)_i);
	struct dtensor_state from = draw(r, &m, worlds[_i].rank, worlds[_i].partial);
	struct dtensor_links links = dtensor_links_of(&m, DTENSOR_HOST_DEVICES);
	double bytes = (double)dtype_bytes(array.dtype, shape_elements(&array.shape));
	int axis[MESH_AXES_MAX], n = 0, exact = 0;

	for (int i = 0; i < m.naxes; i++)
		if (m.axis[i].size > 1)
			axis[n++] = i;
	x->partial = worlds[_i].partial;
	search_plainly(x, &from);
	for (int k = 0; k < x->n; k++) {
		const struct reached *to = &x->reached[k];
		struct dtensor_bound b = dtensor_bound_of(&to->state, &links, &m, axis,
		                                          n, bytes, x->partial, arena);

		for (int at = k; at >= 0; at = x->reached[at].before) {
			const struct reached *on = &x->reached[at];
			double left = to->us - on->us;
			double rest =
				b.rest_us[number_of(&b, &on->state, &to->state, &m)];

			ck_assert_double_le(rest, left + 1e-9 * to->us);
			ck_assert(at != k || rest == 0);
			exact += at != k && rest >= left - 1e-9 * to->us;
		}
		if (k % 64 == 63)
			arena_reset(arena);
	}
	ck_assert_int_gt(exact, x->n / 4); /* it is of use */
	rng_free(r);
}
END_TEST

/* Seven mesh dimensions that differ, all sharded in the target: five roles each. */
START_TEST(without_a_bound_the_search_goes_on)
{
	static const int32_t size[] = {2, 3, 4, 5, 6, 7, 8};
	struct mesh m = mesh_of(size, COUNT(size));
	struct array array = {&dtypes[0], {7, {8, 9, 8, 10, 12, 14, 16}}};
	struct dtensor_links links = dtensor_links_of(&m, DTENSOR_HOST_DEVICES);
	struct dtensor_state from = {.naxes = m.naxes}, to;
	static const int axis[] = {0, 1, 2, 3, 4, 5, 6};
	struct dtensor_transforms t;
	struct dtensor_bound b;
	struct text why = {0};

	for (int i = 0; i < m.naxes; i++)
		from.placement[i] = (int16_t)i;
	to = from;
	from.placement[6] = P;
	b = dtensor_bound_of(&to, &links, &m, axis, 7, 1e6, true, arena);
	ck_assert_double_eq(b.rest_us[0], 0);
	for (int i = 0; i < m.naxes; i++)
		for (int role = 0; role < ROLES; role++)
			ck_assert_int_eq(b.weight[i][role], 0);
	ck_assert(dtensor_search(&t, &from, &to, &array, &m, DTENSOR_STATES_MAX, arena,
	                         &why));
	ck_assert_int_eq(t.n, 1);
	ck_assert_int_eq(t.step[0].mesh_dim, 6);
	ck_assert_int_eq(t.step[0].from, P);
	ck_assert_int_eq(t.step[0].to, 6);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("dtensor_ties");
	TCase *t = tcase_create("ties");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, the_search_takes_the_way_reached_first, 0, COUNT(worlds));
	tcase_add_loop_test(t, the_bound_is_never_above_a_way, 0, COUNT(worlds));
	tcase_add_test(t, without_a_bound_the_search_goes_on);
	suite_add_tcase(s, t);
	return s;
}
