#include "perf/perf.h"
#include "tests/tests.h"

#include "array/machine.h"
#include "measure/library.h"
#include "perf/groups.h"
#include "platform/platform.h"
#include "tiny_family.h"

#include <check.h>

#include <math.h>
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

static struct perf_row measure(const char *spec, const char *collective,
                               struct perf_groups_text text, int64_t bytes,
                               struct library_text library)
{
	struct perf p = {.collective = collective};
	struct machine *m = NULL;
	struct model *model;
	struct perf_row row = {0};
	struct error e = {0};
	struct text why = {0};

	ck_assert_msg(platform_machine(&m, arena, spec, NULL, 0, &e) == OK, "%s",
	              e.text);
	ck_assert_int_eq(library_set(m, &library, NULL, &e), OK);
	ck_assert(perf_op(&p.op, collective, (struct where){0}, &e));
	ck_assert_msg(perf_groups(&p.groups, arena, m, &text, &e) == OK, "%s", e.text);
	p.machine = m;
	model = model_new(m);
	ck_assert_msg(perf_measure(&row, &p, bytes, model_clock, model, arena, &why),
	              "%s", why.s);
	model_free(model);
	text_free(&why);
	return row;
}

/* nccl-tests rounds down to whole elements of every device. */
static const struct {
	const char *collective;
	int32_t devices;
	int64_t asked, run, count;
} sizes[] = {
	{"all-gather", 4, 1000003, 1000000 / 64 * 64, 1000000 / 64 * 4},
	{"all-to-all", 3, 49153, 49152, 4096},
	{"reduce-scatter", 7, 111, 0, 0},
	{"all-reduce", 4, 49153, 49152, 12288},
	{"broadcast", 4, 7, 4, 1},
	{"permute", 5, 8, 8, 2},
};

START_TEST(rounds_sizes)
{
	int64_t run =
		perf_bytes(sizes[_i].collective, sizes[_i].devices, sizes[_i].asked);

	ck_assert_int_eq(run, sizes[_i].run);
}
END_TEST

START_TEST(counts_elements)
{
	const struct perf_groups_text all = {0};
	struct perf_row row;

	if (sizes[_i].devices != 4)
		return;
	row = measure("tiny:1", sizes[_i].collective, all, sizes[_i].run,
	              (struct library_text){0});
	ck_assert_int_eq(row.count, sizes[_i].count);
	ck_assert_int_eq(row.bytes, sizes[_i].run);
}
END_TEST

/* Rings of one node, by hand; the bus factor is 2 * 3/4 or 3/4. */
START_TEST(ring_rows)
{
	static const char *const names[] = {"all-reduce", "all-gather",
	                                    "reduce-scatter"};
	static const int64_t bytes[] = {64, 49216, 3000000, 1000000000};
	const struct perf_groups_text all = {0};

	for (int i = 0; i < COUNT(bytes); i++) {
		bool twice = _i == 0;
		struct perf_row row = measure("tiny:1", names[_i], all, bytes[i],
		                              (struct library_text){0});
		double s = tiny_ring_s((double)bytes[i], twice, 10e-6, 1, 0);

		ck_assert_double_eq_tol(row.time_s, s, 1e-12 * s);
		ck_assert_double_eq_tol(row.algbw_Bps, (double)bytes[i] / s, 1);
		ck_assert_double_eq_tol(row.busbw_Bps,
		                        (double)bytes[i] / s * (twice ? 1.5 : 0.75), 1);
		ck_assert_str_eq(row.algorithm, "ring");
		ck_assert_str_eq(row.protocol, i == 0   ? "ll"
		                               : i == 3 ? "simple"
		                                        : row.protocol);
		/* A device lacks 3/4 of a gather, and so it is with a sum. */
		ck_assert_double_le(row.bound_s, row.time_s - 10e-6);
		ck_assert_double_ge(row.bound_s, 0.75 * (double)bytes[i] / 100e9);
	}
}
END_TEST

/*
 * One process launches on all four in 22.60192 us, which is 9 us more than a call takes; a graph
 * in 4 us in place of 10.
 */
START_TEST(launch_modes)
{
	const struct perf_groups_text all = {0};
	double process = measure("tiny:1", "all-reduce", all, 64,
	                         (struct library_text){.launch = "process"})
	                         .time_s;

	ck_assert_double_eq_tol(measure("tiny:1", "all-reduce", all, 64,
	                                (struct library_text){.launch = "single"})
	                                .time_s,
	                        process + 9e-6, 1e-15);
	ck_assert_double_eq_tol(measure("tiny:1", "all-reduce", all, 64,
	                                (struct library_text){.launch = "graph"})
	                                .time_s,
	                        process - 6e-6, 1e-15);
}
END_TEST

/*
 * 1 GB on tiny:2: a shift by one crosses from the last of a node to the other node, and
 * that pair takes 100 ms. Along an axis of 4 nothing crosses: 10 ms; devices 0 and 4 are
 * on two nodes. What crosses begins with 6 us of a call and a step of Simple, 1.8 us and 11.3 us
 * longer than one of LL, in which lies the route of 5 us.
 */
START_TEST(groups)
{
	const struct {
		struct perf_groups_text text;
		int32_t ngroups, size;
		double wire_s, step_s;
	} rows[] = {
		{{0}, 1, 8, 0.1, 19.1e-6},
		{{"0-3", NULL, NULL}, 1, 4, 0.01, 2e-6},
		{{NULL, "x=2,y=4", "y"}, 2, 4, 0.01, 2e-6},
		{{NULL, "x=2,y=4", "x"}, 4, 2, 0.1, 19.1e-6},
		{{"0,4", NULL, NULL}, 1, 2, 0.1, 19.1e-6},
	};

	for (int i = 0; i < COUNT(rows); i++) {
		struct perf_row row = measure("tiny:2", "permute", rows[i].text,
		                              1000000000, (struct library_text){0});

		ck_assert_double_eq_tol(row.time_s,
		                        10e-6 + rows[i].wire_s + rows[i].step_s, 1e-12);
		ck_assert_double_eq_tol(row.busbw_Bps, row.algbw_Bps, 1e-3);
	}
}
END_TEST

static const struct {
	struct perf_groups_text text;
	const char *option, *says;
} group_faults[] = {
	{{"0-9", NULL, NULL}, "--devices", "9"},
	{{NULL, "x=8", NULL}, "--mesh", "go together"},
	{{NULL, NULL, "x"}, "--axis", "go together"},
	{{NULL, "x=9", "x"}, "--mesh", "a mesh of 9 devices over 8"},
	{{"0-2", "x=8", "x"}, "--mesh", "a mesh of 8 devices over 3"},
	{{NULL, "x=8", "y"}, "--axis", "the mesh has no axis 'y'"},
	{{NULL, "x=", "x"}, "--mesh", "expected"},
};

START_TEST(faults_of_groups)
{
	struct machine *m = NULL;
	struct groups g;
	struct error e = {0};

	ck_assert_int_eq(platform_machine(&m, arena, "tiny:2", NULL, 0, &e), OK);
	ck_assert_int_ne(perf_groups(&g, arena, m, &group_faults[_i].text, &e), OK);
	ck_assert_str_eq(e.at.file, group_faults[_i].option);
	ck_assert_msg(strstr(e.text, group_faults[_i].says) != NULL, "%s", e.text);
}
END_TEST

START_TEST(faults_of_names)
{
	static const struct {
		struct library_text text;
		const char *option, *says;
	} rows[] = {
		{{"rings", NULL, NULL},
	         "--algorithm",
	         "unknown algorithm 'rings', expected"},
		{{NULL, "ll64", NULL}, "--protocol", "expected one of ll, ll128, simple"},
		{{NULL, NULL, "cuda"},
	         "--launch",
	         "expected one of process, single, bound, graph"},
	};
	struct machine *m = NULL;
	enum op op;
	struct error e = {0};

	ck_assert(!perf_op(&op, "gather", (struct where){0}, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "expected one of all-gather, "));
	e = (struct error){0};
	ck_assert_int_eq(platform_machine(&m, arena, "tiny:1", NULL, 0, &e), OK);
	for (int i = 0; i < COUNT(rows); i++) {
		const struct where at = {.file = "m.yaml", .line = 3, .col = 5};

		e = (struct error){0};
		ck_assert_int_eq(library_set(m, &rows[i].text, NULL, &e), E_RANGE);
		ck_assert_str_eq(e.at.file, rows[i].option);
		ck_assert_msg(strstr(e.text, rows[i].says) != NULL, "%s", e.text);
		e = (struct error){0};
		ck_assert_int_eq(library_set(m, &rows[i].text, &at, &e), E_RANGE);
		ck_assert_str_eq(e.at.file, "m.yaml");
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("perf");
	TCase *t = tcase_create("perf");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, rounds_sizes, 0, COUNT(sizes));
	tcase_add_loop_test(t, counts_elements, 0, COUNT(sizes));
	tcase_add_loop_test(t, ring_rows, 0, 3);
	tcase_add_test(t, launch_modes);
	tcase_add_test(t, groups);
	tcase_add_loop_test(t, faults_of_groups, 0, COUNT(group_faults));
	tcase_add_test(t, faults_of_names);
	suite_add_tcase(s, t);
	return s;
}
