#include "tests/tests.h"
#include "validate/place.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tables of measured placements: what they say, and what is wrong with them. */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define HEAD                                                                           \
	"hierarchy,axes,reduce,matrix,algorithm,measured_s,best_measured_s,best_"      \
	"program\n"

static struct arena *arena;
static struct error error;

static void setup(void)
{
	arena = arena_new();
	error = (struct error){0};
}

static void teardown(void)
{
	arena_free(arena);
}

static enum status read_text(struct place_table *t, const char *text)
{
	char path[] = "/tmp/check_validate_place.XXXXXX";
	const char *paths[] = {path};
	int fd = mkstemp(path);
	enum status status;
	FILE *f;

	ck_assert_int_ge(fd, 0);
	f = fdopen(fd, "w");
	fputs(text, f);
	fclose(f);
	ck_assert(place_table_is(path) == (strstr(text, "hierarchy") != NULL));
	status = place_table_read(t, arena, paths, 1, &error);
	unlink(path);
	return status;
}

/* Simulated by hand, seconds of ten runs: 20 GiB per GPU, NIC 8, NVLink 135 GiB/s. */
static const struct {
	const char *row;
	double time_s, best_s;
	int64_t programs, place;
	const char *system;
} row_table[] = {
	/* One ring over both nodes: 2 x 15/16 x 20 / 8. Eight rings of two nodes: 20 x 8 / 8. */
	{"\"2,8\",16,0,[[2 8]],ring,1,,\n", 37.5 / 8, 2 * 17.5 / 135 + 2.5, 47, 0,
         "p2-v100:2 ring"},
	{"2x8,8 2,1,(1 8)/(2 1),all-reduce,1,,AR\n", 20, 20, 3, 1, "p2-v100:2"},
	/* The same as spreadsheets write it. */
	{"2x8,8 2,1,1 8;2 1,all-reduce,1,,AR\r\n", 20, 20, 3, 1, "p2-v100:2"},
	/* The three programs there: all-reduce 20; a reduce and a broadcast 20 each. */
	{"[2 8],[8 2],[1],\"[[1,8],[2,1]]\",\"(root, InsideGroup, "
         "AllReduce)\",1,2,\"(root, "
         "InsideGroup, Reduce); (root, InsideGroup, Broadcast)\"\n",
         20, 20, 3, 3, "p2-v100:2"},
	/* Two trees between four nodes put each byte twice on a NIC: 16 x 2 x 20 / 8. */
	{"\"node 4, gpu 16\",\"data=4,model=16\",data,[[4 1][1 16]],Tree,1,,\n", 80, 60,
         3, 0, "p2-a100:4 tree"},
};

START_TEST(rows)
{
	struct place_table t;
	struct text text = {0};

	text_printf(&text, "%s" HEAD "%s", _i ? "" : "\xef\xbb\xbf", row_table[_i].row);
	ck_assert_msg(read_text(&t, text.s) == OK, "%s", error.text);
	ck_assert_int_eq(t.n, 1);
	ck_assert_double_eq_tol(10 * t.row->time_s, row_table[_i].time_s, 1e-9);
	ck_assert_double_eq_tol(10 * t.row->best_s, row_table[_i].best_s, 1e-9);
	ck_assert_int_eq(t.row->programs, row_table[_i].programs);
	ck_assert_int_eq(t.row->place, row_table[_i].place);
	ck_assert_str_eq(t.row->system, row_table[_i].system);
	ck_assert_double_eq_tol(10 * t.row->measured_s, 1, 1e-12);
	text_free(&text);
}
END_TEST

/*
 * Matrices of one case whose all-reduces are simulated in 37.5/8, 75/8 and 20 s (rings of
 * 16 over both nodes: all of one, two of 8, eight of 2).
 */
START_TEST(totals)
{
	struct place_table t;
	struct place_errors e;
	const char *text = "runs,bytes," HEAD
			   "1,2GiB,\"2,8\",\"4,4\",1,[[1 4][2 2]],ring,0.8,0.5,\n"
			   "1,2GiB,\"2,8\",\"4,4\",1,[[2 2][1 4]],ring,1.6,0.4,AR\n"
			   ",,\"2,8\",\"8,2\",1,[[1 8][2 1]],ring,10,10,AR\n"
			   "1,20GiB,\"2,8\",\"8,2\",1,[[2 4][1 2]],ring,1.0,,\n";

	ck_assert_msg(read_text(&t, text) == OK, "%s", error.text);
	e = place_errors_of(&t, NULL, arena);
	ck_assert_uint_eq(e.n, 4);
	ck_assert_uint_eq(e.nbest, 3);
	/* Of the first two the first is the slower one simulated, measured the faster. */
	ck_assert_int_eq(e.pairs.pairs, 1);
	ck_assert_int_eq(e.pairs.inversions, 1);
	ck_assert_int_eq(e.best_pairs.pairs, 1);
	ck_assert_int_eq(e.best_pairs.inversions, 0);
	ck_assert_uint_eq(e.improvable, 3);
	ck_assert_uint_eq(e.improved[0], 2);
	ck_assert_double_eq_tol(e.speedup[0], (0.8 / 0.5 + 4) / 2, 1e-12);
	ck_assert_double_eq_tol(e.most_speedup[0], 4, 1e-12);
	ck_assert_uint_eq(e.named, 2);
	ck_assert_uint_eq(e.top[PLACE_TOPS - 1], 2);
	/* Four rings of four over two nodes: 1.5 x 2 x 4 / 8 s, twice too long. */
	ck_assert_double_eq_tol(t.row[0].time_s, 1.5, 1e-9);
	/* Four GPUs in a row, closed over PCIe. */
	ck_assert_double_eq_tol(t.row[1].time_s, 1.5 * 2 / 32, 1e-9);
	ck_assert_double_eq_tol(e.most, 2, 1e-9);
	e = place_errors_of(&t, "p2-v100:4 ring", arena);
	ck_assert_uint_eq(e.n, 0);
	ck_assert(isnan(e.error));
}
END_TEST

static const struct {
	const char *text, *why;
	unsigned line, col;
} bad_table[] = {
	{"hierarchy,matrix\n\"4,16\",[[4 16]]\n", "column 'axes' is missing", 1, 1},
	{"bites," HEAD, "unknown column 'bites'; did you mean 'bytes'?", 1, 1},
	{HEAD, "no row", 0, 0},
	{HEAD "\"4,16\",64,0,[[4 8]],ring,1,1,\n", "", 2, 13},
	{HEAD "\"4,16\",64,0,4 8,ring,1,1,\n", "", 2, 13},
	{HEAD "\"4,16\",64,0,[[4 16]],ring,,1,\n", "measured_s is blank", 2, 27},
	{HEAD "\"4,16\",64,0,[[4 16]],ring,-1,1,\n", "measured_s is '-1'", 2, 27},
	{HEAD "\"4,16\",64,0,[[4 16]],ring,0x1,1,\n", "measured_s is '0x1'", 2, 27},
	{HEAD "\"4,16\",64,0,[[4 16]],ring,1,nan,\n", "best_measured_s is 'nan'", 2, 29},
	{HEAD "\"4,16\",64,0,[[4 16]],ring,1,1e999,\n", "best_measured_s is '1e999'", 2,
         29},
	{HEAD "\n\"4,6\",24,0,[[4 6]],ring,1,1,\n", "16 or 8 GPUs", 3, 2},
	{HEAD "\"4,16\",64,1,[[4 16]],ring,1,1,\n", "out of range", 2, 11},
	{HEAD "\"4,16\",\"4,16\",0,[[4 1][1 16]],ring,1,1,RS-AR-AG\n",
         "a program over two levels, this reduction has 1", 2, 40},
	{HEAD "\"4,16\",64,0,[[4 16]],ring,1,1,\"(gpu, InsideGroup, AllReduce)\"\n",
         "no level 'gpu'", 2, 32},
	{HEAD "\"4,16\",64,0,[[4 16]],\"(root, InsideGroup, Reduce)\",1,1,\n",
         "does not sum", 2, 23},
	{HEAD "\"4,16\",64,0,[[4 16]],butterfly,1,1,\n",
         "unknown program 'butterfly', expected AR", 2, 22},
	{"bytes," HEAD "0,\"4,16\",64,0,[[4 16]],ring,1,1,\n", "no data", 2, 1},
};

START_TEST(bad)
{
	struct place_table t;

	ck_assert_int_ne(read_text(&t, bad_table[_i].text), OK);
	ck_assert_msg(strstr(error.text, bad_table[_i].why), "%s", error.text);
	ck_assert_uint_eq(error.at.line, bad_table[_i].line);
	ck_assert_uint_eq(error.at.col, bad_table[_i].col);
}
END_TEST

START_TEST(other_files)
{
	ck_assert(!place_table_is("/nowhere/table.csv"));
	ck_assert(!place_table_is("platforms/measured.csv"));
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("validate_place");
	TCase *t = tcase_create("validate_place");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, rows, 0, COUNT(row_table));
	tcase_add_test(t, totals);
	tcase_add_loop_test(t, bad, 0, COUNT(bad_table));
	tcase_add_test(t, other_files);
	suite_add_tcase(s, t);
	return s;
}
