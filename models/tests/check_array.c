#include "array/layout.h"
#include "array/tile.h"
#include "array/type.h"
#include "base/rng.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
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

static struct mesh mesh_of(const char *text)
{
	struct mesh m;
	struct error e = {0};

	ck_assert_msg(mesh_parse(&m, arena, text, where_option("--mesh", text), &e) == OK,
	              "%s: %s", text, e.text);
	return m;
}

static const struct {
	const char *text, *printed;
	int64_t bytes;
} good_arrays[] = {
	{"bf16[8192,8192]", "bf16[8192,8192]", 134217728},
	{"float32[3, 5,7]", "f32[3,5,7]", 420},
	{"f32[]", "f32[]", 4},
	{"s4[7]", "s4[7]", 4},
	{"pred[49153]", "pred[49153]", 49153},
};

START_TEST(arrays_print_what_they_read)
{
	struct array a;
	struct error e = {0};
	struct text t = {0};

	ck_assert_int_eq(array_parse(&a, good_arrays[_i].text,
	                             where_option("--array", good_arrays[_i].text), &e),
	                 OK);
	array_print(&t, &a);
	ck_assert_str_eq(t.s, good_arrays[_i].printed);
	ck_assert_int_eq(dtype_bytes(a.dtype, shape_elements(&a.shape)),
	                 good_arrays[_i].bytes);
	text_free(&t);
}
END_TEST

static const struct {
	const char *text;
	enum status code;
	unsigned col;
	const char *says;
} bad_arrays[] = {
	{"", E_SYNTAX, 1, "expected an array"},
	{"f33[2]", E_TYPE, 1, "unknown element type 'f33'"},
	{"f32[2", E_SYNTAX, 6, "expected ','"},
	{"f32[0]", E_RANGE, 5, "out of range"},
	{"f32[2,]", E_SYNTAX, 7, "expected a dimension"},
	{"s8[9223372036854775808]", E_RANGE, 4, "out of range"},
	{"s8[4294967296,2147483648]", E_RANGE, 15, "too many elements"},
	{"f64[1152921504606846976]", E_RANGE, 5, "too many elements"},
	{"f32[2]x", E_SYNTAX, 7, "expected the end"},
	{"f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
         E_RANGE, 69, "at most 32 dimensions"},
};

START_TEST(bad_arrays_say_where)
{
	struct array a;
	struct error e = {0};

	ck_assert_int_eq(array_parse(&a, bad_arrays[_i].text,
	                             where_option("--array", bad_arrays[_i].text), &e),
	                 bad_arrays[_i].code);
	ck_assert_uint_eq(e.at.col, bad_arrays[_i].col);
	ck_assert_msg(strstr(e.text, bad_arrays[_i].says), "%s", e.text);
}
END_TEST

START_TEST(meshes_print_what_they_read)
{
	static const char *const texts[][2] = {
		{"x=4,y=2", "x=4,y=2"},
		{"Mesh('data': 3, 'model': 5, axis_types=(Auto, Auto))",
	         "data=3,model=5"},
		{"sdy.mesh @m = <[\"x\"=2, \"y\"=3]>", "x=2,y=3"},
		{"<[\"x\"=2,\"y\"=2], device_ids=[0,2,1,3]>",
	         "<[\"x\"=2,\"y\"=2], device_ids=[0,2,1,3]>"},
		{"a b", NULL},
	};
	struct mesh m = {0};

	for (int i = 0; texts[i][1]; i++) {
		struct text t = {0};

		m = mesh_of(texts[i][0]);
		mesh_print(&t, &m);
		ck_assert_str_eq(t.s, texts[i][1]);
		text_free(&t);
	}
	ck_assert_int_eq(mesh_device(&m, 1), 2);
	ck_assert_int_eq(mesh_positions(&m, arena)[2], 1);
}
END_TEST

static const struct {
	const char *text;
	enum status code;
	unsigned col;
	const char *says;
} bad_meshes[] = {
	{"", E_SYNTAX, 1, "expected an axis"},
	{"x", E_SYNTAX, 2, "expected '='"},
	{"x=4,x=2", E_TYPE, 5, "twice"},
	{"x=0", E_RANGE, 3, "out of range"},
	{"x=4096,y=4096", E_RANGE, 10, "too many devices"},
	{"<[\"x\"=2], device_ids=[0,0]>", E_TYPE, 26, "listed twice"},
	{"<[\"x\"=2], device_ids=[0,2]>", E_RANGE, 25, "out of range"},
	{"<[\"x=2]>", E_SYNTAX, 3, "not closed"},
	{"x=2 y=3", E_SYNTAX, 5, "expected the end"},
};

START_TEST(bad_meshes_say_where)
{
	struct mesh m;
	struct error e = {0};

	ck_assert_int_eq(mesh_parse(&m, arena, bad_meshes[_i].text,
	                            where_option("--mesh", bad_meshes[_i].text), &e),
	                 bad_meshes[_i].code);
	ck_assert_uint_eq(e.at.col, bad_meshes[_i].col);
	ck_assert_msg(strstr(e.text, bad_meshes[_i].says), "%s", e.text);
}
END_TEST

START_TEST(a_mesh_of_65_axes_is_refused)
{
	struct text t = {0};
	struct mesh m;
	struct error e = {0};

	for (int i = 0; i < 65; i++)
		text_printf(&t, "%sa%d=1", i ? "," : "", i);
	ck_assert_int_eq(mesh_parse(&m, arena, t.s, where_option("--mesh", t.s), &e),
	                 E_RANGE);
	ck_assert_ptr_nonnull(strstr(e.text, "at most 64 axes"));
	text_free(&t);
}
END_TEST

/* A random valid layout: whole axes and, now and then, the halves of a split axis. */
static struct layout random_layout(struct rng *r, const struct mesh *m, int rank)
{
	struct layout l = layout_replicated(rank);
	int order[MESH_AXES_MAX];

	for (int i = 0; i < m->naxes; i++)
		order[i] = i;
	for (int i = m->naxes - 1; i > 0; i--) {
		int j = (int)rng_below(r, (uint32_t)i + 1), t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	for (int i = 0; i < m->naxes; i++) {
		int32_t size = m->axis[order[i]].size, first = size % 2 ? size : 2;
		bool split = rng_below(r, 2) && size > first;
		struct part p = {(int16_t)order[i], 1, split ? first : size};
		struct part q = {(int16_t)order[i], first, size / first};
		uint32_t dims = (uint32_t)rank;

		if (rng_below(r, 4) > 0)
			layout_append(&l, (int)rng_below(r, dims), p);
		if (split && rng_below(r, 4) > 0)
			layout_append(&l, (int)rng_below(r, dims), q);
	}
	layout_normalise(&l);
	return l;
}

/* The tile by definition: coordinates first, then the base offset (README, "Layouts"). */
static int64_t spec_tile(const struct layout *l, const struct mesh *m, int32_t position,
                         int dim)
{
	int64_t index = 0;
	int n;
	const struct part *p = layout_parts(l, dim, &n);

	for (int k = 0; k < n; k++) {
		int64_t c = position, size = m->axis[p[k].axis].size;

		for (int x = m->naxes - 1; x > p[k].axis; x--)
			c /= m->axis[x].size;
		c %= size;
		c = c / (size / ((int64_t)p[k].pre * p[k].size)) % p[k].size;
		index = index * p[k].size + c;
	}
	return index;
}

START_TEST(tiles_follow_the_base_offset_map)
{
	static const char *const meshes[] = {
		"x=4,y=2", "x=6,y=5,z=2", "a=3,b=4,c=3",
		"<[\"x\"=2,\"y\"=4], device_ids=[7,1,2,0,4,5,3,6]>"};
	struct rng *r = rng_new(17);
	struct shape g = {.rank = 3, .dim = {720, 49, 7}};

	for (int i = 0; i < 400; i++) {
		struct mesh m = mesh_of(meshes[i % 4]);
		struct layout l = random_layout(r, &m, 3);
		struct tilemap t = tilemap_make(&l, &m, &g, arena);

		for (int32_t p = 0; p < m.ndevices; p++) {
			int32_t d = mesh_device(&m, p);

			for (int dim = 0; dim < 3; dim++)
				ck_assert_int_eq(t.index[d * 3 + dim],
				                 spec_tile(&l, &m, p, dim));
		}
	}
	rng_free(r);
}
END_TEST

START_TEST(uneven_tiles_are_cut_off)
{
	/* XLA cuts 5 elements for 4 shards in tiles of 2: tile 2 is short, tile 3 empty. */
	struct mesh m = mesh_of("x=4");
	struct layout l = layout_replicated(1);
	struct shape g = {.rank = 1, .dim = {5}};
	static const int64_t want[4][2] = {{0, 2}, {2, 4}, {4, 5}, {5, 5}};
	struct tilemap t;

	layout_append(&l, 0, (struct part){0, 1, 4});
	t = tilemap_make(&l, &m, &g, arena);
	for (int32_t d = 0; d < 4; d++) {
		int64_t lo, hi;

		tilemap_interval(&t, &g, d, 0, &lo, &hi);
		ck_assert_int_eq(lo, want[d][0]);
		ck_assert_int_eq(hi, want[d][1]);
		ck_assert_int_eq(tilemap_elements(&t, &g, d), want[d][1] - want[d][0]);
	}
}
END_TEST

START_TEST(tilings_turn_back_into_axes)
{
	static const char *const meshes[] = {
		"x=4,y=2", "x=6,y=5,z=2", "a=3,b=4,c=2", "x=1,y=8,z=3",
		"<[\"x\"=2,\"y\"=4], device_ids=[7,1,2,0,4,5,3,6]>"};
	struct rng *r = rng_new(23);

	for (int i = 0; i < 500; i++) {
		struct mesh m = mesh_of(meshes[i % 5]);
		struct layout l = random_layout(r, &m, 2), back;
		struct layout tiles =
			layout_of_tiling(layout_tiling(&l, &m, arena), arena);

		ck_assert(layout_same_tiles(&l, &m, &tiles, &m));
		ck_assert(layout_to_axes(&back, &tiles, &m, arena));
		ck_assert(layout_same_tiles(&l, &m, &back, &m));
		ck_assert_mem_eq(back.part, l.part, sizeof(l.part));
	}
	rng_free(r);
}
END_TEST

START_TEST(an_odd_device_list_stays_a_tiling)
{
	struct mesh m = mesh_of("x=4");
	static const int32_t ids[] = {0, 1, 3, 2};
	struct tiling t = {
		.rank = 1, .tiles = {4}, .replicas = 1, .ndevices = 4, .ids = ids};
	struct layout l = layout_of_tiling(&t, arena), out;

	ck_assert(!layout_to_axes(&out, &l, &m, arena));
}
END_TEST

START_TEST(digits_that_do_not_nest_are_refused)
{
	struct mesh m = mesh_of("x=6");
	static const struct part pairs[][2] = {
		{{0, 1, 2}, {0, 1, 3}}, {{0, 1, 2}, {0, 3, 2}}, {{0, 1, 6}, {0, 2, 3}}};
	struct text why = {0};

	for (int i = 0; i < 3; i++) {
		struct layout l = layout_replicated(2);

		layout_append(&l, 0, pairs[i][0]);
		layout_append(&l, 1, pairs[i][1]);
		ck_assert(!layout_valid(&l, &m, &why));
		ck_assert_ptr_nonnull(strstr(why.s, "used twice"));
		text_free(&why);
	}
	struct layout l = layout_replicated(1);

	layout_append(&l, 0, (struct part){0, 1, 4});
	ck_assert(!layout_valid(&l, &m, &why));
	ck_assert_ptr_nonnull(strstr(why.s, "does not divide"));
	text_free(&why);
}
END_TEST

START_TEST(types_go_back_and_forth)
{
	static const char *const meshes[] = {"x=4,y=2", "x=6,y=5,z=2", "a=3,b=4,c=2"};
	struct rng *r = rng_new(5);
	int common = 0;

	for (int i = 0; i < 300; i++) {
		struct mesh m = mesh_of(meshes[i % 3]);
		struct layout l = random_layout(r, &m, 3), k = random_layout(r, &m, 3),
			      back;
		struct atoms atoms;
		struct text why = {0};
		struct type t;

		if (!atoms_common(&atoms, &l, &m, &k, &m, &why)) {
			ck_assert_ptr_nonnull(strstr(why.s, "no common sub-axes"));
			text_free(&why);
			continue;
		}
		common++;
		t = type_of_layout(&l, &m, &atoms);
		for (int dim = 0; dim < 3; dim++)
			ck_assert_int_eq(type_shards(&t, &atoms, dim),
			                 layout_shards(&l, dim));
		ck_assert(layout_of_type(&back, &t, &atoms, &m));
		ck_assert_mem_eq(&back, &l, sizeof(l));
	}
	ck_assert_int_gt(common, 200);
	rng_free(r);
}
END_TEST

START_TEST(two_meshes_of_one_machine_share_atoms)
{
	struct mesh m = mesh_of("x=4,y=2"), k = mesh_of("a=2,b=4"),
		    odd = mesh_of("a=3,b=2");
	struct mesh six = mesh_of("x=2,y=3");
	struct layout l = layout_replicated(1), empty = layout_replicated(1);
	struct atoms atoms;
	struct text why = {0};

	layout_append(&l, 0, (struct part){0, 1, 4});
	ck_assert(atoms_common(&atoms, &l, &m, &empty, &k, &why));
	ck_assert_int_eq(atoms.n, 3);
	ck_assert_int_eq(atoms.atom[0].stride, 4);
	ck_assert_int_eq(atoms.atom[2].stride, 1);
	/* 3 x 2 and 2 x 3 cut the position at strides 2 and 3. */
	ck_assert(!atoms_common(&atoms, &empty, &odd, &empty, &six, &why));
	text_free(&why);
}
END_TEST

/* From x:(1)2, y:(2)3 and x:(4)3 of x=12, y=6; "x:(pre)size" is {0, pre, size}. */
static const struct {
	struct part gone;
	int n; /* left, -1: it is not there */
	struct part left[4];
} takes[] = {
	{{0, 1, 2}, 2, {{1, 2, 3}, {0, 4, 3}}},
	{{1, 2, 3}, 2, {{0, 1, 2}, {0, 4, 3}}},
	{{0, 4, 3}, 2, {{0, 1, 2}, {1, 2, 3}}},
	{{0, 1, 12}, -1, {{0}}}, /* x:(2)2 is not there */
	{{0, 2, 2}, -1, {{0}}},
	{{0, 1, 3}, -1, {{0}}},
	{{0, 2, 6}, -1, {{0}}},
	{{1, 1, 6}, -1, {{0}}},
	{{1, 3, 2}, -1, {{0}}},
	{{2, 1, 2}, -1, {{0}}},
};

START_TEST(parts_are_taken_out)
{
	struct part list[LAYOUT_PARTS_MAX] = {{0, 1, 2}, {1, 2, 3}, {0, 4, 3}};
	int n = 3;

	ck_assert(parts_take(list, &n, takes[_i].gone) == (takes[_i].n >= 0));
	ck_assert_int_eq(n, takes[_i].n < 0 ? 3 : takes[_i].n);
	if (takes[_i].n >= 0)
		ck_assert_mem_eq(list, takes[_i].left, (size_t)n * sizeof(*list));
}
END_TEST

/* A whole axis in two parts, and one taken out of the middle. */
START_TEST(parts_are_cut)
{
	struct part list[LAYOUT_PARTS_MAX] = {{0, 4, 6}, {0, 1, 4}};
	int n = 2;

	ck_assert(!parts_take(list, &n, (struct part){0, 3, 2}));
	ck_assert(parts_take(list, &n, (struct part){0, 2, 6}));
	ck_assert_int_eq(n, 2);
	ck_assert(list[0].pre == 12 && list[0].size == 2);
	ck_assert(list[1].pre == 1 && list[1].size == 2);
	list[0] = (struct part){0, 1, 24};
	n = 1;
	ck_assert(parts_take(list, &n, (struct part){0, 1, 24}));
	ck_assert_int_eq(n, 0);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("array");
	TCase *t = tcase_create("array");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, arrays_print_what_they_read, 0,
	                    sizeof(good_arrays) / sizeof(good_arrays[0]));
	tcase_add_loop_test(t, bad_arrays_say_where, 0,
	                    sizeof(bad_arrays) / sizeof(bad_arrays[0]));
	tcase_add_test(t, meshes_print_what_they_read);
	tcase_add_loop_test(t, bad_meshes_say_where, 0,
	                    sizeof(bad_meshes) / sizeof(bad_meshes[0]));
	tcase_add_test(t, a_mesh_of_65_axes_is_refused);
	tcase_add_test(t, tiles_follow_the_base_offset_map);
	tcase_add_test(t, uneven_tiles_are_cut_off);
	tcase_add_test(t, tilings_turn_back_into_axes);
	tcase_add_test(t, an_odd_device_list_stays_a_tiling);
	tcase_add_test(t, digits_that_do_not_nest_are_refused);
	tcase_add_test(t, types_go_back_and_forth);
	tcase_add_loop_test(t, parts_are_taken_out, 0, sizeof(takes) / sizeof(takes[0]));
	tcase_add_test(t, parts_are_cut);
	tcase_add_test(t, two_meshes_of_one_machine_share_atoms);
	suite_add_tcase(s, t);
	return s;
}
