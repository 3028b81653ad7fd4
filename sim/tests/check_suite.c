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

/* Read a file with that text; the path, where errors are, is given back. */
static const char *read_bytes(const char *yaml, size_t n)
{
	const char *path = edit_write(arena, yaml, n, ".yaml");

	suite_read(&suite, path, &error);
	unlink(path);
	return path;
}

static const char *read_text(const char *yaml)
{
	return read_bytes(yaml, strlen(yaml));
}

static void read_ok(const char *yaml)
{
	read_text(yaml);
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

/* --- fields -------------------------------------------------------------------------- */

#define ONE                                                                            \
	"{name: a, array: \"f32[6,4]\", mesh: \"x=3\", from: \"P('x')\", to: \"P()\"}"

START_TEST(fields)
{
	const struct scenario *s;

	read_ok("# a comment\n"
	        "scenarios:\n"
	        "  - name: one\n"
	        "    family: f\n"
	        "    array: bf16[6,35]\n"
	        "    mesh: \"x=3,y=5\"\n"
	        "    to_mesh: 'a=15'\n"
	        "    from: P('x', 'y')\n"
	        "    to: P(None, None)\n"
	        "    memory_limit: 48KiB\n"
	        "    devices: \"0-13,16\"\n"
	        "    source: https://example.org/1\n"
	        "    tags: stated\n"
	        "  - {name: two, array: \"f32[16]\", from: \"{devices=[4]<=[4]}\",\n"
	        "     to: \"{replicated}\", num_devices: \"4\"}\n");
	ck_assert_int_eq(suite.n, 2);
	s = &suite.scenario[0];
	ck_assert_str_eq(s->name, "one");
	ck_assert_str_eq(s->family, "f");
	ck_assert_str_eq(s->source, "https://example.org/1");
	ck_assert_str_eq(s->text.devices, "0-13,16");
	ck_assert_str_eq(s->text.array, "bf16[6,35]");
	ck_assert_str_eq(s->text.mesh, "x=3,y=5");
	ck_assert_str_eq(s->text.to_mesh, "a=15");
	ck_assert_str_eq(s->text.from, "P('x', 'y')");
	ck_assert_uint_eq(s->at.line, 3);
	ck_assert_uint_eq(s->at.col, 5);
	ck_assert_uint_eq(s->text.mesh_at.line, 6);
	ck_assert_uint_eq(s->text.mesh_at.col, 12); /* inside the quotes */
	ck_assert_uint_eq(s->text.from_at.line, 8);
	ck_assert_uint_eq(s->text.from_at.col, 11);
	ck_assert_uint_eq(s->text.devices_at.line, 11);
	ck_assert_int_eq(problem_of(s).memory_limit_bytes, 48 * 1024);
	s = &suite.scenario[1];
	ck_assert_str_eq(s->family, "none");
	ck_assert_ptr_null(s->source);
	ck_assert_ptr_null(s->text.devices);
	ck_assert_ptr_null(s->text.mesh);
	ck_assert_ptr_null(s->text.memory_limit);
	ck_assert_str_eq(s->text.num_devices, "4");
	ck_assert_int_eq(problem_of(s).mesh.ndevices, 4);
}
END_TEST

START_TEST(defaults)
{
	read_ok("defaults: {family: d, mesh: \"x=3\", array: \"f32[9]\", from: "
	        "\"P('x')\",\n"
	        "           memory_limit: 7KiB, vocabulary: portable}\n"
	        "scenarios:\n"
	        "  - {name: a, to: P(None)}\n"
	        "  - {name: b, to: P(None), mesh: \"x=9\", family: own}\n"
	        "  - {name: c, to: P(None), vocabulary: any, memory_limit: none}\n");
	ck_assert_int_eq(suite.n, 3);
	ck_assert_int_eq(problem_of(&suite.scenario[0]).vocabulary, VOCABULARY_PORTABLE);
	ck_assert(!problem_of(&suite.scenario[0]).any_memory);
	ck_assert_int_eq(problem_of(&suite.scenario[2]).vocabulary, VOCABULARY_ANY);
	ck_assert(problem_of(&suite.scenario[2]).any_memory);
	ck_assert_str_eq(suite.scenario[0].family, "d");
	ck_assert_str_eq(suite.scenario[0].text.mesh, "x=3");
	ck_assert_str_eq(suite.scenario[1].family, "own");
	ck_assert_str_eq(suite.scenario[1].text.mesh, "x=9");
	ck_assert_str_eq(suite.scenario[1].text.memory_limit, "7KiB");
	ck_assert_str_eq(suite.scenario[2].text.mesh, "x=3");
	ck_assert_uint_eq(suite.scenario[2].text.mesh_at.line, 1);
	ck_assert_uint_eq(suite.scenario[2].text.mesh_at.col, 30);
}
END_TEST

/* A second file goes behind the first; names must differ over both. */
START_TEST(two_files)
{
	read_ok("scenarios:\n  - " ONE "\n");
	read_ok("scenarios:\n  - {name: b, array: \"f32[6]\", mesh: \"x=3\", from: "
	        "P(None), "
	        "to: P('x')}\n");
	ck_assert_int_eq(suite.n, 2);
	ck_assert_str_eq(suite.scenario[1].name, "b");
	ck_assert_int_eq(suite_check_names(&suite, &error), OK);
	read_ok("scenarios:\n\n  - " ONE "\n");
	ck_assert_int_eq(suite_check_names(&suite, &error), E_TYPE);
	ck_assert_uint_eq(error.at.col, 5);
	ck_assert_ptr_nonnull(strstr(error.text, "'a' is there twice"));
}
END_TEST

/* A byte that the text of a scenario cannot have is not where that text ends. */
START_TEST(zero_byte)
{
	read_text("scenarios:\n  - {name: \"a\\0b\", array: \"f32[6]\", from: P(None), "
	          "to: P(None), mesh: \"x=3\"}\n");
	ck_assert_int_eq(error.code, E_SYNTAX);
	ck_assert_ptr_nonnull(strstr(error.text, "zero byte"));
}
END_TEST

static const struct {
	const char *yaml;
	unsigned line, col;
	const char *text;
} faults[] = {
	{"", 1, 1, "the file is empty"},
	{"# nothing\n", 1, 1, "the file is empty"},
	{"scenarios: []\n", 1, 1, "no scenarios in it"},
	{"hello\n", 1, 1, "expected a map with scenarios or generate"},
	{"- " ONE "\n", 1, 1, "expected a map with scenarios or generate"},
	{"scenarios: " ONE "\n", 1, 12, "expected a list of scenarios"},
	{"scenarios:\n  - a\n", 2, 5, "expected a map of fields"},
	{"defaults: 3\nscenarios:\n  - " ONE "\n", 1, 11, "expected a map of fields"},
	{"cases:\n  - " ONE "\n", 1, 1, "unknown section 'cases', expected"},
	{"[a]:\n  - " ONE "\n", 1, 1, "expected a text"},
	{"scenarios:\n  - " ONE "\nscenarios:\n  - " ONE "\n", 3, 1, "there twice"},
	{"scenarios:\n  - " ONE "\n---\nscenarios:\n  - " ONE "\n", 4, 1,
         "a second document, expected one"},
	{"scenarios:\n  - {name: a, colour: red}\n", 2, 15,
         "unknown field 'colour', expected one of name, family, array, mesh"},
	{"scenarios:\n  - {name: a, name: b}\n", 2, 15, "there twice"},
	{"scenarios:\n  - {name: [a]}\n", 2, 12, "expected a text"},
	{"scenarios:\n  - {name: a}\n", 2, 5, "needs name, array, from and to"},
	{"defaults: " ONE "\nscenarios:\n  - {name: ''}\n", 3, 5, "the name is empty"},
	{"defaults: " ONE "\nscenarios:\n  - {from: \"P('y')\"}\n", 3, 16,
         "unknown axis 'y'"},
	{"defaults: " ONE "\nscenarios:\n  - {from: P('y')}\n", 3, 15,
         "unknown axis 'y'"},
	{"defaults: " ONE "\nscenarios:\n  - {mesh: \"x=4,x=5\"}\n", 3, 17, "twice"},
	{"defaults: {mesh: x}\nscenarios:\n  - {name: a, array: \"f32[6]\", from: "
         "P(None), "
         "to: P(None)}\n",
         1, 19, "expected '='"},
	{"defaults: " ONE "\nscenarios:\n  - {vocabulary: jax}\n", 3, 18,
         "unknown vocabulary 'jax', expected any or portable"},
	{"defaults: " ONE "\nscenarios:\n  - {memory_limit: 3 apples}\n", 3, 22,
         "expected the end"},
	{"defaults: " ONE "\nscenarios:\n  - {devices: \"0,1,x\"}\n", 3, 20,
         "expected a device"},
	{"defaults: " ONE "\nscenarios:\n  - {devices: \"5,3-5\"}\n", 3, 18,
         "device 5 is listed twice"},
	{"defaults: " ONE "\nscenarios:\n  - {devices: \"5,3\"}\n", 3, 16,
         "2 devices, expected 3"},
	{"scenarios:\n  - {name: a, array: \"f32[6]\n", 3, 1, "not YAML: "},
	{"scenarios:\n\t- a\n", 2, 1, "not YAML: "},
	{"\x7f"
         "ELF\x01\x02",
         1, 1, "not YAML: control characters are not allowed"},
	{"generate: {family: a}\n", 1, 11, "needs kind: random or kind: layouts"},
	{"generate: {kind: layouts, mesh: \"x=3\"}\n", 1, 11, "needs mesh and array"},
	{"generate: {kind: layouts, mesh: \"x=3\", array: \"f32[a]\"}\n", 1, 52,
         "expected a dimension"},
	{"generate: {kind: layouts, mesh: \"x=1\", array: \"f32[7]\"}\n", 1, 1,
         "no scenarios in it"},
	{"generate: {kind: random}\n", 1, 1, "no scenarios in it"},
	{"generate: {kind: random, count: few}\n", 1, 33, "a whole number"},
	{"generate: {kind: random, count: 1000001}\n", 1, 33, "out of range"},
	{"generate: {kind: random, count: 5, seed: -1}\n", 1, 42, "a whole number"},
	{"generate: {kind: random, count: 5, rank: 3..2}\n", 1, 42,
         "the lower end first"},
	{"generate: {kind: random, count: 5, rank: 2..9}\n", 1, 45,
         "expected a whole number from 1 to 8"},
	{"generate: {kind: random, count: 5, rank: 2...3}\n", 1, 45, "a whole number"},
	{"generate: {kind: random, count: 5, axes: 0..3}\n", 1, 42,
         "expected a whole number from 1 to 8"},
	{"generate: {kind: random, count: 5, bytes: 0B..1MiB}\n", 1, 43,
         "expected 1 byte to 2^58"},
	{"generate: {kind: random, count: 5, devices: 11..11}\n", 1, 11,
         "no problem within these ranges"},
	{"generate: {kind: random, count: 5, bytes: 1B..1B}\n", 1, 11,
         "no problem within these ranges"},
	{"generate: {kind: random, count: 5, dtype: f33}\n", 1, 11, "'f33'"},
	{"generate: {kind: layouts, array: \"f32[8,8,8]\", mesh: "
         "\"a=2,b=2,c=2,d=2,e=2\"}\n",
         1, 55, "pairs of layouts, expected at most 1000000 or a sample"},
};

START_TEST(fault_rows)
{
	const char *path = read_text(faults[_i].yaml);

	ck_assert_int_ne(error.code, OK);
	ck_assert_msg(strstr(error.text, faults[_i].text) != NULL, "%s", error.text);
	ck_assert_str_eq(error.at.file, path);
	ck_assert_msg(error.at.line == faults[_i].line && error.at.col == faults[_i].col,
	              "%u:%u: %s", error.at.line, error.at.col, error.text);
	ck_assert_ptr_null(error.at.source);
}
END_TEST

START_TEST(unreadable)
{
	static const char *const paths[] = {"scenarios", "scenarios/none.yaml",
	                                    "Makefile/none.yaml"};

	ck_assert_int_eq(suite_read(&suite, paths[_i], &error), E_IO);
	ck_assert_str_eq(error.at.file, paths[_i]);
	ck_assert_ptr_nonnull(strstr(error.text, "cannot be read: "));
}
END_TEST

/* Cut anywhere, a suite is an error with a place, or a shorter suite. */
START_TEST(truncated)
{
	static const char yaml[] = "defaults: {family: \"t\"}\nscenarios:\n  - " ONE
				   "\ngenerate: {kind: random, count: 3, seed: 7}\n";

	for (size_t n = 0; n < sizeof(yaml); n++) {
		suite.n = suite.nfiles = 0;
		error = (struct error){0};
		read_bytes(yaml, n);
		ck_assert((error.code == OK) == (suite.n > 0) || error.at.line > 0);
	}
	ck_assert_int_eq(suite.n, 4);
}
END_TEST

/* --- layouts ------------------------------------------------------------------------- */

/* n layouts have n (n - 1) ordered pairs of distinct ones. */
static const struct {
	const char *mesh, *array;
	int32_t pairs;
} layout_counts[] = {
	{"x=2,y=4", "f32[8,8]", 110},   {"x=4,y=4", "f32[16,16]", 110},
	{"x=2,y=3", "f32[6,6]", 110},   {"x=2,y=2,z=2", "f32[8,8]", 2352},
	{"x=2,y=4", "f32[8,8,8]", 342}, {"x=2,y=2,z=2", "f32[8,8,8]", 11130},
	{"x=5", "f32[5]", 2},           {"x=5,y=1", "f32[7]", 2},
};

static int compare_pairs(const void *a, const void *b)
{
	const struct scenario *p = a, *q = b;
	int order = strcmp(p->text.from, q->text.from);

	return order ? order : strcmp(p->text.to, q->text.to);
}

/* Sorted, so that equal pairs stand side by side. */
static void check_distinct(void)
{
	qsort(suite.scenario, (size_t)suite.n, sizeof(*suite.scenario), compare_pairs);
	for (int32_t i = 0; i < suite.n; i++) {
		const struct scenario *s = &suite.scenario[i];

		ck_assert_str_ne(s->text.from, s->text.to);
		ck_assert(i == 0 || compare_pairs(s - 1, s) != 0);
	}
}

START_TEST(layout_count_rows)
{
	struct text yaml = {0};

	text_printf(&yaml,
	            "generate:\n  kind: layouts\n  mesh: \"%s\"\n  array: \"%s\"\n",
	            layout_counts[_i].mesh, layout_counts[_i].array);
	read_ok(yaml.s);
	text_free(&yaml);
	ck_assert_int_eq(suite.n, layout_counts[_i].pairs);
	ck_assert_int_eq(suite_check_names(&suite, &error), OK);
	ck_assert_str_eq(suite.scenario[0].family, "layouts");
	ck_assert_str_eq(suite.scenario[0].text.mesh, layout_counts[_i].mesh);
	check_distinct();
	for (int32_t i = 0; i < suite.n; i += 17)
		problem_of(&suite.scenario[i]);
}
END_TEST

#define SAMPLE(n, seed)                                                                \
	"generate: {kind: layouts, family: s, mesh: \"x=2,y=4\", array: "              \
	"\"f32[8,8]\", "                                                               \
	"sample: " n ", seed: " seed "}\n"

START_TEST(layout_sample)
{
	const char *first[50];
	int other = 0;

	read_ok(SAMPLE("50", "3"));
	ck_assert_int_eq(suite.n, 50);
	for (int i = 0; i < 50; i++)
		first[i] = suite.scenario[i].name;
	suite.n = 0;
	read_ok(SAMPLE("50", "3"));
	for (int i = 0; i < 50; i++)
		ck_assert_str_eq(suite.scenario[i].name, first[i]);
	suite.n = 0;
	read_ok(SAMPLE("50", "4"));
	for (int i = 0; i < 50; i++)
		other += strcmp(suite.scenario[i].name, first[i]) != 0;
	ck_assert_int_gt(other, 25);
	check_distinct();
	/* A sample of more than there are is all of them. */
	suite.n = 0;
	read_ok(SAMPLE("111", "4"));
	ck_assert_int_eq(suite.n, 110);
	check_distinct();
}
END_TEST

/* --- random problems ----------------------------------------------------------------- */

static const struct {
	const char *fields;
	int rank[2], axes[2];
	int32_t devices[2];
	int64_t bytes[2];
} random_blocks[] = {
	{"count: 300, seed: 5, rank: 2..3, axes: 2..3, devices: 4..64, bytes: "
         "1MiB..8GiB",
         {2, 3},
         {2, 3},
         {4, 64},
         {1 << 20, INT64_C(8) << 30}},
	{"count: 200, seed: 6, rank: 1..4, axes: 1..4, devices: 6..48, dtype: f32, "
         "bytes: 5000B..30000B",
         {1, 4},
         {1, 4},
         {6, 48},
         {5000, 30000}},
	{"count: 20, rank: 3, axes: 2, devices: 24, bytes: 3MB..5MB",
         {3, 3},
         {2, 2},
         {24, 24},
         {3000000, 5000000}},
	{"count: 3", {2, 3}, {2, 3}, {4, 64}, {1 << 20, INT64_C(8) << 30}},
};

static void read_random(const char *fields)
{
	struct text yaml = {0};

	text_printf(&yaml, "generate:\n  - {kind: random, %s}\n", fields);
	read_ok(yaml.s);
	text_free(&yaml);
}

START_TEST(random_rows)
{
	read_random(random_blocks[_i].fields);
	ck_assert_int_eq(suite.n, atoi(strstr(random_blocks[_i].fields, ": ") + 2));
	for (int32_t i = 0; i < suite.n; i++) {
		struct problem p = problem_of(&suite.scenario[i]);
		int64_t bytes =
			dtype_bytes(p.array.dtype, shape_elements(&p.array.shape));

		ck_assert(problem_even(&p));
		ck_assert(!p.two_meshes);
		ck_assert_str_ne(suite.scenario[i].text.from, suite.scenario[i].text.to);
		ck_assert_int_ge(p.array.shape.rank, random_blocks[_i].rank[0]);
		ck_assert_int_le(p.array.shape.rank, random_blocks[_i].rank[1]);
		ck_assert_int_ge(p.mesh.naxes, random_blocks[_i].axes[0]);
		ck_assert_int_le(p.mesh.naxes, random_blocks[_i].axes[1]);
		ck_assert_int_ge(p.mesh.ndevices, random_blocks[_i].devices[0]);
		ck_assert_int_le(p.mesh.ndevices, random_blocks[_i].devices[1]);
		ck_assert_int_ge(bytes, random_blocks[_i].bytes[0]);
		ck_assert_int_le(bytes, random_blocks[_i].bytes[1]);
	}
}
END_TEST

/* Equal seeds give equal problems; of other seeds hardly one is the same. */
START_TEST(random_seeds)
{
	int32_t same = 0;

	read_random("count: 40, seed: 9");
	read_random("count: 40, seed: 9");
	read_random("count: 40, seed: 10");
	ck_assert_int_eq(suite.n, 120);
	for (int i = 0; i < 40; i++) {
		const struct problem_text *a = &suite.scenario[i].text;
		const struct problem_text *b = &suite.scenario[40 + i].text;
		const struct problem_text *c = &suite.scenario[80 + i].text;

		ck_assert_str_eq(a->array, b->array);
		ck_assert_str_eq(a->mesh, b->mesh);
		ck_assert_str_eq(a->from, b->from);
		ck_assert_str_eq(a->to, b->to);
		same += strcmp(a->array, c->array) == 0 &&
		        strcmp(a->mesh, c->mesh) == 0 &&
		        strcmp(a->from, c->from) == 0 && strcmp(a->to, c->to) == 0;
	}
	ck_assert_int_le(same, 1);
	ck_assert_int_eq(suite_check_names(&suite, &error), E_TYPE);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("suite");
	TCase *tc = tcase_create("suite");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, fields);
	tcase_add_test(tc, defaults);
	tcase_add_test(tc, two_files);
	tcase_add_test(tc, zero_byte);
	tcase_add_loop_test(tc, fault_rows, 0, COUNT(faults));
	tcase_add_loop_test(tc, unreadable, 0, 3);
	tcase_add_test(tc, truncated);
	tcase_add_loop_test(tc, layout_count_rows, 0, COUNT(layout_counts));
	tcase_add_test(tc, layout_sample);
	tcase_add_loop_test(tc, random_rows, 0, COUNT(random_blocks));
	tcase_add_test(tc, random_seeds);
	suite_add_tcase(s, tc);
	return s;
}
