/* Problems: errors in the right text, padded shapes, atoms and bounds. */
#include "plan/problem.h"
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

/* Texts in the order of the options, NULL where an option is not given. */
struct texts {
	const char *array, *mesh, *from, *to, *to_mesh, *limit, *devices, *list,
		*to_list;
};

#define TEXTS(a, m, f, t, ...)                                                         \
	{                                                                              \
		.array = (a), .mesh = (m), .from = (f), .to = (t), __VA_ARGS__         \
	}

static enum status make(struct problem *p, struct texts t, struct error *e)
{
	struct problem_text text = {
		.array = t.array,
		.mesh = t.mesh,
		.to_mesh = t.to_mesh,
		.from = t.from,
		.to = t.to,
		.memory_limit = t.limit,
		.num_devices = t.devices,
		.devices = t.list,
		.to_devices = t.to_list,
		.array_at = where_option("--array", t.array),
		.mesh_at = where_option("--mesh", t.mesh),
		.to_mesh_at = where_option("--to-mesh", t.to_mesh),
		.from_at = where_option("--from", t.from),
		.to_at = where_option("--to", t.to),
		.memory_limit_at = where_option("--memory-limit", t.limit),
		.num_devices_at = where_option("--num-devices", t.devices),
		.devices_at = where_option("--devices", t.list),
		.to_devices_at = where_option("--to-devices", t.to_list),
	};

	return problem_make(p, memory, &text, e);
}

static struct problem made(struct texts t)
{
	struct problem p;
	struct error e = {0};

	ck_assert_msg(make(&p, t, &e) == OK, "%s:%u: %s", e.at.file, e.at.col, e.text);
	return p;
}

/* --- errors ------------------------------------------------------------------------ */

static const struct {
	struct texts texts;
	enum status code;
	const char *file;
	unsigned line, col;
	const char *says;
} bad[] = {
	{TEXTS("f33[6]", "x=2", "P()", "P()"), E_TYPE, "--array", 1, 1,
         "element type 'f33'"},
	{TEXTS("", "x=2", "P()", "P()"), E_SYNTAX, "--array", 1, 1, "expected an array"},
	{TEXTS("f32[6,\n0]", "x=2", "P()", "P()"), E_RANGE, "--array", 2, 1,
         "out of range"},
	{TEXTS("f32[6]", "x=2,x=3", "P()", "P()"), E_TYPE, "--mesh", 1, 5, "'x'"},
	{TEXTS("f32[6]", "x=0", "P()", "P()"), E_RANGE, "--mesh", 1, 3, "out of range"},
	{TEXTS("f32[6]", "x=2,y=3", "P('z')", "P()"), E_TYPE, "--from", 1, 4, "'z'"},
	{TEXTS("f32[6,6]", "x=2,y=3", "P('x','y')", "P(None, ('y','w'))"), E_TYPE,
         "--to", 1, 15, "'w'"},
	{TEXTS("f32[6,6]", "x=2,y=3", "P('x','x')", "P()"), E_TYPE, "--from", 1, 8,
         "twice"},
	{TEXTS("f32[6,6]", "x=2", "P('x')", "P(None,None,'x')"), E_TYPE, "--to", 1, 13,
         "dimension"},
	{TEXTS("f32[6]", "x=2", "[{\"x\"}, {}]", "P()"), E_TYPE, "--from", 1, 9,
         "dimensions"},
	{TEXTS("f32[6]", "x=4", "[{\"x\":(1)3}]", "P()"), E_TYPE, "--from", 1, 7,
         "divide"},
	{TEXTS("f32[6]", NULL, "P('x')", "P()"), E_TYPE, "--from", 1, 1, "needs a mesh"},
	{TEXTS("f32[6]", NULL, "{devices=[6]<=[6]}", " P()"), E_TYPE, "--to", 1, 2,
         "needs a mesh"},
	{TEXTS("f32[6]", NULL, "{devices=[6]<=[6]}", "{devices=[3]<=[3]}"), E_TYPE,
         "--to", 1, 1, "expected 6"},
	{TEXTS("f32[6]", NULL, "{replicated}", "{replicated}"), E_TYPE, "--from", 1, 1,
         "neither layout lists its devices"},
	{TEXTS("f32[6]", NULL, "{devices=[6]<=[6]}", "{replicated}", .devices = "7"),
         E_TYPE, "--from", 1, 1, "expected 7"},
	{TEXTS("f32[6]", NULL, "{replicated}", "{replicated}", .devices = "0"), E_RANGE,
         "--num-devices", 1, 1, "out of range"},
	{TEXTS("f32[6]", NULL, "{replicated}", "{replicated}", .devices = "3x"),
         E_SYNTAX, "--num-devices", 1, 2, "expected the end"},
	{TEXTS("f32[6]", "x=2,y=3", "P('x')", "P('u')", .to_mesh = "u=7", .list = "3-8"),
         E_TYPE, "--to-mesh", 1, 1, "device 6 would be in the target mesh twice"},
	{TEXTS("f32[6]", "x=2,y=3", "P('x')", "P('u')", .to_mesh = "u=5",
               .to_list = "1-6"),
         E_TYPE, "--to-devices", 1, 1, "6 devices, expected 5"},
	{TEXTS("f32[6]", "x=2", "P('x')", "P()", .list = "0,1,2"), E_TYPE, "--devices",
         1, 1, "3 devices, expected 2"},
	{TEXTS("f32[6]", "x=2", "P('x')", "P()", .list = "0,4194304"), E_RANGE,
         "--devices", 1, 3, "out of range"},
	{TEXTS("f32[6]", "x=2", "P('x')", "P()", .to_list = "7,7"), E_TYPE,
         "--to-devices", 1, 3, "twice"},
	{TEXTS("f32[6]", "x=2,y=3", "P('x')", "P('u')", .to_mesh = "u=,"), E_SYNTAX,
         "--to-mesh", 1, 3, "whole number"},
	{TEXTS("f32[6]", "x=2,y=3", "P('x')", "P('x')", .to_mesh = "u=6"), E_TYPE,
         "--to", 1, 4, "'x'"},
	{TEXTS("f32[6]", "x=2", "P('x')", "P()", .limit = "2Gib"), E_SYNTAX,
         "--memory-limit", 1, 3, "unknown unit"},
	{TEXTS("f32[6]", "x=2", "P('x')", "P()", .limit = "-1"), E_SYNTAX,
         "--memory-limit", 1, 1, "expected a size"},
	{TEXTS("f32[6]", "x=2", "{devices=[3]<=[3]}", "P()"), E_TYPE, "--from", 1, 0,
         "device"},
	{TEXTS("f32[6]", "x=2", "what", "P()"), E_SYNTAX, "--from", 1, 1, "expected"},
};

START_TEST(errors_are_in_the_text_that_is_wrong)
{
	struct problem p;
	struct error e = {0};

	ck_assert_int_eq(make(&p, bad[_i].texts, &e), bad[_i].code);
	ck_assert_int_eq(e.code, bad[_i].code);
	ck_assert_msg(strstr(e.text, bad[_i].says), "%s", e.text);
	ck_assert_msg(!strcmp(e.at.file, bad[_i].file), "%s: %s", e.at.file, e.text);
	ck_assert_uint_eq(e.at.line, bad[_i].line);
	/* Column 0 in the table: any place in the text will do. */
	if (bad[_i].col)
		ck_assert_msg(e.at.col == bad[_i].col, "col %u: %s", e.at.col, e.text);
}
END_TEST

/* --- padding ----------------------------------------------------------------------- */

/* x=4,y=3: extents of the single dimension, worked by hand. */
static const struct {
	int64_t real;
	const char *from, *to;
	bool ok, even;
	int64_t padded;
} paddings[] = {
	{12, "P('x')", "P('y')", true, true, 12},
	{11, "P('x')", "P('y')", true, false, 12}, /* 3*4, 4*3 */
	{10, "P('x')", "P('y')", true, false, 12}, /* 3*4, 4*3 */
	{9, "P('x')", "P('y')", false, false, 9},  /* 3*4, 3*3 */
	{7, "P('x')", "P('y')", false, false, 7},  /* 2*4, 3*3 */
	{7, "P('x')", "P()", false, false, 7},     /* 8, 7 */
	{7, "P('x')", "P('x')", true, false, 8},
	{7, "P()", "P()", true, true, 7},
	{5, "P(('x','y'),)", "P('y')", false, false, 5}, /* 12, 6 */
	{11, "P(('x','y'),)", "P('y')", true, false, 12},
	{1, "P('x')", "P('y')", false, false, 1}, /* 4, 3 */
};

START_TEST(padded_extents_agree_or_are_not_used)
{
	struct texts t = {.mesh = "x=4,y=3"};
	struct problem p;

	t.array = arena_printf(memory, "f32[5,%lld]", (long long)paddings[_i].real);
	t.from = arena_printf(memory, "P(None,%s", paddings[_i].from + 2);
	t.to = arena_printf(memory, "P(None,%s", paddings[_i].to + 2);
	p = made(t);
	ck_assert_int_eq(p.padded_ok, paddings[_i].ok);
	ck_assert_int_eq(p.padded.dim[0], 5);
	ck_assert_int_eq(p.padded.dim[1], paddings[_i].padded);
	ck_assert_int_eq(problem_even(&p), paddings[_i].even);
}
END_TEST

/* One dimension that does not agree is enough: all are the real ones again. */
START_TEST(one_uneven_dimension_spoils_all)
{
	struct problem p = made((struct texts)TEXTS("f32[3,9]", "x=4,y=3", "P('x','y')",
	                                            "P('x',None)"));

	ck_assert(p.padded_ok);
	ck_assert_int_eq(p.padded.dim[0], 4);
	p = made((struct texts)TEXTS("f32[3,10]", "x=4,y=3", "P('x','y')",
	                             "P('x',None)"));
	ck_assert(!p.padded_ok);
	ck_assert_int_eq(p.padded.dim[0], 3);
	ck_assert_int_eq(p.padded.dim[1], 10);
}
END_TEST

/* What padding takes above 2^62 bits cannot be planned on. */
START_TEST(huge_arrays_do_not_overflow)
{
	struct texts t =
		TEXTS("s8[576460752303423488,1]", "x=30", "P(None,'x')", "P(None,'x')");
	struct problem p = made(t);

	ck_assert(!p.padded_ok);
	ck_assert_int_eq(p.padded.dim[1], 1);
	ck_assert_int_eq(p.memory_bound_bytes, 576460752303423488);
	ck_assert_int_eq(p.recv_bound_bytes, 0);
	t.array = "s4[1152921504606846976,1]";
	ck_assert(!made(t).padded_ok);
	t.array = "s4[576460752303423488,1]";
	t.mesh = "x=2,y=5";
	ck_assert(made(t).padded_ok);
	t.array = "s4[576460752303423489,1]";
	ck_assert(!made(t).padded_ok);
	t.from = t.to = "P('x')";
	t.array = "s8[576460752303423487]";
	ck_assert(made(t).padded_ok);
}
END_TEST

/* --- bounds ------------------------------------------------------------------------ */

/* Does device d hold the element in dimension dim, by the definition of tiles? */
static bool holds(const struct held *one_element_tiles, const struct shape *tile,
                  const struct shape *shards, int32_t d, const int64_t *index)
{
	int64_t number = one_element_tiles->cell[d][0].element;

	for (int dim = shards->rank - 1; dim >= 0; dim--) {
		if (index[dim] / tile->dim[dim] != number % shards->dim[dim])
			return false;
		number /= shards->dim[dim];
	}
	return true;
}

/* The elements, one by one, that a device has to get and that it holds at either end. */
static void count(const struct problem *p, int64_t *lacks, int64_t *largest)
{
	const struct shape *g = &p->array.shape;
	struct shape shards[2] = {*g, *g}, tile[2] = {*g, *g};
	struct held grid[2];

	for (int dim = 0; dim < g->rank; dim++) {
		shards[0].dim[dim] = layout_shards(&p->from, dim);
		shards[1].dim[dim] = layout_shards(&p->to, dim);
		for (int k = 0; k < 2; k++)
			tile[k].dim[dim] = (g->dim[dim] + shards[k].dim[dim] - 1) /
			                   shards[k].dim[dim];
	}
	grid[0] = held_by_layout(&p->from, &p->mesh, &shards[0], NULL, memory);
	grid[1] = held_by_layout(&p->to, &p->to_mesh, &shards[1], NULL, memory);
	*lacks = *largest = 0;
	for (int32_t d = 0; d < p->mesh.ndevices; d++) {
		int64_t missing = 0, n[2] = {0, 0};

		for (int64_t e = 0; e < shape_elements(g); e++) {
			int64_t index[RANK_MAX], rest = e;
			bool has[2];

			for (int dim = g->rank - 1; dim >= 0; dim--) {
				index[dim] = rest % g->dim[dim];
				rest /= g->dim[dim];
			}
			for (int k = 0; k < 2; k++) {
				has[k] = holds(&grid[k], &tile[k], &shards[k], d, index);
				n[k] += has[k];
			}
			missing += has[1] && !has[0];
		}
		*lacks = missing > *lacks ? missing : *lacks;
		for (int k = 0; k < 2; k++)
			*largest = n[k] > *largest ? n[k] : *largest;
	}
}

static void compare_bounds(const struct problem *p)
{
	int64_t lacks, largest;

	count(p, &lacks, &largest);
	ck_assert_int_eq(p->recv_bound_bytes, dtype_bytes(p->array.dtype, lacks));
	ck_assert_int_eq(p->memory_bound_bytes, dtype_bytes(p->array.dtype, largest));
}

/* Real shapes of any size, between layouts on the same mesh and on two. */
START_TEST(bounds_are_counted_elements)
{
	struct rng *r = rng_new(3301 + (uint64_t)_i);

	for (int round = 0; round < 60; round++) {
		struct problem *p = random_problem(r, memory, 16);

		for (int dim = 0; dim < p->array.shape.rank; dim++)
			p->array.shape.dim[dim] = 1 + (int64_t)rng_below(r, 15);
		if (rng_below(r, 2)) {
			/* The same devices as one axis, in another order. */
			struct mesh m = {.naxes = 1, .ndevices = p->mesh.ndevices};

			m.axis[0] = (struct axis){"u", m.ndevices};
			m.ids = random_order(r, m.ndevices, memory);
			p->to_mesh = m;
			p->two_meshes = true;
			p->to = random_layout(r, &m, p->array.shape.rank);
		}
		problem_finish(p);
		compare_bounds(p);
		arena_reset(memory);
	}
	rng_free(r);
}
END_TEST

static const struct {
	struct texts texts;
	int64_t recv, memory;
	bool axes, atoms;
	int natoms;
} problems[] = {
	/* From tiles of 3 to tiles of 2; device (0,2) wants 4 5 and has 0 1 2. */
	{TEXTS("f32[6]", "x=2,y=3", "P('x')", "P('y')"), 8, 12, true, true, 2},
	{TEXTS("bf16[8192,8192]", "x=4,y=2", "P('x', None)", "P(None, 'y')"), 50331648,
         67108864, true, true, 3},
	{TEXTS("s4[7]", "x=2", "P('x')", "P()"), 2, 4, true, true, 1},
	{TEXTS("f32[]", "x=2", "P()", "P()"), 0, 4, true, true, 1},
	{TEXTS("f32[6]", NULL, "{devices=[6]<=[6]}", "{devices=[6]<=[2,3]T(1,0)}"), 4,
         4, true, true, 2},
	/* No order of 6 devices in digits: 0 1 2 3 5 4. */
	{TEXTS("f32[12]", NULL, "{devices=[6]0,1,2,3,5,4}", "{replicated}"), 40, 48,
         false, false, 0},
	{TEXTS("f32[12]", NULL, "{replicated}", "{replicated}", .devices = "5"), 0, 48,
         true, true, 1},
	/* A half and a third of an axis of 6 cut it at places that do not nest. */
	{TEXTS("f32[12]", "x=6", "[{\"x\":(1)2}]", "[{\"x\":(1)3}]"), 8, 24, true,
         false, 0},
	{TEXTS("f32[12]", "x=6", "P('x')", "P('v')", .to_mesh = "u=2,v=3"), 16, 16,
         true, true, 2},
	{TEXTS("f32[12]", "x=2,y=3", "P('x')", "P('u')", .to_mesh = "u=3,v=2"), 8, 24,
         true, false, 0},
	{TEXTS("f32[12]", "<[\"x\"=6], device_ids=[5,4,3,2,1,0]>", "P('x')", "P('x')",
               .to_mesh = "x=6"),
         8, 8, true, false, 0},
	{TEXTS("f32[12]", NULL, "{maximal device=2}", "{devices=[3]<=[3]}"), 16, 48,
         false, false, 0},
};

START_TEST(problems_are_completed)
{
	struct problem p = made(problems[_i].texts);

	ck_assert_int_eq(p.recv_bound_bytes, problems[_i].recv);
	ck_assert_int_eq(p.memory_bound_bytes, problems[_i].memory);
	ck_assert_int_eq(p.memory_limit_bytes, -1);
	ck_assert_int_eq(p.from.kind == LAYOUT_AXES && p.to.kind == LAYOUT_AXES,
	                 problems[_i].axes);
	ck_assert_int_eq(p.has_atoms, problems[_i].atoms);
	ck_assert_int_eq(p.two_meshes, problems[_i].texts.to_mesh != NULL);
	if (p.has_atoms) {
		int64_t n = 1;

		ck_assert_ptr_null(p.no_atoms);
		ck_assert_int_eq(p.atoms.n, problems[_i].natoms);
		for (int i = p.atoms.n - 1; i >= 0; i--) {
			ck_assert_int_eq(p.atoms.atom[i].stride, n);
			n *= p.atoms.atom[i].size;
		}
		ck_assert_int_eq(n, p.mesh.ndevices);
	} else {
		ck_assert_uint_gt(strlen(p.no_atoms), 10);
	}
}
END_TEST

START_TEST(limits_and_equal_meshes_are_read)
{
	struct texts t = TEXTS("f32[6]", "x=2,y=3", "P('x')", "P('y')",
	                       .limit = "48KiB", .to_mesh = "x=2,y=3");
	struct problem p = made(t);

	ck_assert_int_eq(p.memory_limit_bytes, 49152);
	ck_assert(!p.two_meshes);
	t.limit = "0";
	ck_assert_int_eq(made(t).memory_limit_bytes, 0);
}
END_TEST

/* --- devices of two meshes ---------------------------------------------------------- */

/*
 * Numbers by hand: the source's devices first, in its order, then what the target adds.
 * `ids`: of the target's places; `platform`: of every number.
 */
static const struct {
	const char *mesh, *to_mesh, *list, *to_list;
	int32_t n;
	bool same, two;
	int32_t ids[6], platform[9];
} numberings[] = {
	{"x=3", "x=3", NULL, NULL, 3, true, false, {0, 1, 2}, {0, 1, 2}},
	{"x=3", "x=3", "5,7,1", NULL, 3, true, false, {0, 1, 2}, {5, 7, 1}},
	/* a part, more, others, the same in another order, some of both */
	{"x=5", "u=2", NULL, NULL, 5, false, true, {0, 1}, {0, 1, 2, 3, 4}},
	{"x=5", "u=2", "9,8,7,6,5", NULL, 5, false, true, {0, 1}, {9, 8, 7, 6, 5}},
	{"x=2", "u=5", NULL, NULL, 5, false, true, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}},
	{"x=2", "u=3", NULL, "4-6", 5, false, true, {2, 3, 4}, {0, 1, 4, 5, 6}},
	{"x=3", "u=3", NULL, "2,0,1", 3, true, true, {2, 0, 1}, {0, 1, 2}},
	{"x=3", "x=3", "5,7,1", "7,1,5", 3, true, true, {1, 2, 0}, {5, 7, 1}},
	{"x=3",
         "u=5",
         "5,7,1",
         "1,3,5,0,9",
         6,
         false,
         true,
         {2, 3, 0, 4, 5},
         {5, 7, 1, 3, 0, 9}},
	/* the target's own order comes before its list */
	{"x=3",
         "<[\"u\"=3], device_ids=[2,0,1]>",
         NULL,
         "8,1,0",
         4,
         false,
         true,
         {0, 3, 1},
         {0, 1, 2, 8}},
};

START_TEST(devices_are_numbered_together)
{
	struct texts t =
		TEXTS("f32[30]", numberings[_i].mesh, "P()", "P()",
	              .to_mesh = numberings[_i].to_mesh, .list = numberings[_i].list,
	              .to_list = numberings[_i].to_list);
	struct problem p = made(t);

	ck_assert_int_eq(p.ndevices, numberings[_i].n);
	ck_assert_int_eq(p.same_devices, numberings[_i].same);
	ck_assert_int_eq(p.two_meshes, numberings[_i].two);
	for (int32_t i = 0; i < p.mesh.ndevices; i++)
		ck_assert_int_eq(mesh_device(&p.mesh, i), i);
	for (int32_t i = 0; i < p.to_mesh.ndevices; i++)
		ck_assert_int_eq(mesh_device(&p.to_mesh, i), numberings[_i].ids[i]);
	for (int32_t d = 0; d < p.ndevices; d++)
		ck_assert_int_eq(p.platform ? p.platform[d] : d,
		                 numberings[_i].platform[d]);
	/* All on the source lack nothing; who joins lacks the 30 numbers of 4 bytes. */
	ck_assert_int_eq(p.recv_bound_bytes, p.ndevices > p.mesh.ndevices ? 120 : 0);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("problem");
	TCase *c = tcase_create("problem");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_add_loop_test(c, errors_are_in_the_text_that_is_wrong, 0,
	                    sizeof(bad) / sizeof(*bad));
	tcase_add_loop_test(c, padded_extents_agree_or_are_not_used, 0,
	                    sizeof(paddings) / sizeof(*paddings));
	tcase_add_test(c, one_uneven_dimension_spoils_all);
	tcase_add_test(c, huge_arrays_do_not_overflow);
	tcase_add_loop_test(c, bounds_are_counted_elements, 0, 5);
	tcase_add_loop_test(c, problems_are_completed, 0,
	                    sizeof(problems) / sizeof(*problems));
	tcase_add_test(c, limits_and_equal_meshes_are_read);
	tcase_add_loop_test(c, devices_are_numbered_together, 0,
	                    sizeof(numberings) / sizeof(*numberings));
	suite_add_tcase(suite, c);
	return suite;
}
