#include "cli/command.h"
#include "plan/devices.h"
#include "tests/tests.h"

#include "edit.h"
#include "measure/choose.h"
#include "measure/measure.h"
#include "text/words_list.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct arena *arena;
static struct error error;

static void start(void)
{
	arena = arena_new();
	error = (struct error){0};
}

static void end(void)
{
	arena_free(arena);
}

/* --- lists --------------------------------------------------------------------------- */

static const struct {
	const char *list, *word[4];
	unsigned col[4]; /* of the words, then of the end */
} lists[] = {
	{"", {NULL}, {1}},
	{"a", {"a"}, {1, 1}},
	{"ab,c", {"ab", "c"}, {1, 4, 4}},
	{"ab, ,c", {"ab", " ", "c"}, {1, 4, 6, 6}},
	{"f(1,2),[a,{b,c}],d", {"f(1,2)", "[a,{b,c}]", "d"}, {1, 8, 18, 18}},
	{"a),b", {"a)", "b"}, {1, 4, 4}},
};

START_TEST(list_rows)
{
	const char **words;
	int n = 0;

	ck_assert_int_eq(
		words_list_read(&words, arena, "--list", lists[_i].list, &error), OK);
	for (; lists[_i].word[n]; n++) {
		struct where at = words_list_at("--list", lists[_i].list, n);

		ck_assert_ptr_nonnull(words[n]);
		ck_assert_str_eq(words[n], lists[_i].word[n]);
		ck_assert_str_eq(at.file, "--list");
		ck_assert_uint_eq(at.line, 1);
		ck_assert_uint_eq(at.col, lists[_i].col[n]);
		ck_assert_ptr_eq(at.source, lists[_i].list);
	}
	ck_assert_ptr_null(words[n]);
	ck_assert_uint_eq(words_list_at("--list", lists[_i].list, n).col,
	                  lists[_i].col[n]);
}
END_TEST

/* Each comma has a word on either side. */
static const struct {
	const char *list;
	unsigned col;
} list_faults[] = {
	{",", 1}, {"ab,", 4}, {",ab", 1}, {"ab,,c", 4}, {"f(1,2),", 8}, {"a,b,,", 5},
};

START_TEST(list_fault_rows)
{
	const char **words, *list = list_faults[_i].list;

	ck_assert_int_eq(words_list_read(&words, arena, "--list", list, &error),
	                 E_SYNTAX);
	ck_assert_str_eq(error.at.file, "--list");
	ck_assert_uint_eq(error.at.col, list_faults[_i].col);
	ck_assert_ptr_eq(error.at.source, list);
	ck_assert_ptr_nonnull(strstr(error.text, "an empty item"));
}
END_TEST

START_TEST(planner_lists)
{
	const struct planner **chosen;
	int n, all = 0;

	while (planners[all])
		all++;
	ck_assert_int_eq(choose_planners(&chosen, &n, arena, "all", &error), OK);
	ck_assert_int_eq(n, all);
	for (int i = 0; i < n; i++)
		ck_assert_ptr_eq(chosen[i], planners[i]);
	ck_assert_int_eq(choose_planners(&chosen, &n, arena, "xla-2021,gather", &error),
	                 OK);
	ck_assert_int_eq(n, 2);
	ck_assert_str_eq(chosen[0]->name, "xla-2021");
	ck_assert_str_eq(chosen[1]->name, "gather");
}
END_TEST

static const struct {
	const char *list;
	unsigned col;
	const char *text;
} planner_faults[] = {
	{"", 1, "unknown planner, expected all, or some of gather, synth"},
	{"gather,sinth", 8, "unknown planner"},
	{"gather,synth2", 8, "unknown planner"},
	{"gather,synt", 8, "unknown planner"},
	{"gather,all", 8, "unknown planner"},
	{"gather,synth,gather", 14, "'gather' is listed twice"},
};

START_TEST(planner_fault_rows)
{
	const struct planner **chosen;
	int n;

	ck_assert_int_eq(
		choose_planners(&chosen, &n, arena, planner_faults[_i].list, &error),
		E_TYPE);
	ck_assert_uint_eq(error.at.col, planner_faults[_i].col);
	ck_assert_msg(strstr(error.text, planner_faults[_i].text) != NULL, "%s",
	              error.text);
}
END_TEST

START_TEST(clock_lists)
{
	int *clocks, n;

	ck_assert_int_eq(choose_clocks(&clocks, &n, arena, "fluid,model", &error), OK);
	ck_assert_int_eq(n, 2);
	ck_assert_str_eq(clock_kinds[clocks[0]].name, "fluid");
	ck_assert_str_eq(clock_kinds[clocks[1]].name, "model");
}
END_TEST

static const struct {
	const char *list;
	unsigned col;
	const char *text;
} clock_faults[] = {
	{"", 1, "unknown clock, expected"},
	{"models", 1, "unknown clock"},
	{"model,fluids", 7, "unknown clock"},
	{"model,fluid,model,fluid", 13, "'model' is listed twice"},
};

START_TEST(clock_fault_rows)
{
	int *clocks, n;

	ck_assert_int_eq(choose_clocks(&clocks, &n, arena, clock_faults[_i].list, &error),
	                 E_TYPE);
	ck_assert_uint_eq(error.at.col, clock_faults[_i].col);
	ck_assert_msg(strstr(error.text, clock_faults[_i].text) != NULL, "%s",
	              error.text);
}
END_TEST

/* --- devices ------------------------------------------------------------------------- */

static const struct {
	const char *text;
	int32_t n, device[8];
} device_lists[] = {
	{"0", 1, {0}},
	{"8", 1, {8}},
	{"3-5", 3, {3, 4, 5}},
	{"7-7", 1, {7}},
	{"5,0-2,8,3", 6, {5, 0, 1, 2, 8, 3}},
	{" 5 , 0 - 2 ", 4, {5, 0, 1, 2}},
	{"4 1\t2", 3, {4, 1, 2}},
	{"3,\n4", 2, {3, 4}},
};

START_TEST(device_rows)
{
	const char *text = device_lists[_i].text;
	const char *path = edit_write(arena, text, strlen(text), ".txt");
	const char *given[] = {text, arena_printf(arena, "@%s", path)};
	int32_t *devices, n;

	for (int file = 0; file < 2; file++) {
		ck_assert_msg(devices_parse(&devices, &n, arena, given[file],
		                            where_option("--devices", given[file]), 9,
		                            &error) == OK,
		              "%s", error.text);
		ck_assert_int_eq(n, device_lists[_i].n);
		for (int32_t i = 0; i < n; i++)
			ck_assert_int_eq(devices[i], device_lists[_i].device[i]);
	}
	unlink(path);
}
END_TEST

static const struct {
	const char *text;
	unsigned line, col;
	const char *message;
} device_faults[] = {
	{"", 1, 1, "expected devices such as"},
	{" \n\n", 3, 1, "expected devices such as"},
	{"9", 1, 1, "out of range, expected 0 to 8"},
	{"0-9", 1, 3, "out of range, expected 0 to 8"},
	{"5-3", 1, 3, "the range 5-3 goes backwards, expected 5 to 8 after"},
	{"5-9", 1, 3, "out of range, expected 0 to 8"},
	{"-1", 1, 1, "expected a device"},
	{"1-", 1, 3, "expected a device"},
	{"99999999999999999999", 1, 1, "out of range"},
	{"1;2", 1, 2, "expected ',' or a device"},
	{"1,,2", 1, 3, "expected a device"},
	{"3,", 1, 3, "expected a device after the ','"},
	{"0-7,\n", 2, 1, "expected a device after the ','"},
	{",3", 1, 1, "expected a device"},
	{"1\n2\n3 x", 3, 3, "expected ',' or a device"},
	{"1,2\n3-5,4", 2, 5, "device 4 is listed twice"},
	{"2,0-4", 1, 3, "device 2 is listed twice"},
};

START_TEST(device_fault_rows)
{
	const char *text = device_faults[_i].text;
	const char *path = edit_write(arena, text, strlen(text), ".txt");
	const char *given[] = {text, arena_printf(arena, "@%s", path)};
	int32_t *devices, n;

	for (int file = 0; file < 2; file++) {
		struct where at = where_option("--devices", given[file]);

		error = (struct error){0};
		ck_assert_int_ne(
			devices_parse(&devices, &n, arena, given[file], at, 9, &error),
			OK);
		ck_assert_msg(strstr(error.text, device_faults[_i].message) != NULL,
		              "%s", error.text);
		ck_assert_str_eq(error.at.file, file ? path : "--devices");
		ck_assert_msg(error.at.line == device_faults[_i].line &&
		                      error.at.col == device_faults[_i].col,
		              "%u:%u: %s", error.at.line, error.at.col, error.text);
	}
	unlink(path);
}
END_TEST

START_TEST(device_files)
{
	static const char *const paths[] = {"@none", "@scenarios", "@Makefile/devices"};
	int32_t *devices, n;

	ck_assert_int_eq(devices_parse(&devices, &n, arena, paths[_i],
	                               (struct where){0}, 9, &error),
	                 E_IO);
	ck_assert_str_eq(error.at.file, paths[_i] + 1);
	ck_assert_ptr_nonnull(strstr(error.text, "cannot be read: "));
}
END_TEST

START_TEST(device_file_without_a_name)
{
	int32_t *devices, n;

	ck_assert_int_eq(devices_parse(&devices, &n, arena, "@",
	                               where_option("--devices", "@"), 9, &error),
	                 E_SYNTAX);
	ck_assert_str_eq(error.at.file, "--devices");
	ck_assert_ptr_nonnull(strstr(error.text, "expected a file name"));
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("command");
	TCase *tc = tcase_create("command");

	tcase_set_timeout(tc, 20);
	tcase_add_checked_fixture(tc, start, end);
	tcase_add_loop_test(tc, list_rows, 0, COUNT(lists));
	tcase_add_loop_test(tc, list_fault_rows, 0, COUNT(list_faults));
	tcase_add_test(tc, planner_lists);
	tcase_add_loop_test(tc, planner_fault_rows, 0, COUNT(planner_faults));
	tcase_add_test(tc, clock_lists);
	tcase_add_loop_test(tc, clock_fault_rows, 0, COUNT(clock_faults));
	tcase_add_loop_test(tc, device_rows, 0, COUNT(device_lists));
	tcase_add_loop_test(tc, device_fault_rows, 0, COUNT(device_faults));
	tcase_add_loop_test(tc, device_files, 0, 3);
	tcase_add_test(tc, device_file_without_a_name);
	suite_add_tcase(s, tc);
	return s;
}
