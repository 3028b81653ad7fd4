/* Generated scenarios beyond whole axes of one array, and the suites that we ship. */
#include "suite/suite.h"
#include "tests/tests.h"

#include "edit.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct arena *arena;
static struct suite suite;
static struct error error;

static void start(void)
{
	arena = arena_new();
	suite = (struct suite){.arena = arena};
	error = (struct error){0};
}

static void end(void)
{
	arena_free(arena);
}

/* Read a file with one generate block. */
static void generate(const char *fields)
{
	char *yaml = arena_printf(arena, "generate: {%s}\n", fields);
	const char *path = edit_write(arena, yaml, strlen(yaml), ".yaml");

	suite_read(&suite, path, &error);
	unlink(path);
}

static void generate_ok(const char *fields)
{
	generate(fields);
	ck_assert_msg(error.code == OK, "%u:%u: %s", error.at.line, error.at.col,
	              error.text);
}

static struct problem problem_of(const struct scenario *s)
{
	struct problem p;
	struct error e = {0};

	ck_assert_msg(problem_make(&p, arena, &s->text, &e) == OK, "%s: %s", s->name,
	              e.text);
	return p;
}

/* --- sizes --------------------------------------------------------------------------- */

/*
 * Shapes by hand: on 2x3 dimensions are 6 * 2^k, 6 * 6 * 2 = 72 bytes doubled from the
 * first dimension on; 1 MiB is 72 * 14563.6, so 14 doublings, 7 of each. Of rank 3 it is
 * 432 * 2427.3: 12 doublings. On 8x16, 128^3 bf16 are 4 MiB already.
 */
static const struct {
	const char *fields;
	const char *family[3], *array[3];
} sized[] = {
	{"kind: layouts, family: a, mesh: \"x=2,y=3\", rank: 2, sample: 7, "
         "bytes: \"1MiB,100B\"",
         {"a-1MiB", "a-100B"},
         {"bf16[768,768]", "bf16[12,6]"}},
	{"kind: layouts, family: a, mesh: \"x=2,y=3\", rank: 3, sample: 7, bytes: "
         "\"1MiB\"",
         {"a-1MiB"},
         {"bf16[96,96,96]"}},
	{"kind: layouts, family: b, mesh: \"x=8,y=16\", rank: 3, sample: 7, "
         "bytes: \"1MiB, 5MB ,64MiB\"",
         {"b-1MiB", "b-5MB", "b-64MiB"},
         {"bf16[128,128,128]", "bf16[256,128,128]", "bf16[512,256,256]"}},
	{"kind: layouts, mesh: \"x=5\", rank: 1, dtype: f32, bytes: \"21B\"",
         {"layouts-21B"},
         {"f32[10]"}},
	{"kind: layouts, family: c, mesh: \"x=2,y=4\", rank: 2, sub_axes: \"yes\", "
         "sample: 9, bytes: \"1MiB,64MiB,4GiB\"",
         {"c-1MiB", "c-64MiB", "c-4GiB"},
         {"bf16[1024,512]", "bf16[8192,4096]", "bf16[65536,32768]"}},
};

START_TEST(sized_rows)
{
	int sizes = 0, n;

	generate_ok(sized[_i].fields);
	while (sizes < 3 && sized[_i].family[sizes])
		sizes++;
	n = suite.n / sizes;
	ck_assert_int_eq(n * sizes, suite.n);
	for (int i = 0; i < suite.n; i++) {
		const struct scenario *s = &suite.scenario[i], *first;
		struct problem p;

		first = &suite.scenario[i % n];
		ck_assert_str_eq(s->family, sized[_i].family[i / n]);
		ck_assert_str_eq(s->text.array, sized[_i].array[i / n]);
		/* The same pairs for each size, named alike. */
		ck_assert_str_eq(s->text.from, first->text.from);
		ck_assert_str_eq(s->text.to, first->text.to);
		ck_assert_str_eq(strrchr(s->name, '-'), strrchr(first->name, '-'));
		p = problem_of(s);
		ck_assert(problem_even(&p));
	}
	ck_assert_int_eq(suite_check_names(&suite, &error), OK);
}
END_TEST

/* --- sub-axes ------------------------------------------------------------------------ */

static bool has_sub_axis(const struct layout *l, const struct mesh *m)
{
	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int i = 0; i < n; i++)
			if (part[i].size < m->axis[part[i].axis].size)
				return true;
	}
	return false;
}

static const struct {
	const char *mesh;
	int rank, sample;
} sub_axes[] = {
	{"x=2,y=4", 2, 60}, {"x=4,y=4,z=4", 3, 100}, {"x=8,y=16", 3, 100},
	{"x=6", 1, 4},      {"x=12,y=5", 2, 100},
};

START_TEST(sub_axis_rows)
{
	const char *fields = arena_printf(
		arena,
		"kind: layouts, mesh: \"%s\", rank: %d, sub_axes: \"yes\", sample: %d, "
		"seed: 3, bytes: \"1KiB\"",
		sub_axes[_i].mesh, sub_axes[_i].rank, sub_axes[_i].sample);
	int n = sub_axes[_i].sample, whole = 0;

	generate_ok(fields);
	generate_ok(fields);
	ck_assert_int_eq(suite.n, 2 * n);
	for (int i = 0; i < n; i++) {
		const struct scenario *s = &suite.scenario[i], *again = s + n;
		struct problem p = problem_of(s);
		bool from = has_sub_axis(&p.from, &p.mesh);
		bool to = has_sub_axis(&p.to, &p.mesh);

		ck_assert(from || to);
		whole += !from || !to;
		ck_assert(problem_even(&p));
		ck_assert(!layout_same_tiles(&p.from, &p.mesh, &p.to, &p.mesh));
		ck_assert_str_eq(s->text.from, again->text.from);
		ck_assert_str_eq(s->text.to, again->text.to);
		for (int k = 0; k < i; k++)
			ck_assert(strcmp(s->text.from, suite.scenario[k].text.from) != 0 ||
			          strcmp(s->text.to, suite.scenario[k].text.to) != 0);
	}
	ck_assert_int_gt(whole, 0); /* one side may have whole axes */
}
END_TEST

/* --- uneven -------------------------------------------------------------------------- */

START_TEST(uneven)
{
	int empty = 0;

	generate_ok("kind: random, count: 200, seed: 3, rank: 1..3, axes: 1..3, "
	            "devices: 4..32, dtype: f32, bytes: 16B..4KiB, uneven: \"yes\"");
	ck_assert_int_eq(suite.n, 200);
	for (int i = 0; i < suite.n; i++) {
		struct problem p = problem_of(&suite.scenario[i]);
		int64_t bytes =
			dtype_bytes(p.array.dtype, shape_elements(&p.array.shape));

		ck_assert(!problem_even(&p));
		ck_assert(bytes >= 16 && bytes <= 4096);
		for (int d = 0; d < p.array.shape.rank; d++)
			empty += p.array.shape.dim[d] < layout_shards(&p.from, d);
	}
	ck_assert_int_gt(empty, 10);
}
END_TEST

/* --- faults -------------------------------------------------------------------------- */

/* `generate: {` is 11 columns. */
static const struct {
	const char *fields;
	unsigned col;
	const char *text;
} faults[] = {
	{"kind: layouts, mesh: \"x=4\"", 11,
         "needs mesh and array, or mesh, rank and bytes"},
	{"kind: layouts, array: \"f32[4]\", mesh: \"x=4\", bytes: 1B", 64,
         "the array has its size already"},
	{"kind: layouts, mesh: \"x=4\", bytes: 1B", 11, "expected one rank"},
	{"kind: layouts, mesh: \"x=4\", rank: 1..2, bytes: 1B", 46, "expected one rank"},
	{"kind: layouts, mesh: \"x=4\", rank: 1, bytes: 1B..2B", 58, "the end"},
	{"kind: layouts, mesh: \"x=4\", rank: 1, bytes: \"1B,0B\"", 60, "1 byte to 2^58"},
	{"kind: layouts, mesh: \"x=4\", rank: 1, bytes: \"1B,\"", 60, "a size"},
	{"kind: layouts, mesh: \"x=4\", rank: 1, bytes: \"1KiB,1024B\"", 62,
         "1024B is there already as 1KiB"},
	{"kind: layouts, mesh: \"x=4\", rank: 1, bytes: \"1B,2B,3B,4B,5B,6B,7B,8B,9B\"",
         81, "at most 8 sizes"},
	{"kind: layouts, mesh: \"x=4\", rank: 1, dtype: f33, bytes: 1B", 11, "'f33'"},
	{"kind: layouts, mesh: \"x=4096,y=1024\", rank: 8, sample: 5, bytes: 1B", 34,
         "all layouts divide is too large"},
	{"kind: layouts, mesh: \"x=4\", rank: 1, bytes: 1B, sub_axes: \"yes\"", 71,
         "expected a sample"},
	{"kind: layouts, mesh: \"x=4\", rank: 1, bytes: 1B, sub_axes: maybe", 70,
         "'maybe', expected yes or no"},
	{"kind: layouts, mesh: \"x=2,y=3\", rank: 1, bytes: 1B, sub_axes: \"yes\", "
         "sample: 2",
         34, "found 0 pairs of layouts with sub-axes, expected 2"},
	/*
	 * Five layouts: nothing, x, either half of it, and both the other way round. Of their
	 * 20 pairs two have no sub-axis, and all others are found.
	 */
	{"kind: layouts, mesh: \"x=4\", rank: 1, bytes: 1B, sub_axes: \"yes\", "
         "sample: 19",
         34, "found 18 pairs of layouts with sub-axes, expected 19"},
	{"kind: layouts, mesh: \"x=4\", rank: 1, bytes: 1B, uneven: \"yes\"", 69,
         "only random problems can be uneven"},
	{"kind: random, count: 1, sub_axes: \"yes\"", 47, "have whole axes only"},
	{"kind: random, count: 1, uneven: 1", 44, "'1', expected yes or no"},
};

START_TEST(fault_rows)
{
	generate(faults[_i].fields);
	ck_assert_int_ne(error.code, OK);
	ck_assert_msg(strstr(error.text, faults[_i].text) != NULL, "%s", error.text);
	ck_assert_msg(error.at.line == 1 && error.at.col == faults[_i].col, "%u:%u: %s",
	              error.at.line, error.at.col, error.text);
	ck_assert_int_eq(suite.n, 0);
}
END_TEST

/* Each draw is compared with those that were found, not with every one of them in turn. */
START_TEST(large_sample)
{
	generate("kind: layouts, mesh: \"x=8,y=8,z=8\", rank: 3, bytes: 1B, sub_axes: "
	         "\"yes\", sample: 100000");
	ck_assert_msg(error.code == OK, "%s", error.text);
	ck_assert_int_eq(suite.n, 100000);
}
END_TEST

/* --- the suites that come with the program ------------------------------------------- */

enum evenness { EVEN, UNEVEN, BOTH };
static const struct {
	const char *path;
	int32_t n;
	bool sources; /* all scenarios have one */
	enum evenness even;
} shipped[] = {
	{"scenarios/models.yaml", 87, true, EVEN},
	{"scenarios/random.yaml", 500, true, EVEN},
	{"scenarios/smoke.yaml", 10, false, BOTH},
	{"scenarios/layouts.yaml", 6990, true, EVEN},
	{"scenarios/uneven.yaml", 90, false, UNEVEN},
};

START_TEST(shipped_rows)
{
	ck_assert_msg(suite_read(&suite, shipped[_i].path, &error) == OK, "%s",
	              error.text);
	ck_assert_int_eq(suite.n, shipped[_i].n);
	ck_assert_int_eq(suite_check_names(&suite, &error), OK);
	for (int32_t i = 0; i < suite.n; i++) {
		const struct scenario *s = &suite.scenario[i];
		struct problem p = problem_of(s);

		ck_assert(!shipped[_i].sources || s->source);
		ck_assert_msg(shipped[_i].even == BOTH ||
		                      problem_even(&p) == (shipped[_i].even == EVEN),
		              "%s", s->name);
	}
}
END_TEST

static int of_family(const char *family)
{
	int n = 0;

	for (int32_t i = 0; i < suite.n; i++)
		n += strcmp(suite.scenario[i].family, family) == 0;
	return n;
}

/* What layouts.yaml says of itself, for each size. */
static const struct {
	const char *family;
	int n;
} layout_families[] = {
	{"2x4-r2", 110},      {"4x4-r2", 110},       {"2x3-r2", 110},
	{"2x4-r3", 100},      {"4x4-r3", 100},       {"2x3-r3", 200},
	{"2x2x2-r2", 200},    {"2x2x2-r3", 200},     {"4x4x4-r2", 100},
	{"4x4x4-r3", 100},    {"8x16-r2", 100},      {"8x16-r3", 100},
	{"2x4-r2-sub", 100},  {"2x4-r3-sub", 100},   {"4x4-r2-sub", 100},
	{"4x4-r3-sub", 100},  {"4x4x4-r2-sub", 100}, {"4x4x4-r3-sub", 100},
	{"8x16-r2-sub", 100}, {"8x16-r3-sub", 100},
};

START_TEST(layouts)
{
	static const char *const sizes[] = {"1MiB", "64MiB", "4GiB"};
	static const int64_t least[] = {1 << 20, 1 << 26, INT64_C(1) << 32};
	int all = 0;

	suite_read(&suite, "scenarios/layouts.yaml", &error);
	for (int f = 0; f < COUNT(layout_families) * 3; f++) {
		int n = of_family(arena_printf(
			arena, "%s-%s", layout_families[f / 3].family, sizes[f % 3]));

		ck_assert_msg(n == layout_families[f / 3].n, "%s: %d",
		              layout_families[f / 3].family, n);
		all += n;
	}
	ck_assert_int_eq(all, suite.n);
	for (int32_t i = 0; i < suite.n; i += 5) {
		const struct scenario *s = &suite.scenario[i];
		struct problem p = problem_of(s);
		int64_t bytes =
			dtype_bytes(p.array.dtype, shape_elements(&p.array.shape));
		int size = 0;

		while (strcmp(strrchr(s->family, '-') + 1, sizes[size]) != 0)
			size++;
		ck_assert(bytes >= least[size] && bytes < least[size] * (size ? 2 : 5));
		ck_assert_int_eq(strstr(s->family, "-sub-") != NULL,
		                 has_sub_axis(&p.from, &p.mesh) ||
		                         has_sub_axis(&p.to, &p.mesh));
	}
}
END_TEST

/* Do both layouts pad every dimension to one extent, ceil(g / s) s = ceil(g / t) t? */
static bool agree(const struct problem *p)
{
	bool same = true;

	for (int d = 0; d < p->array.shape.rank; d++) {
		int64_t g = p->array.shape.dim[d];
		int64_t s = layout_shards(&p->from, d), t = layout_shards(&p->to, d);

		same &= (g + s - 1) / s * s == (g + t - 1) / t * t;
	}
	return same;
}

/* Does a layout leave the last shard of a dimension without an element? */
static bool leaves_empty(const struct problem *p, const struct layout *l)
{
	bool empty = false;

	for (int d = 0; d < p->array.shape.rank; d++) {
		int64_t g = p->array.shape.dim[d], s = layout_shards(l, d);

		empty |= (g + s - 1) / s * (s - 1) >= g;
	}
	return empty;
}

START_TEST(uneven_families)
{
	suite_read(&suite, "scenarios/uneven.yaml", &error);
	ck_assert_int_eq(of_family("catalogue"), 6);
	ck_assert_int_eq(of_family("uneven-small") + of_family("uneven-large"), 60);
	for (int32_t i = 0; i < suite.n; i++) {
		const struct scenario *s = &suite.scenario[i];
		struct problem p = problem_of(s);

		if (strcmp(s->family, "agree") == 0)
			ck_assert_msg(agree(&p), "%s", s->name);
		if (strcmp(s->family, "differ") == 0 && p.from.kind == LAYOUT_AXES)
			ck_assert_msg(!agree(&p), "%s", s->name);
		if (strcmp(s->family, "empty") == 0)
			ck_assert_msg(leaves_empty(&p, &p.from) ||
			                      leaves_empty(&p, &p.to),
			              "%s", s->name);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("generate");
	TCase *tc = tcase_create("generate");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, start, end);
	tcase_add_loop_test(tc, sized_rows, 0, COUNT(sized));
	tcase_add_loop_test(tc, sub_axis_rows, 0, COUNT(sub_axes));
	tcase_add_test(tc, uneven);
	tcase_add_test(tc, large_sample);
	tcase_add_loop_test(tc, fault_rows, 0, COUNT(faults));
	tcase_add_loop_test(tc, shipped_rows, 0, COUNT(shipped));
	tcase_add_test(tc, layouts);
	tcase_add_test(tc, uneven_families);
	suite_add_tcase(s, tc);
	return s;
}
