#include "tests/tests.h"
#include "validate/nccl_log.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

#define NAMED "# Collective test starting: all_reduce_perf\n"
#define START "# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) graph: 0\n"
#define RANK(r, host)                                                                  \
	"#  Rank  " #r " Group  0 Pid   4711 on " host " device  0 [0x07] A100\n"
#define TWO RANK(0, "a") RANK(1, "b")
#define HEADER                                                                         \
	"#      out-of-place    in-place\n"                                            \
	"#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  " \
	"busbw  #wrong\n#  (B)  (elements)  (us)  (GB/s)\n"
#define ROW " 8 2 float sum -1 12.90 0.00 0.01 0 12.88 0.00 0.02 0\n"
#define WHOLE NAMED START TWO HEADER ROW

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct measured_table read_log(const char *text)
{
	struct measured_table t = {0};
	struct error e = {0};

	ck_assert_msg(nccl_log_read(&t, arena, "log", text, &e) == OK, "%s", e.text);
	return t;
}

/* What versions of nccl-tests, rccl-tests and launchers print, two timings a line. */
static const char *const rows[] = {
	"8 2 float sum -1 12.90 0.00 0.00 0 12.88 0.00 0.00 0",
	"8 2 float none 0 12.90 0.00 0.00 0 12.88 0.00 0.00 N/A",
	"[1,0]<stdout>:   8  2  float  sum  12.90 0.00 0.00 0e+00 12.88 0.00 0.00 "
	"2e-07",
	"  8  2   float   12.90  0.00  0.00  12.88  0.00  0.00",
	" 0:  8  2   float  0  12.90  0.00  0.00  12.88  0.00  0.00",
	"8 2 float sum -1 12.90 0.00 0.00 0 12.88 0.00 0.00 0\r",
	"#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong "
	"algo proto nchannels\n 8 2 float sum -1 12.90 0 0 0 12.88 0 0 0 Ring LL 32",
};

START_TEST(layouts)
{
	struct measured_table t = read_log(
		arena_printf(arena, "%s%s%s%s\n# Avg bus bandwidth    : 1.0\n",
	                     "# Collective test starting: reduce_scatter_perf\n", START,
	                     TWO, rows[_i]));

	ck_assert_int_eq(t.n, 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(t.row[i].bytes, 8);
		ck_assert_int_eq(t.row[i].devices, 2);
		ck_assert_int_eq(t.row[i].nodes, 2);
		ck_assert_str_eq(t.row[i].collective, "reduce-scatter");
		ck_assert_str_eq(t.row[i].quality, "ok");
		ck_assert_str_eq(t.row[i].launch, "");
		ck_assert_int_eq(t.row[i].in_place, i);
		ck_assert_double_eq_tol(t.row[i].time_s, i ? 12.88e-6 : 12.90e-6, 1e-18);
	}
}
END_TEST

/* Programs are words of their own: all_reduce_perf is no reduce_perf. */
static const struct {
	const char *text, *collective;
} named[] = {
	{"# Collective test starting: all_reduce_perf\n", "all-reduce"},
	{"$ mpirun -np 2 ./build/reduce_perf -b 8\n", "reduce"},
	{"# Collective test starting: alltoall_perf\n", "all-to-all"},
	{"EXEC=/opt/all_gather_perf\r\n", "all-gather"},
	{"# Collective test starting: sendrecv_perf\n", "permute"},
	{"broadcast_perf\n", "broadcast"},
	{"h:1:2 [0] NCCL INFO runs reduce_perf\n# Collective test starting: "
         "reduce_scatter_perf\n",
         "reduce-scatter"},
};

START_TEST(names)
{
	struct measured_table t =
		read_log(arena_printf(arena, "%s%s", named[_i].text, TWO HEADER ROW));

	ck_assert_str_eq(t.row[0].collective, named[_i].collective);
}
END_TEST

/* Eight bytes are 2 floats of everybody, or 1 of each of two ranks. */
static const struct {
	const char *row, *collective;
} columns[] = {
	{"8 2 float sum -1", "all-reduce"},
	{"8 1 float max -1", "reduce-scatter"},
	{"8 2 float sum 0", "reduce"},
	{"8 2 float none 1", "broadcast"},
	{"8 2 float none -1", "permute"},
	{"8 1 float none -1", ""},
	{"8 1 float none 0", ""},
	{"8 4 half avg -1", "all-reduce"},
	{"8 2 quaternion sum -1", ""},
	{"8 1 double prod -1", "all-reduce"},
	{"8 8 f8e4m3 sum -1", "all-reduce"},
};

START_TEST(told_by_columns)
{
	struct measured_table t = read_log(
		arena_printf(arena, TWO HEADER "%s 9 0 0 0 9 0 0 0\n", columns[_i].row));

	ck_assert_str_eq(t.row[0].collective, columns[_i].collective);
}
END_TEST

/* Four ranks on hosts a, b, a, b in one process each, then two that one process runs. */
START_TEST(runs)
{
	struct measured_table t = read_log(
		NAMED START RANK(0, "a") RANK(1, "b") RANK(2, "a") RANK(3, "b") HEADER ROW
		"# Out of bounds values : 0 OK\n# Collective test concluded: "
		"all_reduce_perf\n\nall_gather_perf -g 2\n# nThread 1 nGpus 2 graph: "
		"0\n"
		"h:1:2 [0] NCCL INFO Channel 00/02 : 0 1\n" RANK(0, "a") RANK(1, "a")
			HEADER ROW "# nThread 1 nGpus 2 graph: 5\n" TWO HEADER ROW);

	ck_assert_int_eq(t.n, 6);
	ck_assert_int_eq(t.row[0].devices, 4);
	ck_assert_int_eq(t.row[0].nodes, 2);
	ck_assert_str_eq(t.row[0].launch, "");
	ck_assert_str_eq(t.row[2].collective, "all-gather");
	ck_assert_int_eq(t.row[3].devices, 2);
	ck_assert_int_eq(t.row[3].nodes, 1);
	ck_assert_str_eq(t.row[3].launch, "single");
	ck_assert_str_eq(t.row[4].launch, "graph");
	ck_assert_str_eq(t.row[4].collective, "all-reduce"); /* by its columns */
	ck_assert_uint_eq(t.row[0].at.line, 10);
	ck_assert_uint_eq(t.row[0].at.col, 19);
}
END_TEST

/* Of no bytes there is no timing; a count of wrong values is no good timing. */
START_TEST(odd_rows)
{
	struct measured_table t = read_log(
		NAMED TWO HEADER " 0 0 float sum -1 0.11 0 0 0 0.12 0 0 0\n"
				 " 8 2 float sum -1 0.00 inf nan 0 9 0 0 N/A\n"
				 " 16 4 float sum -1 9 0 0 3 N/A 0 0 0\n"
				 " 17179869184 4294967296 float sum -1 62340 275.58 "
				 "482.27 0 62239 276.0 483.05 0\n");

	ck_assert_int_eq(t.n, 5);
	ck_assert_double_eq(t.row[0].time_s, 0);
	ck_assert(isnan(t.row[0].busbw_Bps));
	ck_assert_str_eq(t.row[1].quality, "ok");
	ck_assert_str_eq(t.row[2].quality, "wrong results");
	ck_assert_int_eq(t.row[3].bytes, 17179869184);
	ck_assert_double_eq_tol(t.row[4].time_s, 62239e-6, 1e-15);
	ck_assert_double_eq_tol(t.row[3].busbw_Bps, 482.27e9, 1);
}
END_TEST

/* One side: out of place, unless the line above the header says in place alone. */
START_TEST(one_side)
{
	static const char columns_one[] =
		"# size count type redop root time algbw busbw #wrong\n"
		"8 2 float sum -1 9 0 0 0\n";
	struct measured_table out = read_log(arena_printf(arena, TWO "%s", columns_one));
	struct measured_table in =
		read_log(arena_printf(arena, TWO "#   in-place\n%s", columns_one));

	ck_assert(out.n == 1 && !out.row[0].in_place);
	ck_assert(in.n == 1 && in.row[0].in_place);
}
END_TEST

static const struct {
	const char *text;
	unsigned line, col;
	const char *says;
} faults[] = {
	{WHOLE " 16 4 float sum -1 12.9", 9, 24, "of 6 columns, expected 13"},
	{WHOLE " 16 4", 9, 6, "of 2 columns, expected 13"},
	{WHOLE "16", 9, 3, "of 1 columns, expected 13"},
	{"8 2 float sum -1 12.9 0\n", 1, 24, "expected size, count, type"},
	{"8 2 float sum -1 twelve 0 0\n", 1, 18, "time 'twelve', expected"},
	{"8 2 float sum -1 x 0 0 0\n", 1, 18, "time 'x', expected a number"},
	{"8 2 float sum -1 -3 0 0 0\n", 1, 18, "time '-3', expected a number"},
	{"8.5 2 float sum -1 3 0 0 0\n", 1, 1, "size '8.5', expected a whole"},
	{"8 2e3 float sum -1 3 0 0 0\n", 1, 3, "count '2e3', expected a whole"},
	{"9999999999999999999 2 float sum -1 3 0 0 0\n", 1, 1, "up to 18 digits"},
	{"#  Rank  0 Group  0 Pid  4711 on\n", 1, 33, "a rank is cut off"},
	{"#  Rank  0 Group  0 Pid  4711 on a dev\n", 1, 39, "a rank is cut off"},
	{"#  Rank\n", 1, 8, "a rank is cut off"},
	{RANK(0, "a") RANK(2, "a"), 2, 10, "rank 2, expected rank 1"},
	{RANK(0, "a") RANK(0, "a"), 2, 10, "rank 0 again, expected rank 1"},
	{"# Rank 0 Group 1 Pid 5 on a device 0\n", 1, 16, "several groups"},
	{TWO HEADER, 1, 1, "a run of 2 ranks without a timing"},
	{WHOLE TWO HEADER, 9, 1, "a run of 2 ranks without a timing"},
	{"# Collective test starting: scatter_perf\n", 1, 29, "log of scatter_perf"},
	{WHOLE "a: Test NCCL failure common.cu:891 'unhandled'\n", 9, 1, "failed here"},
	{WHOLE " .. a pid 7: Test failure common.cu:12\n", 9, 2, "failed here"},
};

START_TEST(errors)
{
	struct measured_table t = {0};
	struct error e = {0};

	ck_assert_int_ne(nccl_log_read(&t, arena, "log", faults[_i].text, &e), OK);
	ck_assert_msg(strstr(e.text, faults[_i].says) != NULL, "%s", e.text);
	ck_assert_str_eq(e.at.file, "log");
	ck_assert_uint_eq(e.at.line, faults[_i].line);
	ck_assert_uint_eq(e.at.col, faults[_i].col);
}
END_TEST

/*
 * A log that is cut anywhere has an error, or timings that are all in the whole one.
 * With one byte changed it has either, too.
 */
START_TEST(damage)
{
	static const char whole[] = WHOLE ROW WHOLE;
	struct measured_table t;
	char text[sizeof(whole)];

	for (size_t n = 0; n < sizeof(whole); n++) {
		struct error e = {0};

		memcpy(text, whole, n);
		text[n] = '\0';
		t = (struct measured_table){0};
		if (nccl_log_read(&t, arena, "log", text, &e) != OK)
			ck_assert_uint_ge(e.at.line, 1);
		for (int64_t i = 0; i < t.n; i++) {
			ck_assert_int_eq(t.row[i].bytes, 8);
			ck_assert_double_eq_tol(t.row[i].time_s,
			                        i % 2 ? 12.88e-6 : 12.9e-6, 1e-18);
		}
	}
	for (size_t n = 0; n + 1 < sizeof(whole); n++)
		for (const char *c = " \n9#-x:e"; *c; c++) {
			struct error e = {0};

			memcpy(text, whole, sizeof(whole));
			text[n] = *c;
			t = (struct measured_table){0};
			if (nccl_log_read(&t, arena, "log", text, &e) != OK)
				ck_assert(e.at.line >= 1 && e.at.col >= 1);
			for (int64_t i = 0; i < t.n; i++)
				ck_assert(t.row[i].time_s >= 0 &&
				          isfinite(t.row[i].time_s));
		}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("nccl_log");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, layouts, 0, COUNT(rows));
	tcase_add_loop_test(t, names, 0, COUNT(named));
	tcase_add_loop_test(t, told_by_columns, 0, COUNT(columns));
	tcase_add_test(t, runs);
	tcase_add_test(t, odd_rows);
	tcase_add_test(t, one_side);
	tcase_add_loop_test(t, errors, 0, COUNT(faults));
	tcase_add_test(t, damage);
	suite_add_tcase(s, t);
	return s;
}
