#include "tests/tests.h"
#include "validate/mapping.h"

#include "tiny_family.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct arena *arena;
static const char *dir;

static void setup(void)
{
	arena = arena_new();
	dir = tiny_start(arena);
}

static void teardown(void)
{
	tiny_end(dir);
	arena_free(arena);
}

static const char text[] =
	"# two systems in one set\n"
	"- {set: log-1*, system: A100, platform: \"tiny:{nodes}\", launch: single}\n"
	"- {set: log-1*, devices: 3, platform: \"tiny:1\", units: 1, stride: 2}\n"
	"- set: log-12\n"
	"  platform: \"tiny:2\"\n"
	"  mesh: g=2,x=4\n"
	"  axis: x\n"
	"  order: 0-3,7,6,5,4\n"
	"  algorithm: ring\n"
	"  protocol: ll\n"
	"  settings: {nics: 2, launch_s: 1us}\n"
	"  source: \"a page\"\n"
	"  note: \"a lack\"\n"
	"- {set: log-13, platform: \"tiny:1\", launch: untold}\n"
	"- {set: '*', unmapped: \"another library\"}\n";

static const struct mapping_entry *find(const struct mapping *m, const char *set,
                                        const char *system, int32_t devices)
{
	struct measured row = {.set = set, .system = system, .devices = devices};

	return mapping_find(m, &row);
}

START_TEST(the_first_that_matches)
{
	struct mapping m;
	struct error e = {0};
	const struct mapping_entry *entry;
	struct measured row = {.nodes = 17};

	ck_assert_msg(mapping_read(&m, arena, tiny_file(arena, dir, "m.yaml", text),
	                           &e) == OK,
	              "%s", e.text);
	ck_assert_int_eq(m.n, 5);
	ck_assert_ptr_eq(find(&m, "log-12", "a node of A100s", 3), &m.entry[0]);
	ck_assert_ptr_eq(find(&m, "log-12", "H100", 3), &m.entry[1]);
	ck_assert_ptr_eq(find(&m, "log-12", "H100", 4), &m.entry[2]);
	ck_assert_ptr_eq(find(&m, "log-13", "H100", 4), &m.entry[3]);
	ck_assert_ptr_eq(find(&m, "log-1", "H100", 4), &m.entry[4]);
	ck_assert_ptr_eq(find(&m, "", "", 0), &m.entry[4]);
	ck_assert_str_eq(mapping_platform(&m.entry[0], &row, arena), "tiny:17");
	ck_assert_str_eq(mapping_platform(&m.entry[1], &row, arena), "tiny:1");
	ck_assert_str_eq(m.entry[0].launch, "single");
	ck_assert(!m.entry[0].untold && m.entry[3].untold);
	ck_assert_ptr_null(m.entry[3].launch);
	ck_assert_int_eq(m.entry[1].units, 1);
	ck_assert_int_eq(m.entry[1].stride, 2);
	ck_assert_int_eq(m.entry[0].stride, 1);
	entry = &m.entry[2];
	ck_assert_str_eq(entry->mesh, "g=2,x=4");
	ck_assert_str_eq(entry->axis, "x");
	ck_assert_str_eq(entry->order, "0-3,7,6,5,4");
	ck_assert_str_eq(entry->algorithm, "ring");
	ck_assert_str_eq(entry->protocol, "ll");
	ck_assert_int_eq(entry->nsettings, 2);
	ck_assert_str_eq(entry->setting[0], "nics=2");
	ck_assert_str_eq(entry->setting[1], "launch_s=1us");
	ck_assert_str_eq(entry->note, "a lack");
	ck_assert_uint_eq(entry->at.line, 4);
	ck_assert_str_eq(m.entry[4].unmapped, "another library");
	ck_assert_ptr_null(m.entry[4].platform);
}
END_TEST

START_TEST(nothing_matches)
{
	struct mapping m;
	struct error e = {0};
	const char *one = "- {set: log, platform: \"tiny:1\"}\n";

	ck_assert_int_eq(
		mapping_read(&m, arena, tiny_file(arena, dir, "m.yaml", one), &e), OK);
	ck_assert_ptr_null(find(&m, "log-1", "", 0));
	ck_assert_ptr_null(find(&m, "lo", "", 0));
}
END_TEST

static const struct {
	const char *text;
	unsigned line;
	const char *says;
} faults[] = {
	{"", 1, "expected"},
	{"set: a\n", 1, "expected a list of entries"},
	{"- {set: a}\n", 1, "expected one of 'platform' and 'unmapped'"},
	{"- {set: a, platform: b, unmapped: c}\n", 1, "expected one of"},
	{"- {set: a, platform: b}\n- {platform: b}\n", 2, "set"},
	{"- {set: a, platform: b, sets: c}\n", 1, "sets"},
	{"- {set: a, platform: b, mesh: x=2}\n", 1, "'mesh' and 'axis' go together"},
	{"- {set: a, platform: b, axis: x}\n", 1, "'mesh' and 'axis' go together"},
	{"- {set: a, platform: b, units: none}\n", 1, "units"},
	{"- {set: a, platform: b, stride: 0}\n", 1, "stride"},
	{"- {set: a, platform: [b]}\n", 1, "platform"},
	{"- set: a\n  platform: b\n  settings: c\n", 3, "expected a mapping of settings"},
	{"- set: a\n  platform: b\n  settings: {c: [d]}\n", 3, "c"},
	{"- {set: a, platform: b\n", 2, "expected"},
};

START_TEST(errors)
{
	const char *path = tiny_file(arena, dir, "m.yaml", faults[_i].text);
	struct mapping m;
	struct error e = {0};

	ck_assert_int_ne(mapping_read(&m, arena, path, &e), OK);
	ck_assert_str_eq(e.at.file, path);
	ck_assert_msg(e.at.line == faults[_i].line && strstr(e.text, faults[_i].says),
	              "line %u: %s", e.at.line, e.text);
}
END_TEST

START_TEST(no_file)
{
	struct mapping m;
	struct error e = {0};

	ck_assert_int_eq(mapping_read(&m, arena, "/tmp/none/m.yaml", &e), E_IO);
}
END_TEST

START_TEST(beside)
{
	ck_assert_str_eq(mapping_beside(arena, "a/b.csv"), "a/b.yaml");
	ck_assert_str_eq(mapping_beside(arena, "a.x/b"), "a.x/b.yaml");
	ck_assert_str_eq(mapping_beside(arena, "log"), "log.yaml");
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("mapping");
	TCase *t = tcase_create("mapping");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_first_that_matches);
	tcase_add_test(t, nothing_matches);
	tcase_add_loop_test(t, errors, 0, COUNT(faults));
	tcase_add_test(t, no_file);
	tcase_add_test(t, beside);
	suite_add_tcase(s, t);
	return s;
}
