/* Plans: groups and pairs against the definition, layouts of steps, bytes and memory. */
#include "plan/check.h"
#include "plan/groups.h"
#include "plan/memory.h"
#include "tests/plan_count.h"
#include "tests/tests.h"

#include "notation/notation.h"
#include "plan_interpret.h"
#include "plan_random.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

static struct arena *memory;

static void make_memory(void)
{
	memory = arena_new();
}

static void free_memory(void)
{
	arena_free(memory);
}

static struct problem problem_of(const char *array, const char *mesh, const char *from,
                                 const char *to)
{
	struct problem p;
	struct error e = {0};
	struct problem_text t = {.array = array, .mesh = mesh, .from = from, .to = to};

	ck_assert_msg(problem_make(&p, memory, &t, &e) == OK, "%s", e.text);
	return p;
}

/* --- groups ------------------------------------------------------------------------ */

START_TEST(gather_of_y_and_x_has_the_groups_of_the_spec)
{
	struct problem p = problem_of("f32[8,8]", "x=2,y=4,z=2", "P('y','x')", "P()");
	struct part y = {1, 1, 4}, x = {0, 1, 2};
	struct move moves[] = {{0, -1, 4, 1, &y}, {1, -1, 2, 1, &x}};
	struct groups g = groups_of_moves(&p.mesh, moves, 2, memory);
	static const int32_t wanted[] = {0, 8, 2, 10, 4, 12, 6, 14,
	                                 1, 9, 3, 11, 5, 13, 7, 15};

	ck_assert_int_eq(g.size, 8);
	ck_assert_int_eq(g.ngroups, 2);
	ck_assert_mem_eq(g.ids, wanted, sizeof(wanted));
}
END_TEST

START_TEST(groups_are_of_device_ids_not_positions)
{
	static const int32_t ids[] = {4, 2, 0, 5, 3, 1};
	struct problem p = problem_of("f32[6]", "x=2,y=3", "P('y')", "P()");
	struct part y = {1, 1, 3};
	struct move move = {0, -1, 3, 1, &y};
	struct groups g;

	p.mesh.ids = ids;
	g = groups_of_moves(&p.mesh, &move, 1, memory);
	ck_assert_int_eq(g.size, 3);
	ck_assert_mem_eq(g.ids, ids, sizeof(ids));
	ck_assert_int_eq(chunks_of_moves(&p.mesh, &move, 1, memory)[3], 1);
	ck_assert_int_eq(chunks_of_moves(&p.mesh, &move, 1, memory)[5], 0);
	ck_assert_int_eq(chunks_of_moves(&p.mesh, &move, 1, memory)[0], 2);
}
END_TEST

/* The position with the coordinates of these parts set to 0. */
static int32_t without(const struct mesh *m, int32_t position, const struct part *part,
                       int n)
{
	for (int k = 0; k < n; k++) {
		int32_t stride = m->axis[part[k].axis].size / part[k].pre / part[k].size;

		for (int x = part[k].axis + 1; x < m->naxes; x++)
			stride *= m->axis[x].size;
		position -= part_coordinate(m, part[k], position) * stride;
	}
	return position;
}

static int32_t mixed_radix(const struct mesh *m, int32_t position,
                           const struct part *part, int n)
{
	int32_t value = 0;

	for (int k = 0; k < n; k++)
		value = value * part[k].size + part_coordinate(m, part[k], position);
	return value;
}

/* One group's members: equal off the parts, and in the order of the mixed radix. */
static void check_group(const struct mesh *m, const int32_t *position,
                        const int32_t *member, int32_t size, const struct part *part,
                        int n)
{
	int32_t first = position[member[0]];

	for (int32_t k = 0; k < size; k++) {
		int32_t at = position[member[k]];

		ck_assert_int_eq(mixed_radix(m, at, part, n), k);
		ck_assert_int_eq(without(m, at, part, n), first);
	}
}

START_TEST(groups_are_those_of_the_definition)
{
	struct rng *r = rng_new(7101 + (uint64_t)_i);

	for (int round = 0; round < 400; round++) {
		struct mesh m = random_mesh(r, 120);
		struct layout l = random_layout(r, &m, 3);
		struct move move[RANK_MAX];
		const int32_t *position, *chunk;
		struct groups g;
		int nmoves = 0, nparts = l.nparts[0] + l.nparts[1] + l.nparts[2];

		if (rng_below(r, 2))
			m.ids = random_order(r, m.ndevices, memory);
		for (int dim = 0; dim < 3; dim++) {
			int n;
			const struct part *part = layout_parts(&l, dim, &n);

			if (n)
				move[nmoves++] = (struct move){
					dim, -1, (int32_t)layout_shards(&l, dim), n,
					part};
		}
		g = groups_of_moves(&m, move, nmoves, memory);
		chunk = chunks_of_moves(&m, move, nmoves, memory);
		position = mesh_positions(&m, memory);
		ck_assert_int_eq(g.ngroups * g.size, m.ndevices);
		for (int32_t i = 0; i < g.ngroups; i++) {
			const int32_t *member = g.ids + i * g.size;

			check_group(&m, position, member, g.size, l.part, nparts);
			if (i > 0)
				ck_assert_int_lt(position[member[-g.size]],
				                 position[member[0]]);
		}
		for (int32_t d = 0; d < m.ndevices; d++)
			for (int k = 0; k < nmoves; k++)
				ck_assert_int_eq(chunk[d * nmoves + k],
				                 mixed_radix(&m, position[d],
				                             move[k].parts,
				                             move[k].nparts));
	}
	rng_free(r);
}
END_TEST

/* --- pairs ------------------------------------------------------------------------- */

/*
 * The place of a device in a layout's order: the number of devices before it, comparing
 * sharding parts in dimension order, then every axis's coordinate without those parts.
 */
static bool stands_before(const struct mesh *m, const struct layout *l, int32_t a,
                          int32_t b)
{
	int n = 0;
	int32_t u, v;

	for (int dim = 0; dim < l->rank; dim++)
		n += l->nparts[dim];
	u = mixed_radix(m, a, l->part, n);
	v = mixed_radix(m, b, l->part, n);
	return u != v ? u < v : without(m, a, l->part, n) < without(m, b, l->part, n);
}

static int32_t place_of(const struct mesh *m, const struct layout *l, int32_t position)
{
	int32_t place = 0;

	for (int32_t other = 0; other < m->ndevices; other++)
		place += stands_before(m, l, other, position);
	return place;
}

START_TEST(equal_numbers_are_paired)
{
	struct rng *r = rng_new(5309 + (uint64_t)_i);

	for (int round = 0; round < 200; round++) {
		struct mesh m = random_mesh(r, 60);
		struct layout from = random_layout(r, &m, 2),
			      to = random_layout(r, &m, 2);
		const struct pair *pairs;
		const int32_t *position;

		if (rng_below(r, 2))
			m.ids = random_order(r, m.ndevices, memory);
		position = mesh_positions(&m, memory);
		pairs = pairs_of_layouts(&from, &to, &m, memory);
		for (int32_t d = 0; d < m.ndevices; d++) {
			ck_assert_int_eq(pairs[d].src, d);
			ck_assert_int_eq(place_of(&m, &from, position[d]),
			                 place_of(&m, &to, position[pairs[d].dst]));
		}
	}
	rng_free(r);
}
END_TEST

/* Worked by hand: x=2, y=3, P(('x','y')) to P(('y','x')): d = 3x + y goes where 2y + x. */
START_TEST(a_permute_of_swapped_axes)
{
	struct problem p =
		problem_of("f32[6]", "x=2,y=3", "P(('x','y'),)", "P(('y','x'),)");
	struct plan *plan = plan_new(memory, &p, "test");
	static const int32_t goes_to[] = {0, 3, 1, 4, 2, 5};

	plan_permute(plan, &p.to);
	plan_permute(plan, &p.to);
	ck_assert_int_eq(plan->nsteps, 1);
	ck_assert_int_eq(plan->step[0].npairs, 6);
	for (int32_t d = 0; d < 6; d++)
		ck_assert_int_eq(plan->step[0].pairs[d].dst, goes_to[d]);
	plan_finish(plan);
	ck_assert(plan_check(plan, NULL));
	ck_assert_int_eq(plan->recv_bytes, 4);
}
END_TEST

START_TEST(a_listed_layout_is_in_the_order_of_its_list)
{
	struct problem p =
		problem_of("f32[4,3]", "x=2,y=3", "{devices=[2,3]5,0,3,1,4,2}",
	                   "{devices=[2,1,3]4,1,5,2,0,3 "
	                   "last_tile_dim_replicate}");
	static const int32_t from[] = {5, 0, 3, 1, 4, 2}, to[] = {1, 4, 5, 0, 2, 3};

	ck_assert_int_eq(p.from.kind, LAYOUT_TILES);
	ck_assert_mem_eq(devices_in_order(&p.from, &p.mesh, memory), from, sizeof(from));
	ck_assert_mem_eq(devices_in_order(&p.to, &p.mesh, memory), to, sizeof(to));
}
END_TEST

/* --- steps ------------------------------------------------------------------------- */

/* Axes are numbered as in the mesh x=4,y=6,z=2; the array is f32[48,48,48]. */
static const struct {
	const char *from;
	enum op op;
	int nmoves;
	struct {
		int from_dim, to_dim, nparts;
		struct part part[2];
	} move[2];
	const char *after;
	int64_t local[3];
	int32_t factor; /* of the move that is first once they are in order */
} step_cases[] = {
	{"[{}, {}, {}]",
         OP_SLICE,
         1,
         {{-1, 1, 1, {{1, 1, 6}}}},
         "[{}, {\"y\"}, {}]",
         {48, 8, 48},
         6},
	{"[{\"x\"}, {}, {}]",
         OP_SLICE,
         2,
         {{-1, 2, 1, {{1, 3, 2}}}, {-1, 0, 1, {{1, 1, 3}}}},
         "[{\"x\", \"y\":(1)3}, {}, {\"y\":(3)2}]",
         {4, 48, 24},
         3},
	{"[{\"x\":(1)2}, {}, {}]",
         OP_SLICE,
         1,
         {{-1, 0, 1, {{0, 2, 2}}}},
         "[{\"x\"}, {}, {}]",
         {12, 48, 48},
         2},
	{"[{\"x\", \"y\"}, {}, {}]",
         OP_ALL_GATHER,
         1,
         {{0, -1, 1, {{1, 2, 3}}}},
         "[{\"x\", \"y\":(1)2}, {}, {}]",
         {6, 48, 48},
         3},
	{"[{\"x\", \"y\"}, {}, {}]",
         OP_ALL_GATHER,
         1,
         {{0, -1, 2, {{0, 2, 2}, {1, 1, 6}}}},
         "[{\"x\":(1)2}, {}, {}]",
         {24, 48, 48},
         12},
	{"[{\"x\"}, {\"y\"}, {\"z\"}]",
         OP_ALL_GATHER,
         2,
         {{2, -1, 1, {{2, 1, 2}}}, {0, -1, 1, {{0, 1, 4}}}},
         "[{}, {\"y\"}, {}]",
         {48, 8, 48},
         4},
	{"[{\"x\", \"y\"}, {\"z\"}, {}]",
         OP_ALL_TO_ALL,
         1,
         {{0, 1, 1, {{1, 3, 2}}}},
         "[{\"x\", \"y\":(1)3}, {\"z\", \"y\":(3)2}, {}]",
         {4, 12, 48},
         2},
	{"[{\"x\":(1)2}, {}, {\"x\":(2)2}]",
         OP_ALL_TO_ALL,
         1,
         {{2, 0, 1, {{0, 2, 2}}}},
         "[{\"x\"}, {}, {}]",
         {12, 48, 48},
         2},
};

START_TEST(steps_move_axes)
{
	struct problem p = problem_of("f32[48,48,48]", "x=4,y=6,z=2",
	                              step_cases[_i].from, step_cases[_i].after);
	struct plan *plan = plan_new(memory, &p, "test");
	struct move move[2];
	struct shape local;
	struct text why = {0};

	for (int k = 0; k < step_cases[_i].nmoves; k++)
		move[k] = (struct move){.from_dim = step_cases[_i].move[k].from_dim,
		                        .to_dim = step_cases[_i].move[k].to_dim,
		                        .nparts = step_cases[_i].move[k].nparts,
		                        .parts = step_cases[_i].move[k].part};
	plan_axes_step(plan, step_cases[_i].op, move, step_cases[_i].nmoves);
	ck_assert(layout_same_tiles(plan_layout(plan), &p.mesh, &p.to, &p.mesh));
	ck_assert_int_eq(plan->step[0].move[0].factor, step_cases[_i].factor);
	local = plan_local(plan);
	for (int dim = 0; dim < 3; dim++)
		ck_assert_int_eq(local.dim[dim], step_cases[_i].local[dim]);
	plan_finish(plan);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
}
END_TEST

START_TEST(a_step_given_by_groups_gets_its_axes)
{
	struct problem p =
		problem_of("f32[6,6]", "x=2,y=3", "P('x','y')", "P(None,'y')");
	struct plan *plan = plan_new(memory, &p, "test");
	static const int32_t ids[] = {0, 3, 1, 4, 2, 5};
	struct move move = {.from_dim = 0, .to_dim = -1, .factor = 2};
	const struct tiling *t = layout_tiling(&p.to, &p.mesh, memory);
	struct layout after = layout_of_tiling(t, memory);

	ck_assert_int_eq(after.kind, LAYOUT_TILES);
	plan_groups_step(plan, OP_ALL_GATHER, &move, 1, (struct groups){3, 2, ids},
	                 NULL, &after);
	plan_finish(plan);
	ck_assert_int_eq(plan->step[0].after.kind, LAYOUT_AXES);
	ck_assert_int_eq(plan->step[0].move[0].nparts, 1);
	ck_assert_int_eq(plan->step[0].move[0].parts[0].axis, 0);
	ck_assert(plan_check(plan, NULL));
	ck_assert_int_eq(plan->recv_bytes, 6 * 4);
}
END_TEST

/* --- random plans ------------------------------------------------------------------ */

static int64_t most(const int64_t *x, int32_t n)
{
	int64_t best = 0;

	for (int32_t i = 0; i < n; i++)
		best = x[i] > best ? x[i] : best;
	return best;
}

/* Received and padding bytes of every step and of the plan against counted elements. */
static void compare_bytes(const struct plan *p, struct arena *a)
{
	const struct dtype *type = p->problem->array.dtype;
	int32_t n = p->problem->mesh.ndevices;
	int64_t *padded, *real, *counted, *counted_real, total[64] = {0};
	size_t bytes = (size_t)(p->nsteps * n) * sizeof(int64_t);

	interpret_received(p, a, &padded, &real);
	plan_count(p, a, &counted, &counted_real);
	ck_assert_mem_eq(padded, counted, bytes);
	ck_assert_mem_eq(real, counted_real, bytes);
	for (int i = 0; i < p->nsteps; i++) {
		int64_t busiest = most(padded + i * n, n), padding = 0;

		for (int32_t d = 0; d < n; d++) {
			int64_t extra = padded[i * n + d] - real[i * n + d];

			padding = extra > padding ? extra : padding;
			total[d] += padded[i * n + d];
		}
		ck_assert_int_eq(p->step[i].recv_bytes, dtype_bytes(type, busiest));
		ck_assert_int_eq(p->step[i].send_bytes, dtype_bytes(type, busiest));
		ck_assert_int_eq(p->step[i].padding_bytes, dtype_bytes(type, padding));
	}
	ck_assert_int_eq(p->recv_bytes, dtype_bytes(type, most(total, n)));
	ck_assert_int_eq(p->send_bytes, p->recv_bytes);
}

/* The limit is for the largest array, the device's memory for what lives at once. */
static void check_fits(const struct plan *p, int64_t array, int64_t live)
{
	struct problem q = *p->problem;
	struct plan plan = *p;

	plan.problem = &q;
	ck_assert(!plan_over_memory(&plan));
	q.memory_limit_bytes = array;
	ck_assert(!plan_over_memory(&plan));
	q.memory_limit_bytes = array - 1;
	ck_assert(plan_over_memory(&plan));
	q.memory_limit_bytes = -1;
	q.device_memory_bytes = live;
	ck_assert(!plan_over_memory(&plan));
	q.device_memory_bytes = live - 1;
	ck_assert_int_eq(plan_over_memory(&plan), live > 1);
}

/* The peaks by definition: the largest tile, the largest source + operand + result. */
static void compare_memory(const struct plan *p)
{
	const struct problem *q = p->problem;
	const struct dtype *type = q->array.dtype;
	int64_t source = dtype_bytes(type, layout_local_elements(&q->from, &q->padded));
	int64_t array = source, live = source, operand = 0;

	for (int i = 0; i < p->nsteps; i++) {
		int64_t result = dtype_bytes(
			type, layout_local_elements(&p->step[i].after, &q->padded));

		array = result > array ? result : array;
		if (source + operand + result > live)
			live = source + operand + result;
		operand = result;
	}
	ck_assert_int_eq(p->peak_array_bytes, array);
	ck_assert_int_eq(p->peak_live_bytes, live);
	check_fits(p, array, live);
}

START_TEST(random_plans_are_right_and_cost_what_they_move)
{
	struct rng *r = rng_new(4409 + (uint64_t)_i);

	for (int round = 0; round < 100; round++) {
		struct plan *p = random_plan(r, memory, 16, 6);
		struct text why = {0};
		int step;

		ck_assert_msg(plan_check(p, &why), "%s", why.s);
		ck_assert(plan_interpret(p, memory, &step));
		compare_bytes(p, memory);
		compare_memory(p);
		for (int i = 0; i < p->nsteps; i++)
			ck_assert(p->step[i].op == OP_PERMUTE || p->step[i].nmoves > 0);
		arena_reset(memory);
	}
	rng_free(r);
}
END_TEST

START_TEST(larger_random_plans_are_right)
{
	struct rng *r = rng_new(9011 + (uint64_t)_i);

	for (int round = 0; round < 100; round++) {
		struct plan *p = random_plan(r, memory, 216, 9);
		struct text why = {0};

		ck_assert_msg(plan_check(p, &why), "%s", why.s);
		compare_memory(p);
		arena_reset(memory);
	}
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("plan");
	TCase *c = tcase_create("plan");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_add_test(c, gather_of_y_and_x_has_the_groups_of_the_spec);
	tcase_add_test(c, groups_are_of_device_ids_not_positions);
	tcase_add_loop_test(c, groups_are_those_of_the_definition, 0, 3);
	tcase_add_loop_test(c, equal_numbers_are_paired, 0, 3);
	tcase_add_test(c, a_permute_of_swapped_axes);
	tcase_add_test(c, a_listed_layout_is_in_the_order_of_its_list);
	tcase_add_loop_test(c, steps_move_axes, 0,
	                    sizeof(step_cases) / sizeof(*step_cases));
	tcase_add_test(c, a_step_given_by_groups_gets_its_axes);
	tcase_add_loop_test(c, random_plans_are_right_and_cost_what_they_move, 0, 10);
	tcase_add_loop_test(c, larger_random_plans_are_right, 0, 5);
	suite_add_tcase(suite, c);
	return suite;
}
