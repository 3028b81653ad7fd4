#include "tests/tests.h"
#include "validate/measured.h"

#include "text/csv.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* The text as a file, read; the file is gone afterwards. */
static enum status read_text(struct measured_table *out, struct arena *a,
                             const char *text, struct error *e)
{
	char path[] = "/tmp/measuredXXXXXX";
	int fd = mkstemp(path);
	enum status status;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	status = measured_read(out, a, path, e);
	unlink(path);
	return status;
}

START_TEST(csv_quotes)
{
	struct arena *a = arena_new();
	struct csv t;
	struct error e = {0};

	ck_assert_int_eq(csv_read(&t, a, "f.csv",
	                          "# note\r\na,\"b\",c\r\n"
	                          "1,\"x, \"\"y\"\"\nz\",\n\n#2\n,,3\n",
	                          &e),
	                 OK);
	ck_assert_int_eq(t.ncolumns, 3);
	ck_assert_int_eq(t.nrows, 2);
	ck_assert_str_eq(csv_field(&t, 0, csv_column(&t, "b")), "x, \"y\"\nz");
	ck_assert_str_eq(csv_field(&t, 1, csv_column(&t, "c")), "3");
	ck_assert_str_eq(csv_field(&t, 1, csv_column(&t, "d")), "");
	ck_assert_uint_eq(csv_where(&t, 0).line, 3);
	ck_assert_uint_eq(csv_where(&t, 1).line, 7);
	ck_assert_uint_eq(csv_where_field(&t, 0, 1).line, 3);
	ck_assert_uint_eq(csv_where_field(&t, 0, 1).col, 4); /* behind the quote */
	ck_assert_uint_eq(csv_where_field(&t, 0, 2).line, 4);
	ck_assert_uint_eq(csv_where_field(&t, 0, 2).col, 4);
	ck_assert_uint_eq(csv_where_field(&t, 1, 2).line, 7);
	ck_assert_uint_eq(csv_where_field(&t, 1, 2).col, 3);
	ck_assert_uint_eq(csv_where_field(&t, 1, -1).col, 1);
	arena_free(a);
}
END_TEST

static const struct {
	const char *text;
	unsigned line;
	const char *says;
} csv_faults[] = {
	{"", 1, "expected a header"},
	{"# only\n", 1, "expected a header"},
	{"a,a\n", 1, "column 'a' is there twice"},
	{"\xef\xbb\xbf"
         "a,a\n",
         1, "column 'a' is there twice"},
	{"a,b\n1\n", 2, "a record of 1 fields, expected 2"},
	{"a,b\n1,2\n1,2,3\n", 3, "a record of 3 fields, expected 2"},
	{"a,b\n1,\"2\n", 2, "not closed"},
	{"a,b\n1,\"2\"3\n", 2, "expected a comma"},
};

START_TEST(csv_errors)
{
	struct arena *a = arena_new();
	struct csv t;
	struct error e = {0};

	ck_assert_int_ne(csv_read(&t, a, "f.csv", csv_faults[_i].text, &e), OK);
	ck_assert_uint_eq(e.at.line, csv_faults[_i].line);
	ck_assert_ptr_nonnull(strstr(e.text, csv_faults[_i].says));
	arena_free(a);
}
END_TEST

#define HEADER "set,system,nodes,devices,collective,bytes,time_us,busbw_GBps,in_place\n"

/* 48 KiB + 1 over 3 devices: 2 (3-1)/3 x 49153 B / 0.5 GB/s = 131.0746.. us. */
START_TEST(rows)
{
	struct arena *a = arena_new();
	struct measured_table t;
	struct error e = {0};

	ck_assert_int_eq(read_text(&t, a,
	                           HEADER "s,\"S, 1\",1,3,all-reduce,49153,,0.5,True\n"
	                                  "s,S,2,5,collective-permute,7,2.5,,False\n"
	                                  "s,S,1,2,p2p-copy,,,274.5,\n",
	                           &e),
	                 OK);
	ck_assert_int_eq(t.n, 3);
	ck_assert_str_eq(t.row[0].system, "S, 1");
	ck_assert_double_eq_tol(t.row[0].time_s, 4.0 / 3 * 49153 / 0.5e9, 1e-18);
	ck_assert(t.row[0].in_place && !t.row[1].in_place);
	ck_assert_str_eq(t.row[1].collective, "permute");
	ck_assert_double_eq_tol(t.row[1].time_s, 2.5e-6, 1e-20);
	ck_assert(isnan(t.row[1].busbw_Bps) && !t.row[1].one_pair);
	ck_assert(isnan(t.row[2].time_s) && t.row[2].one_pair);
	ck_assert_int_eq(t.row[2].bytes, -1);
	ck_assert_double_eq_tol(t.row[2].busbw_Bps, 274.5e9, 1);
	ck_assert_uint_eq(t.row[2].at.line, 4);
	arena_free(a);
}
END_TEST

static const struct {
	const char *text;
	unsigned line;
	const char *says;
} faults[] = {
	{"set,system,nodes\n", 1, "column 'devices' is missing"},
	{"set,collective,bytes\n1,2,3\n", 1, "column 'system' is missing"},
	{"set,system,nodes,devices,collective,bytes,time_us,busbw_GBps,inplace\n", 1,
         "unknown column 'inplace'; did you mean 'in_place'?"},
	{HEADER "s,S,1,3,all-sum,7,1,,\n", 2, "unknown collective 'all-sum'"},
	{HEADER "s,S,1,3,all-reduce,7,-1,,\n", 2, "time_us '-1', expected a number"},
	{HEADER "s,S,1,3,all-reduce,7x,1,,\n", 2, "bytes '7x', expected a number"},
	{HEADER "s,S,1,3,all-reduce,7.5,1,,\n", 2, "bytes '7.5', expected a whole"},
	{HEADER "s,S,1,3e9,all-reduce,7,1,,\n", 2, "3000000000 devices on 1 nodes"},
	{HEADER "s,S,1,,all-reduce,7,1,,\n", 2, "0 devices on 1 nodes"},
	{HEADER "s,S,1,3,all-reduce,7,1,,yes\n", 2, "in_place 'yes', expected True or"},
	{"# nccl-tests without a row\n", 0, "no timings"},
};

START_TEST(errors)
{
	struct arena *a = arena_new();
	struct measured_table t;
	struct error e = {0};

	ck_assert_int_ne(read_text(&t, a, faults[_i].text, &e), OK);
	if (faults[_i].line)
		ck_assert_uint_eq(e.at.line, faults[_i].line);
	ck_assert_ptr_nonnull(strstr(e.text, faults[_i].says));
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("measured");
	TCase *t = tcase_create("all");

	tcase_add_test(t, csv_quotes);
	tcase_add_loop_test(t, csv_errors, 0, COUNT(csv_faults));
	tcase_add_test(t, rows);
	tcase_add_loop_test(t, errors, 0, COUNT(faults));
	suite_add_tcase(s, t);
	return s;
}
