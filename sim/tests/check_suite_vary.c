/* Suites that vary: lists and ranges of meshes, sizes and figures of platforms. */
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

static const char *read_text(const char *yaml)
{
	const char *path = edit_write(arena, yaml, strlen(yaml), ".yaml");

	suite_read(&suite, path, &error);
	unlink(path);
	return path;
}

static void read_ok(const char *yaml)
{
	read_text(yaml);
	ck_assert_msg(error.code == OK, "%u:%u: %s", error.at.line, error.at.col,
	              error.text);
}

#define ENDS "from: \"P('x')\", to: \"P()\""

/* --- scenarios ----------------------------------------------------------------------- */

static void is_scenario(int i, const char *name, const char *array, const char *mesh,
                        const char *varied)
{
	const struct scenario *s = &suite.scenario[i];

	ck_assert_int_lt(i, suite.n);
	ck_assert_str_eq(s->name, name);
	ck_assert_str_eq(s->text.array, array);
	ck_assert_str_eq(s->text.mesh, mesh);
	ck_assert_str_eq(s->varied, varied);
}

/* Rows of 7 bf16 have 14 bytes: 48 KiB + 2 are 3511 of them, and 28 are 2. */
START_TEST(sizes)
{
	read_ok("scenarios:\n"
	        "  - {name: a, array: \"bf16[5,7]\", mesh: \"x=3\", " ENDS ",\n"
	        "     bytes: [49154, 28B]}\n"
	        "  - {name: b, array: \"s4[3,5]\", mesh: \"x=3\", " ENDS ",\n"
	        "     bytes: \"5, 10\"}\n"
	        "  - {name: c, array: \"f32[3]\", mesh: \"x=3\", " ENDS "}\n"
	        "  - {name: d, array: \"f32[3]\", mesh: \"x=3\", " ENDS
	        ", bytes: 4KiB}\n");
	ck_assert_int_eq(suite.n, 6);
	is_scenario(0, "a{bytes=49154}", "bf16[3511,7]", "x=3", "bytes=49154");
	is_scenario(1, "a{bytes=28B}", "bf16[2,7]", "x=3", "bytes=28B");
	is_scenario(2, "b{bytes=5}", "s4[2,5]", "x=3", "bytes=5");
	is_scenario(3, "b{bytes=10}", "s4[4,5]", "x=3", "bytes=10");
	is_scenario(4, "c", "f32[3]", "x=3", "");
	is_scenario(5, "d{bytes=4KiB}", "f32[1024]", "x=3", "bytes=4KiB");
	for (int i = 0; i < suite.n; i++) {
		char base[2] = {suite.scenario[i].name[0], '\0'};

		ck_assert_str_eq(suite.scenario[i].base, base);
	}
}
END_TEST

/* From the first on, times the factor, as long as it is not above the last. */
START_TEST(ranges)
{
	static const char *const names[] = {"512", "1536", "4608", "2.5KiB", "64KiB"};
	static const char *const whole[] = {"512KiB", "1MiB", "2MiB"};

	read_ok("scenarios:\n"
	        "  - {name: a, array: \"u8[1]\", mesh: \"x=3\", " ENDS ",\n"
	        "     bytes: [512..13823 x3, \"2.5KiB\", 64KiB..64KiB x2]}\n"
	        "  - {name: b, array: \"u8[1]\", mesh: \"x=3\", " ENDS ",\n"
	        "     bytes: \"512KiB..2097152 x2\"}\n");
	ck_assert_int_eq(suite.n, COUNT(names) + COUNT(whole));
	for (int i = 0; i < COUNT(names); i++)
		ck_assert_str_eq(suite.scenario[i].name,
		                 arena_printf(arena, "a{bytes=%s}", names[i]));
	for (int i = 0; i < COUNT(whole); i++)
		ck_assert_str_eq(suite.scenario[COUNT(names) + i].name,
		                 arena_printf(arena, "b{bytes=%s}", whole[i]));
	ck_assert_str_eq(suite.scenario[2].text.array, "u8[4608]");
}
END_TEST

/* Every mesh with every size; a scenario's own field takes the place of a default. */
START_TEST(meshes)
{
	read_ok("defaults: {array: \"u8[6,5]\", mesh: [\"x=3\", \"y=2, x=3\"],\n"
	        "           bytes: [15, 45], " ENDS "}\n"
	        "scenarios:\n"
	        "  - {name: a}\n"
	        "  - {name: b, mesh: \"x=5\"}\n"
	        "  - {name: c, mesh: [\"x=5\"], bytes: 30}\n");
	ck_assert_int_eq(suite.n, 7);
	is_scenario(0, "a{mesh=x=3}{bytes=15}", "u8[3,5]", "x=3", "mesh=x=3 bytes=15");
	is_scenario(1, "a{mesh=x=3}{bytes=45}", "u8[9,5]", "x=3", "mesh=x=3 bytes=45");
	is_scenario(2, "a{mesh=y=2,x=3}{bytes=15}", "u8[3,5]", "y=2, x=3",
	            "mesh=y=2,x=3 bytes=15");
	is_scenario(4, "b{bytes=15}", "u8[3,5]", "x=5", "bytes=15");
	is_scenario(6, "c{mesh=x=5}{bytes=30}", "u8[6,5]", "x=5", "mesh=x=5 bytes=30");
	ck_assert_str_eq(suite.scenario[3].base, "a");
}
END_TEST

/* --- platforms ----------------------------------------------------------------------- */

static void is_platform(int i, const char *name, const char *base, const char *varied,
                        uint64_t files)
{
	const struct suite_platform *p = &suite.platform[i];

	ck_assert_int_lt(i, suite.nplatforms);
	ck_assert_str_eq(p->name, name);
	ck_assert_str_eq(p->base, base);
	ck_assert_str_eq(p->varied, varied);
	ck_assert_uint_eq(p->files, files);
}

#define ONE(name)                                                                      \
	"scenarios: [{name: " name ", array: \"u8[3]\", mesh: \"x=3\", " ENDS "}]\n"

START_TEST(platforms)
{
	read_ok("platforms: [tpu-v4:8x8x8,\n"
	        "  {base: dgx-h100:32, set: {nic.bandwidth: [25GBps, 50GBps],\n"
	        "                            launch_s: 1us..5us x2}},\n"
	        "  {base: files/a.xml}, "
	        "\"dgx-a100:2{nic.latency=2us,launch_s=0}\"]\n" ONE("a"));
	ck_assert_int_eq(suite.nplatforms, 9);
	is_platform(0, "tpu-v4:8x8x8", "tpu-v4:8x8x8", "", 1);
	is_platform(1, "dgx-h100:32{nic.bandwidth=25GBps,launch_s=1us}", "dgx-h100:32",
	            "nic.bandwidth=25GBps launch_s=1us", 1);
	is_platform(3, "dgx-h100:32{nic.bandwidth=25GBps,launch_s=4us}", "dgx-h100:32",
	            "nic.bandwidth=25GBps launch_s=4us", 1);
	is_platform(4, "dgx-h100:32{nic.bandwidth=50GBps,launch_s=1us}", "dgx-h100:32",
	            "nic.bandwidth=50GBps launch_s=1us", 1);
	is_platform(7, "files/a.xml", "files/a.xml", "", 1);
	is_platform(8, "dgx-a100:2{nic.latency=2us,launch_s=0}", "dgx-a100:2",
	            "nic.latency=2us launch_s=0", 1);
	ck_assert_int_eq(suite.platform[8].nset, 2);
	ck_assert_str_eq(suite.platform[8].set[1], "launch_s=0");
	ck_assert_uint_eq(suite.platform[2].at.line, 2);
	ck_assert_uint_eq(suite.platform[2].at.col, 10);
}
END_TEST

/* A platform of two suites is one, on which the scenarios of both run. */
/* What tables call a machine: its name, behind it what varies, or else the platform. */
START_TEST(labels)
{
	static const char *const label[] = {
		"TPU v4", "H100 nic.bandwidth=25GBps", "H100 nic.bandwidth=50GBps",
		"dgx-h100:4{nic.bandwidth=25GBps,launch_s=1us}", "a:1{b=2}"};

	read_ok("platforms: [{name: TPU v4, base: \"tpu-v4:8x8x8\"},\n"
	        "  {name: H100, base: \"dgx-h100:4\",\n"
	        "   set: {nic.bandwidth: [25GBps, 50GBps], launch_s: 1us}},\n"
	        "  {base: \"dgx-h100:4\",\n"
	        "   set: {nic.bandwidth: 25GBps, launch_s: 1us}}, \"a:1{b=2}\"]\n" ONE(
			"a"));
	ck_assert_int_eq(suite.nplatforms, COUNT(label));
	for (int i = 0; i < COUNT(label); i++)
		ck_assert_str_eq(suite.platform[i].machine, label[i]);
}
END_TEST

/* Names of platforms: a slash is one of a file unless it stands in a setting's value. */
static const struct {
	const char *name, *base, *set[2];
} names[] = {
	{"dgx-h100:2", "dgx-h100:2", {NULL}},
	{"dgx-h100:2{nics=4}", "dgx-h100:2", {"nics=4"}},
	{"dgx-h100:2{nic.bandwidth=25GB/s}", "dgx-h100:2", {"nic.bandwidth=25GB/s"}},
	{"tpu-v5e:4x8{ici.bandwidth=8GiB/s,ici.latency=2us}",
         "tpu-v5e:4x8",
         {"ici.bandwidth=8GiB/s", "ici.latency=2us"}},
	{"my/file.xml", "my/file.xml", {NULL}},
	{"my/file{a=b}.xml", "my/file{a=b}.xml", {NULL}},
	{"file{a=b/s}.xml", "file{a=b/s}.xml", {NULL}},
	{"./folder{a=b}", "./folder{a=b}", {NULL}},
};

START_TEST(name_rows)
{
	const struct suite_platform *p;
	int i = -1, n = 0;

	ck_assert_int_eq(suite_platform_parse(&i, &suite, names[_i].name,
	                                      (struct where){0}, &error),
	                 OK);
	p = &suite.platform[i];
	ck_assert_str_eq(p->base, names[_i].base);
	for (; n < 2 && names[_i].set[n]; n++)
		ck_assert_str_eq(p->set[n], names[_i].set[n]);
	ck_assert_int_eq(p->nset, n);
}
END_TEST

START_TEST(two_suites)
{
	read_ok("platforms: [tpu-v4:8x8x8, dgx-a100:1]\n" ONE("a"));
	read_ok(ONE("b"));
	read_ok("platforms: [dgx-h100:1, tpu-v4:8x8x8]\n" ONE("c"));
	ck_assert_int_eq(suite.nplatforms, 3);
	is_platform(0, "tpu-v4:8x8x8", "tpu-v4:8x8x8", "", 5);
	is_platform(1, "dgx-a100:1", "dgx-a100:1", "", 1);
	is_platform(2, "dgx-h100:1", "dgx-h100:1", "", 4);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(suite.scenario[i].file, i);
}
END_TEST

START_TEST(too_many_suites)
{
	for (int i = 0; i < SUITE_FILES_MAX; i++)
		read_ok(ONE("a"));
	read_text(ONE("a"));
	ck_assert_int_eq(error.code, E_RANGE);
	ck_assert_str_eq(error.text, "one suite too many, expected at most 64");
}
END_TEST

/* --- settings of all platforms -------------------------------------------------------- */

static void set_ok(const char *const *set, int n)
{
	ck_assert_msg(suite_set(&suite, set, n, &error) == OK, "%s:%u: %s",
	              error.at.file, error.at.col, error.text);
}

/* 10 + 3 * 5 is the last that is not above 25; the sum of tenths ends where it says. */
START_TEST(steps)
{
	static const char *const set[] = {"a.bandwidth=10GBps..27GBps +5GBps",
	                                  "b.latency={0.1us..0.3us +0.1us,1ms}"};
	static const char *const rates[] = {"10GBps", "15GBps", "20GBps", "25GBps"};
	static const char *const times[] = {"100ns", "200ns", "300ns", "1ms"};

	read_ok("platforms: [\"m:1\"]\n" ONE("a"));
	set_ok(set, 2);
	ck_assert_int_eq(suite.nplatforms, 16);
	for (int i = 0; i < 16; i++)
		is_platform(i,
		            arena_printf(arena, "m:1{a.bandwidth=%s,b.latency=%s}",
		                         rates[i / 4], times[i % 4]),
		            "m:1",
		            arena_printf(arena, "a.bandwidth=%s b.latency=%s",
		                         rates[i / 4], times[i % 4]),
		            1);
}
END_TEST

/* Machines beside a suite take the place of its own, and --set that of the suite's `set`. */
START_TEST(machines_beside_a_suite)
{
	static const char *const set[] = {"gpus={4,8}"};
	static const char *const label[] = {"mine gpus=4", "mine gpus=8",
	                                    "y:2{nics=1,k_s=2us,gpus=4}",
	                                    "y:2{nics=1,k_s=2us,gpus=8}"};

	read_ok("platforms: [x:1]\n" ONE("a"));
	read_ok("platforms: [{name: mine, base: \"y:{n}\"}, \"y:2{nics=1}\"]\n"
	        "set: {k_s: 2us, gpus: \"2\"}\n");
	ck_assert_uint_eq(suite.no_scenarios, 2);
	ck_assert_int_eq(suite_check_names(&suite, &error), OK);
	suite_take_machines(&suite);
	set_ok(set, 1);
	ck_assert_int_eq(suite.nplatforms, COUNT(label));
	for (int i = 0; i < COUNT(label); i++) {
		ck_assert_str_eq(suite.platform[i].machine, label[i]);
		ck_assert_uint_eq(suite.platform[i].files, UINT64_MAX);
	}
	is_platform(1, "y:{n}{k_s=2us,gpus=8}", "y:{n}", "k_s=2us gpus=8", UINT64_MAX);
}
END_TEST

static const struct {
	const char *set;
	unsigned col;
	const char *text;
} set_faults[] = {
	{"nics=2", 1, "'nics' is set in platform y:2{nics=1} too"},
	{"nics", 1, "expected key=value, or key={value,value}"},
	{"=2", 1, "expected key=value, or key={value,value}"},
	{"a_Bps={25..100..25}GBps", 7, "expected values in braces, such as"},
	{"a_Bps={1GBps,2GBps", 7, "expected values in braces, such as"},
	{"a_Bps={1GBps,2}GBps}", 7, "expected values in braces, such as"},
	{"a_Bps={1GBps,2parsec}", 15, "unknown unit"},
	{"a_Bps={}", 8, "expected"},
	{"gpus={1,,2}", 9, "expected a value without spaces"},
	{"gpus=1,2", 6, "expected a value without spaces, commas"},
};

START_TEST(faults_of_settings)
{
	const char *const set[] = {set_faults[_i].set};

	read_ok("platforms: [\"y:2{nics=1}\"]\n" ONE("a"));
	ck_assert_int_ne(suite_set(&suite, set, 1, &error), OK);
	ck_assert_str_eq(error.at.file, "--set");
	ck_assert_msg(strstr(error.text, set_faults[_i].text) &&
	                      error.at.col == set_faults[_i].col,
	              "%u: %s", error.at.col, error.text);
}
END_TEST

START_TEST(machines_without_a_suite)
{
	read_ok("platforms: [x:1]\n");
	ck_assert_int_eq(suite_check_names(&suite, &error), E_SYNTAX);
	ck_assert_msg(strstr(error.text, "expected a suite with some beside it"), "%s",
	              error.text);
}
END_TEST

/* --- faults -------------------------------------------------------------------------- */

#define SIZED(bytes)                                                                   \
	"scenarios: [{name: a, array: \"bf16[5,7]\", mesh: \"x=3\", " ENDS             \
	",\nbytes: " bytes "}]\n"

static const struct {
	const char *yaml;
	unsigned line, col;
	const char *text;
} faults[] = {
	{SIZED("1MiB"), 2, 8, "bf16[5,7] cannot have 1048576 bytes: its rows have 14"},
	{SIZED("[14, 15]"), 2, 13, "bf16[5,7] cannot have 15 bytes"},
	{SIZED("0"), 2, 8, "expected 1 byte to 2^58"},
	{SIZED("[]"), 2, 8, "an empty list, expected some values"},
	{SIZED("{a: b}"), 2, 8, "expected a text"},
	{SIZED("14..28"), 2, 14, "expected how the range goes on, such as x2 or +1MiB"},
	{SIZED("14..28 +0"), 2, 15, "expected a step above 0"},
	{SIZED("14..28 +1s"), 2, 17, "unknown unit"},
	{"set: [a]\n" ONE("a"), 1, 6, "expected a map of settings"},
	{"set: {a: 1}\nset: {a: 2}\n" ONE("a"), 2, 1, "this key is there twice"},
	{SIZED("14..28 x1"), 2, 16, "a whole factor"},
	{SIZED("28..14 x2"), 2, 8, "expected the lower end first"},
	{SIZED("\"14, 7GiBs\""), 2, 17, "unknown unit"},
	{SIZED("[1792, 7KiB, 1.75KiB]"), 2, 21, "1.75KiB is there already as 1792"},
	{SIZED("\"7KiB..28KiB x2, 14336\""), 2, 25, "14336 is there already as 14KiB"},
	{"scenarios: [{name: a, array: \"f32[]\", mesh: \"x=3\", from: \"P()\", "
         "to: \"P()\",\nbytes: 4}]\n",
         2, 8, "f32[] has no dimension that could be scaled"},
	{"scenarios: [{name: a, array: \"s4[2,5]\", mesh: \"x=3\", " ENDS
         ",\nbytes: 3}]\n",
         2, 8, "s4[2,5] cannot have 3 bytes: its rows have 20 bits"},
	{"scenarios: [{name: a, array: \"u8[3]\", " ENDS
         ",\nmesh: [\"x=3\", \"x=0\"]}]\n",
         2, 18, "the axis size 0 is out of range"},
	{"platforms: tpu-v4:4x4x4\n" ONE("a"), 1, 12, "expected a list of platforms"},
	{"platforms: []\n" ONE("a"), 1, 12, "an empty list, expected some platforms"},
	{"platforms: [a:1, b:1, a:1]\n" ONE("a"), 1, 23, "platform 'a:1' is there twice"},
	{"platforms: [\"\"]\n" ONE("a"), 1, 14, "expected a platform"},
	{"platforms: [{set: {a: 1}}]\n" ONE("a"), 1, 13, "expected a platform such as"},
	{"platforms: [{base: \"\"}]\n" ONE("a"), 1, 13, "expected a platform such as"},
	{"platforms: [{base: a, sets: {}}]\n" ONE("a"), 1, 23,
         "unknown field 'sets', expected one of base, set, name"},
	{"platforms: [{base: a, name: \"\"}]\n" ONE("a"), 1, 30,
         "expected the name of a machine"},
	{"platforms: [{base: a, set: b}]\n" ONE("a"), 1, 28,
         "expected a map of settings"},
	{"platforms: [{base: a, set: {b: []}}]\n" ONE("a"), 1, 32, "an empty list"},
	{"platforms: [{base: a, set: {b: 1, b: 2}}]\n" ONE("a"), 1, 35,
         "this key is there twice"},
	{"platforms: [{base: a, set: {nic.latency: [1us, 2lightyears]}}]\n" ONE("a"), 1,
         49, "unit"},
	{"platforms: [{base: a, set: {nic.latency: [1us, 1000ns]}}]\n" ONE("a"), 1, 48,
         "1000ns is there already as 1us"},
	{"platforms: [{base: a, set: {b: [c, \"d e\"]}}]\n" ONE("a"), 1, 37,
         "expected a value without spaces"},
	{"platforms: [{base: a, set: {b: \"c,d\"}}]\n" ONE("a"), 1, 33,
         "expected a value without spaces"},
	{"platforms: [\"a:1{b=1\"]\n" ONE("a"), 1, 21, "expected a , or }"},
	{"platforms: [\"a:1{b}\"]\n" ONE("a"), 1, 18, "expected key=value"},
	{"platforms: [\"a:1{}\"]\n" ONE("a"), 1, 18, "expected key=value"},
	{"platforms: [\"a:1{=2}\"]\n" ONE("a"), 1, 18, "expected key=value"},
	{"platforms: [\"a:1{b=2,b=3}\"]\n" ONE("a"), 1, 22, "is set twice"},
	{"platforms: [\"a:1{b=2},c=3}\"]\n" ONE("a"), 1, 22,
         "expected nothing behind the }"},
	{"scenarios: [{name: a, from: P('x', None)}]\n", 1, 36,
         "'None)' is no field: the comma in front of it ends the text of 'from'"},
	{"scenarios: [{name: a, mesh: x=2,y=2}]\n", 1, 33,
         "which has no quotes; expected quotes around it"},
	{"scenarios: [{name: a, meshes: , to: x}]\n", 1, 23, "did you mean 'mesh'?"},
	{"scenarios: [{name: a, array: f32[8,8]}]\n", 1, 33, "stands in double quotes"},
	{"scenarios: [{name: a, from: [Shard(0)]}]\n", 1, 29,
         "one that begins with [ or { stands in quotes"},
	{"platforms: [\"{b=2}\"]\n" ONE("a"), 1, 14,
         "settings are family:shape{key=value"},
};

START_TEST(fault_rows)
{
	const char *path = read_text(faults[_i].yaml);

	ck_assert_int_ne(error.code, OK);
	ck_assert_msg(strstr(error.text, faults[_i].text) != NULL, "%u:%u: %s",
	              error.at.line, error.at.col, error.text);
	ck_assert_str_eq(error.at.file, path);
	ck_assert_msg(error.at.line == faults[_i].line && error.at.col == faults[_i].col,
	              "%u:%u: %s", error.at.line, error.at.col, error.text);
}
END_TEST

/* 1,000 values are fine, one more is not. */
START_TEST(too_many_values)
{
	struct text yaml = {0};

	for (int n = 1000; n <= 1001; n++) {
		yaml.length = 0;
		text_printf(&yaml, "scenarios: [{name: a, array: \"u8[1]\", mesh: "
		                   "\"x=3\", " ENDS ", bytes: \"1");
		for (int i = 2; i <= n; i++)
			text_printf(&yaml, ",%d", i);
		text_printf(&yaml, "\"}]\n");
		read_text(yaml.s);
		ck_assert_int_eq(error.code, n > 1000 ? E_RANGE : OK);
	}
	ck_assert_str_eq(error.text, "more than 1000 values");
	ck_assert_int_eq(suite.n, 1000);
	text_free(&yaml);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("suite_vary");
	TCase *tc = tcase_create("suite_vary");

	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, sizes);
	tcase_add_test(tc, ranges);
	tcase_add_test(tc, meshes);
	tcase_add_test(tc, platforms);
	tcase_add_test(tc, labels);
	tcase_add_loop_test(tc, name_rows, 0, COUNT(names));
	tcase_add_test(tc, two_suites);
	tcase_add_test(tc, too_many_suites);
	tcase_add_loop_test(tc, fault_rows, 0, COUNT(faults));
	tcase_add_test(tc, too_many_values);
	tcase_add_test(tc, steps);
	tcase_add_test(tc, machines_beside_a_suite);
	tcase_add_test(tc, machines_without_a_suite);
	tcase_add_loop_test(tc, faults_of_settings, 0, COUNT(set_faults));
	suite_add_tcase(s, tc);
	return s;
}
