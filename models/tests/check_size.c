/*
 * Machines of a size, `family:{64}` (facts/families.h): against all shapes that the maker
 * offers, as told here apart from families.yaml, for every size up to 4,096 devices.
 */
#include "facts/families.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

enum { SIZES = 4096, LENGTH_MAX = 576 };

static const char path[] = "platforms/families.yaml";
static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct family_size size_of(const char *family, int64_t n)
{
	struct family_size out;
	struct error e = {0};

	ck_assert_msg(family_size(&out, arena, path,
	                          arena_printf(arena, "%s:{n}", family), NULL, 0, n,
	                          &e) == OK,
	              "%s: %s", family, e.text);
	return out;
}

/* 9 devices on nodes of three GPUs take three nodes, as 9 = 3 x 3, and not two of eight. */
START_TEST(gpus_that_are_set)
{
	static const char *const set[] = {"nics=1", "gpus=3"};
	struct family_size out;
	struct error e = {0};

	ck_assert_int_eq(family_size(&out, arena, path, "dgx-h100:{n}", set, 2, 9, &e),
	                 OK);
	ck_assert_str_eq(out.spec, "dgx-h100:3");
	ck_assert_int_eq(out.least, 7);
	ck_assert_int_eq(out.most, 9);
	ck_assert(out.net);
}
END_TEST

/* Leaves of 4 nodes: more than those come in whole leaves. */
START_TEST(switches_that_are_set)
{
	static const char *const set[] = {"net=rails", "net.ports=4",
	                                  "net.oversubscription=1", "net.latency=1us"};
	static const struct {
		int64_t n;
		const char *spec;
	} wanted[] = {{17, "dgx-h100:3"},
	              {33, "dgx-h100:8"},
	              {64, "dgx-h100:8"},
	              {65, "dgx-h100:12"}};

	for (int i = 0; i < COUNT(wanted); i++) {
		struct family_size out;
		struct error e = {0};

		ck_assert_msg(family_size(&out, arena, path, "dgx-h100:{n}", set, 4,
		                          wanted[i].n, &e) == OK,
		              "%s", e.text);
		ck_assert_str_eq(out.spec, wanted[i].spec);
	}
}
END_TEST

/* Tori: parts of a cube of 4x4x4, and whole cubes; or flat ones, from a list. */
static const struct {
	const char *name, *list;
	int cores;
	int32_t largest[3]; /* rising, of those made of cubes; 0: none are */
	int32_t chips;
} tori[] = {
	{"tpu-v2", "2x2 4x4 8x8 8x16 16x16", 1, {0}, 0},
	{"tpu-v3", "2x2 4x4 8x8 8x16 16x16 16x32 32x32", 1, {0}, 0},
	{"tpu-v5e", "1x1 2x2 2x4 4x4 4x8 8x8 8x16 16x16", 1, {0}, 0},
	{"tpu-v6e", "1x1 2x2 2x4 4x4 4x8 8x8 8x16 16x16", 1, {0}, 0},
	{"tpu-v4", "2x2x1 2x2x2 2x2x4 2x4x4", 1, {16, 16, 24}, 4096},
	{"tpu-v5p", "2x2x1 2x2x2 2x2x4 2x4x4", 1, {16, 20, 28}, 8960},
	{"tpu-7x", "2x2x1 2x2x2 2x2x4 2x4x4", 2, {24, 24, 576}, 9216},
};

/* The shape that is expected for each number of chips, made of the least sum. */
struct expected {
	int sum;
	const char *shape;
};

static void offer(struct expected *of, int chips, int sum, const char *shape)
{
	if (chips <= 2 * SIZES && (!of[chips].sum || sum < of[chips].sum))
		of[chips] = (struct expected){sum, shape};
}

static void offer_all(struct expected *of, int i)
{
	char *list = arena_strdup(arena, tori[i].list), *rest;
	const int32_t *most = tori[i].largest;

	for (char *s = strtok_r(list, " ", &rest); s; s = strtok_r(NULL, " ", &rest)) {
		int a, b, c = 1, n = sscanf(s, "%dx%dx%d", &a, &b, &c);

		ck_assert_int_ge(n, 2);
		offer(of, a * b * c, a + b + c, s);
	}
	for (int c = 4; c <= most[2]; c += 4)
		for (int b = 4; b <= c && b <= most[1]; b += 4)
			for (int a = 4; a <= b && a <= most[0]; a += 4)
				if (a * b * c <= tori[i].chips)
					offer(of, a * b * c, a + b + c,
					      arena_printf(arena, "%dx%dx%d", a, b, c));
}

START_TEST(tori_are_the_smallest_offered)
{
	struct expected *of = arena_alloc(arena, 2 * SIZES + 1, sizeof(*of));
	int cores = tori[_i].cores;
	struct family_size size = {.most = 0};

	offer_all(of, _i);
	for (int n = 1; n <= SIZES; n++) {
		int chips = (n + cores - 1) / cores;
		const char *spec;

		while (chips <= 2 * SIZES && !of[chips].sum)
			chips++;
		/* Above the largest it is the largest. */
		while (chips > 2 * SIZES || !of[chips].sum)
			chips--;
		if (n > size.most)
			size = size_of(tori[_i].name, n);
		spec = arena_printf(arena, "%s:%s", tori[_i].name, of[chips].shape);
		ck_assert_msg(!strcmp(size.spec, spec), "%d: %s and %s", n, size.spec,
		              spec);
		ck_assert_int_le(size.least, n);
		if (n == size.least || n == size.most)
			ck_assert_str_eq(size_of(tori[_i].name, n).spec, spec);
	}
}
END_TEST

/*
 * Returns whether the net of a family takes so many nodes. The two NICs of each node of
 * polaris fill 1 to 8 groups of at least as many and up to 10 routers of 1 to 16.
 */
static bool joined(const struct family *f, int64_t nodes)
{
	if (strcmp(f->name, "polaris") != 0 || nodes == 1)
		return true;
	for (int groups = 1; groups <= 8; groups++)
		for (int routers = groups; routers <= 10; routers++)
			for (int nics = 1; nics <= 16; nics++)
				if (groups * routers * nics == 2 * nodes)
					return true;
	return false;
}

/* Of some sizes, and of all others for which each answer is said to be the same. */
START_TEST(nodes_are_the_fewest)
{
	struct families all;
	struct error e = {0};

	ck_assert(families_read(&all, arena, path, &e) == OK);
	for (int i = 0; i < all.n; i++) {
		const struct family *f = &all.family[i];

		for (int n = 1; n <= SIZES && f->kind == FAMILY_NODES; n = 2 * n + 1) {
			struct family_size size = size_of(f->name, n);

			ck_assert(size.least <= n && n <= size.most);
			for (int64_t k = size.least; k <= size.most && k <= SIZES; k++) {
				int64_t nodes = (k + f->gpus - 1) / f->gpus;

				while (nodes <= f->largest[0] && !joined(f, nodes))
					nodes++;
				if (nodes > f->largest[0])
					nodes = f->largest[0];
				ck_assert_str_eq(size.spec,
				                 arena_printf(arena, "%s:%d", f->name,
				                              (int)nodes));
				ck_assert_int_eq(size.net, nodes > 1);
			}
		}
	}
}
END_TEST

/* Every shape that is chosen is one that the family has, and no family lacks a size. */
START_TEST(shapes_are_machines)
{
	static const int64_t sizes[] = {1, 2, 3, 5, 8, 17, 64, 100, 320, 1024, 100000};
	struct families all;
	struct error e = {0};

	ck_assert(families_read(&all, arena, path, &e) == OK);
	for (int i = 0; i < all.n; i++)
		for (int k = 0; k < COUNT(sizes); k++) {
			struct family_size size = size_of(all.family[i].name, sizes[k]);
			struct family_machine m;

			ck_assert_msg(family_parse(&m, arena, path, size.spec, NULL, 0,
			                           &e) == OK,
			              "%s: %s", size.spec, e.text);
			ck_assert(m.ndevices >= sizes[k] || size.most == INT64_MAX);
		}
}
END_TEST

static const struct {
	const char *spec;
	unsigned col;
	const char *text;
} faults[] = {
	{"tpu-v4:{", 9, "expected {n}, for the number of devices of the mesh"},
	{"tpu-v4:{}", 9, "or a number such as {64}"},
	{"tpu-v4:{0}", 9, "0 is out of range, expected 1 to 2147483647"},
	{"tpu-v4:{-5}", 9, "or a number such as {64}"},
	{"tpu-v4:{nodes}", 9, "or a number such as {64}"},
	{"tpu-v4:{n", 10, "expected '}'"},
	{"tpu-v4:{64", 11, "expected '}'"},
	{"tpu-v4:{64}x4", 12, "expected the end of the text"},
	{"tpu-v4:{99999999999}", 9, "is out of range"},
	{"tpu-v4:{4097}", 1,
         "4097 devices, but the largest tpu-v4 that is offered has 4096"},
	{"tpu-v4:{n}", 1, "{n} is the number of devices of a mesh, and here is none"},
	{"gb200-nvl72:{1441}", 1, "the largest gb200-nvl72 that is offered has 1440"},
	{"tpu-v99:{64}", 1, "unknown family 'tpu-v99'"},
};

START_TEST(errors)
{
	struct family_size size;
	struct error e = {0};

	ck_assert(family_sized(faults[_i].spec));
	ck_assert(family_size(&size, arena, path, faults[_i].spec, NULL, 0, 0, &e) != OK);
	ck_assert_msg(strstr(e.text, faults[_i].text) != NULL, "%s", e.text);
	ck_assert_str_eq(e.at.file, "--platform");
	ck_assert_uint_eq(e.at.col, faults[_i].col);
}
END_TEST

START_TEST(sizes_are_told_from_shapes)
{
	ck_assert(family_sized("tpu-v4:{64}") && family_sized("a:{n}{b=1}"));
	ck_assert(!family_sized("dgx-h100:8{nic.bandwidth=1GB/s}"));
	ck_assert(!family_sized("tpu-v4:4x4x4") && !family_sized("tpu-v4"));
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("size");
	TCase *tc = tcase_create("size");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, tori_are_the_smallest_offered, 0, COUNT(tori));
	tcase_add_test(tc, nodes_are_the_fewest);
	tcase_add_test(tc, shapes_are_machines);
	tcase_add_loop_test(tc, errors, 0, COUNT(faults));
	tcase_add_test(tc, gpus_that_are_set);
	tcase_add_test(tc, switches_that_are_set);
	tcase_add_test(tc, sizes_are_told_from_shapes);
	suite_add_tcase(suite, tc);
	return suite;
}
