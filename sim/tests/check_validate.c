#include "tests/tests.h"
#include "validate/validate.h"

#include "base/input.h"
#include "tiny_family.h"
#include "validate/plot.h"
#include "validate/report.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static enum status open_texts(struct validation **v, const char *csv, const char *yaml,
                              struct error *e)
{
	struct measured_table *rows = arena_alloc(arena, 1, sizeof(*rows));
	struct mapping *mapping = arena_alloc(arena, 1, sizeof(*mapping));

	*v = NULL;
	if (measured_read(rows, arena, tiny_file(arena, dir, "m.csv", csv), e) != OK ||
	    mapping_read(mapping, arena, tiny_file(arena, dir, "m.yaml", yaml), e) != OK)
		return e->code;
	return validation_open(v, arena, rows, mapping, e);
}

/*
 * Rings of one node of `tiny`, by hand (tiny_ring_s): 3.6 us of steps in an all-reduce of
 * 64 B, so 13.60192 us; 1 GB takes 15032.2 us. One measured 25 % slower, one 20 % faster.
 * The file's last rows: not ok, no time, no size, of an unmapped set, of none.
 */
static const char csv[] =
	"set,system,nodes,devices,collective,bytes,time_us,busbw_GBps,quality\n"
	"one,S 1,1,4,all-reduce,64,17.0024,,ok\n"
	"one,S 1,1,4,all-reduce,1000000000,12025.76,,ok\n"
	"one,S 1,1,4,all-gather,3000000,,75,ok\n"
	"two,S 2,1,4,all-reduce,64,22.60192,,\n"
	"one,S 1,1,4,all-reduce,64,17,,single-point\n"
	"one,S 1,1,4,all-reduce,64,,,ok\n"
	"one,S 1,1,4,all-reduce,,17,,ok\n"
	"three,S 3,1,4,all-reduce,64,17,,ok\n"
	"four,S 3,1,4,all-reduce,64,17,,ok\n";
static const char yaml[] =
	"- {set: one, platform: \"tiny:{nodes}\", note: \"a | lack\"}\n"
	"- {set: two, platform: \"tiny:1\", launch: single}\n"
	"- {set: three, unmapped: \"by hand\"}\n";

START_TEST(rows)
{
	/* 75 GB/s of bus is 100 of algorithm: 30 us, simulated below */
	const double gather_s = tiny_ring_s(3e6, false, 10e-6, 1, 0);
	const struct {
		double time_s, error;
		const char *left_out;
	} wanted[] = {
		{13.60192e-6, 1.25, NULL},
		{15032.2e-6, 1.25, NULL},
		{gather_s, gather_s / 30e-6, NULL},
		{22.60192e-6, 1, NULL},
		{NAN, NAN, "its quality is single-point, not ok"},
		{NAN, NAN, "its time was not printed"},
		{NAN, NAN, "its size or collective was not printed"},
		{NAN, NAN, "by hand"},
		{NAN, NAN, "its set is not in the mapping"},
	};
	struct validation *v;
	struct error e = {0};
	const struct prediction *p;
	int64_t n;

	ck_assert_msg(open_texts(&v, csv, yaml, &e) == OK, "%s", e.text);
	validation_run(v);
	p = validation_rows(v, &n);
	ck_assert_int_eq(n, COUNT(wanted));
	for (int i = 0; i < COUNT(wanted); i++) {
		if (wanted[i].left_out) {
			ck_assert_str_eq(p[i].left_out, wanted[i].left_out);
			ck_assert(isnan(p[i].time_s));
			continue;
		}
		ck_assert_ptr_null(p[i].left_out);
		ck_assert_double_eq_tol(p[i].time_s, wanted[i].time_s,
		                        1e-9 * wanted[i].time_s);
		ck_assert_double_eq_tol(prediction_error(&p[i]), wanted[i].error, 1e-5);
		ck_assert_str_eq(p[i].family, "tiny");
	}
	validation_close(v);
}
END_TEST

static char *print_words(const struct validation *v)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);
	struct pen pen = pen_md(f, arena);

	validate_words(&pen, v);
	fclose(f);
	return out;
}

/*
 * Two pairs of the ring of four at once, on ports of their own: each takes what it takes
 * alone. Of the sizes the first took more than 1.3 times as long as the last, the second
 * just 1.29 times; the third is larger than all that took longer.
 */
START_TEST(groups_and_outliers)
{
	static const char rows[] =
		"set,system,nodes,devices,groups,collective,bytes,time_us,busbw_GBps\n"
		"one,S,1,2,2,all-reduce,64,26.2,\n"
		"one,S,1,2,2,all-reduce,128,25.8,\n"
		"one,S,1,2,2,all-reduce,256,20,\n"
		"one,S,1,2,,all-reduce,64,19,\n"
		"one,S,1,4,,all-to-all,3,19,\n";
	struct validation *v;
	struct error e = {0};
	const struct prediction *p;
	const struct groups *g;
	int64_t n;
	char *out;

	ck_assert_msg(open_texts(&v, rows, yaml, &e) == OK, "%s", e.text);
	validation_run(v);
	p = validation_rows(v, &n);
	ck_assert_int_eq(n, 5);
	validation_machine(v, 0, &g);
	ck_assert_int_eq(g->ngroups, 2);
	ck_assert_int_eq(g->size, 2);
	ck_assert_int_eq(g->ids[3], 3);
	ck_assert_double_eq_tol(p[0].time_s, p[3].time_s, 1e-12);
	ck_assert(p[0].outlier && !p[1].outlier && !p[2].outlier && !p[3].outlier);
	ck_assert_str_eq(p[4].left_out, "it has less than a byte for each peer");
	out = print_words(v);
	ck_assert_msg(strstr(out, "\n1 of those took more than 1.3 times") != NULL,
	              "%s", out);
	ck_assert_msg(strstr(out, "| all, outliers too |") != NULL, "%s", out);
	free(out);
	validation_close(v);
}
END_TEST

/*
 * S 1 has two rows from 1 MiB: 1.25 and about 1.177 (35.3/30), one below 64 KiB; S 2 one.
 * Gather of 3 MB by LL128: 7.4 + 5.7 us + 24 us: with the launch 47.1 us, 1.57 times 30.
 * Simple: 1.8 + 10.2 + 22.5 + 10 = 44.5 us: 1.4833. The mean with 1.25 is 1.3617.
 */
START_TEST(words)
{
	static const char *const says[] = {
		"9 published timings, 4 of them run",
		" S 1    | tiny   |   2 |      1.362 |   0 |            - |   1 |",
		"   0 |            - |   1 |        1.250 |",
		" S 2    | tiny   |   0 |          - |   0 |            - |   1 |",
		"   0 |            - |   1 |        1.000 |",
		" all    |        |   2 |      1.362 |   0 |            - |   2 |",
		"   0 |            - |   2 |        1.118 |",
		"1.25: line 3, 1000000000 B, measured 12.03 ms, simulated 15.03 ms",
		"1.48: line 4, 3000000 B, measured 30 us, simulated 44.5 us",
		"## What is missing",
		"a \\| lack",
		"| three |    1 | by hand ",
		"| one   |    1 | its quality is single-point, not ok ",
	};
	struct validation *v;
	struct error e = {0};
	char *out;

	ck_assert_int_eq(open_texts(&v, csv, yaml, &e), OK);
	validation_run(v);
	out = print_words(v);
	for (int i = 0; i < COUNT(says); i++)
		ck_assert_msg(strstr(out, says[i]) != NULL, "no '%s' in\n%s", says[i],
		              out);
	free(out);
	validation_close(v);
}
END_TEST

START_TEST(classes)
{
	static const struct {
		int64_t bytes;
		const char *name;
	} row[] = {
		{0, "<64 KiB"},           {65535, "<64 KiB"},
		{65536, "64 KiB-1 MiB"},  {1048575, "64 KiB-1 MiB"},
		{1048576, "1-64 MiB"},    {67108863, "1-64 MiB"},
		{67108864, "64-512 MiB"}, {536870911, "64-512 MiB"},
		{536870912, ">=512 MiB"}, {INT64_C(1) << 40, ">=512 MiB"},
	};

	for (int i = 0; i < COUNT(row); i++)
		ck_assert_str_eq(validation_class_name(validation_class(row[i].bytes)),
		                 row[i].name);
}
END_TEST

static const struct {
	const char *csv, *yaml;
	unsigned line;
	const char *says;
} faults[] = {
	{"one,S,1,4,all-reduce,64,17,,\n", "- {set: one, platform: \"tony:1\"}\n", 1,
         "unknown family 'tony'"},
	{"one,S,1,4,all-reduce,64,17,,\n",
         "- {set: two, unmapped: x}\n- {set: one, platform: \"tiny:1\", algorithm: "
         "rings}\n",
         2, "unknown algorithm 'rings'"},
	{"one,S,1,5,all-reduce,64,17,,\n", "- {set: one, platform: \"tiny:1\"}\n", 1,
         "5 devices of set one do not spread over 1 units of tiny:1"},
	{"one,S,2,7,all-reduce,64,17,,\n", "- {set: one, platform: \"tiny:2\"}\n", 1,
         "do not spread over 2 units"},
	{"one,S,1,4,all-reduce,64,17,,\n",
         "- {set: one, platform: \"tiny:1\", settings: {steps: 1}}\n", 1,
         "no figure 'steps'"},
	{"one,S,1,4,all-reduce,64,17,,\n",
         "- {set: one, platform: \"tiny:1\", mesh: g=2, axis: y}\n", 1, "no axis 'y'"},
};

START_TEST(errors)
{
	const char *text = arena_printf(
		arena, "set,system,nodes,devices,collective,bytes,time_us,busbw_GBps,quality\n%s",
		faults[_i].csv);
	struct validation *v;
	struct error e = {0};

	ck_assert_int_ne(open_texts(&v, text, faults[_i].yaml, &e), OK);
	ck_assert_msg(e.at.line == faults[_i].line && strstr(e.text, faults[_i].says),
	              "line %u: %s", e.at.line, e.text);
	validation_close(v);
}
END_TEST

/* Rows whose messages are laid once have the times of those that lay them each time. */
START_TEST(prepared_rows_are_the_same)
{
	static const char *const families[] = {"dgx-h100",    "hgx-h100",  "aws-p5",
	                                       "gb200-nvl72", "dgx1-v100", "mi300x",
	                                       "cw-a100",     "tpu-7x"};
	struct measured_table table;
	struct mapping mapping;
	struct validation *v = NULL;
	struct error e = {0};
	const struct prediction *p;
	double *time_s;
	int64_t n;

	unsetenv("SHARDSIM_DATA");
	ck_assert_int_eq(measured_read(&table, arena, "platforms/measured.csv", &e), OK);
	ck_assert_int_eq(mapping_read(&mapping, arena, "platforms/measured.yaml", &e),
	                 OK);
	ck_assert_msg(validation_open(&v, arena, &table, &mapping, &e) == OK, "%s",
	              e.text);
	p = validation_rows(v, &n);
	time_s = arena_alloc(arena, (size_t)n, sizeof(*time_s));
	for (int f = 0; f < COUNT(families); f++) {
		int64_t found = 0;

		for (int64_t i = 0; i < n; i++)
			if (p[i].family && !strcmp(p[i].family, families[f])) {
				validation_row(v, i);
				time_s[i] = p[i].time_s;
				found++;
			}
		ck_assert_int_gt(found, 0);
		validation_prepare(v, families[f]);
		for (int64_t i = 0; i < n; i++)
			if (p[i].family && !strcmp(p[i].family, families[f])) {
				validation_row(v, i);
				ck_assert_double_eq_tol(p[i].time_s, time_s[i],
				                        1e-12 * time_s[i]);
			}
	}
	validation_close(v);
}
END_TEST

/* Every file's own mapping counts, in their order; only the first must have one. */
START_TEST(mappings_beside_several_files)
{
	static const char rows[] = "set,system,nodes,devices,collective,bytes,time_us,"
				   "busbw_GBps,quality\n%s,S,1,4,all-reduce,64,17,,\n";
	const char *file[3];
	struct validation *v;
	struct error e = {0};
	const struct prediction *p;
	int64_t n;

	for (int i = 0; i < 3; i++)
		file[i] = tiny_file(arena, dir, arena_printf(arena, "t%d.csv", i),
		                    arena_printf(arena, rows,
		                                 i == 0   ? "one"
		                                 : i == 1 ? "two"
		                                          : "three"));
	ck_assert_int_ne(validation_load(&v, arena, file, 3, NULL, &e), OK);
	validation_close(v);
	e = (struct error){0};
	tiny_file(arena, dir, "t0.yaml", "- {set: one, unmapped: first}\n");
	tiny_file(arena, dir, "t1.yaml",
	          "- {set: one, unmapped: late}\n- {set: two, unmapped: second}\n");
	ck_assert_msg(validation_load(&v, arena, file, 3, NULL, &e) == OK, "%s", e.text);
	p = validation_rows(v, &n);
	ck_assert_int_eq(n, 3);
	ck_assert_str_eq(p[0].left_out, "first");
	ck_assert_str_eq(p[1].left_out, "second");
	ck_assert_str_eq(p[2].left_out, "its set is not in the mapping");
	validation_close(v);
	tiny_file(arena, dir, "t1.yaml", "- {set: two}\n");
	ck_assert_int_ne(validation_load(&v, arena, file, 3, NULL, &e), OK);
	validation_close(v);
}
END_TEST

/*
 * Every published timing belongs to a machine or is said not to; no source of a figure
 * names a set that is held out.
 */
START_TEST(published_timings)
{
	static const char *const files[] = {
		"platforms/measured.csv", "platforms/measured-more.csv",
		"platforms/measured-xla.csv", "platforms/measured-late.csv",
		"platforms/held-out.csv"};
	const int held_out = COUNT(files) - 1;
	struct text families = {0};
	struct error e = {0};

	unsetenv("SHARDSIM_DATA");
	ck_assert_int_eq(input_read(&families, "platforms/families.yaml", &e), OK);
	ck_assert(strstr(families.s, "nt309-4n") != NULL);
	for (int f = 0; f < COUNT(files); f++) {
		struct measured_table t;
		struct mapping m;
		const char *yaml = mapping_beside(arena, files[f]);

		ck_assert_int_eq(measured_read(&t, arena, files[f], &e), OK);
		ck_assert_int_eq(mapping_read(&m, arena, yaml, &e), OK);
		for (int64_t i = 0; i < t.n; i++) {
			const struct measured *r = &t.row[i];
			const char *named = strstr(families.s, r->set);
			size_t length = strlen(r->set);

			ck_assert_msg(mapping_find(&m, r) != NULL,
			              "%s:%u: %s is mapped to "
			              "nothing",
			              files[f], r->at.line, r->set);
			while (f == held_out && named &&
			       ((named[length] != ',' && named[length] != ')') ||
			        (named[-1] != ' ' && named[-1] != '(')))
				named = strstr(named + 1, r->set);
			ck_assert_msg(f < held_out || !named, "%s is not held out",
			              r->set);
		}
	}
	text_free(&families);
}
END_TEST

START_TEST(plots)
{
	static const char header[] = "set,system,nodes,devices,collective,bytes,time_"
				     "us,busbw_GBps,quality\n";
	struct validation *v;
	struct error e = {0};
	const char *svg = arena_printf(arena, "%s/v.svg", dir);
	const char *few =
		arena_printf(arena, "%sone,S,1,4,all-reduce,64,17,,\n", header);
	const char *four = arena_printf(arena,
	                                "%sone,S (4),1,4,all-reduce,64,17,,\n"
	                                "one,S (4),1,4,all-reduce,640,17,,\n"
	                                "one,S (4),1,4,all-reduce,6400,17,,\n"
	                                "one,S (4),1,4,permute,6400,17,,\n",
	                                header);

	ck_assert_int_eq(open_texts(&v, few, yaml, &e), OK);
	validation_run(v);
	ck_assert_int_eq(validate_plot(svg, v, &e), E_RANGE);
	ck_assert_int_ne(access(svg, F_OK), 0);
	validation_close(v);
	e = (struct error){0};
	ck_assert_int_eq(open_texts(&v, four, yaml, &e), OK);
	validation_run(v);
	ck_assert_int_eq(validate_plot("v.png", v, &e), E_SYNTAX);
	e = (struct error){0};
	ck_assert_msg(validate_plot(svg, v, &e) == OK, "%s", e.text);
	ck_assert_int_eq(access(svg, F_OK), 0);
	validation_close(v);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("validate");
	TCase *t = tcase_create("validate");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, rows);
	tcase_add_test(t, words);
	tcase_add_test(t, groups_and_outliers);
	tcase_add_test(t, classes);
	tcase_add_loop_test(t, errors, 0, COUNT(faults));
	tcase_add_test(t, prepared_rows_are_the_same);
	tcase_add_test(t, mappings_beside_several_files);
	tcase_add_test(t, published_timings);
	tcase_add_test(t, plots);
	suite_add_tcase(s, t);
	return s;
}
