#include "measure/clocks.h"
#include "measure/trace.h"
#include "place/place.h"
#include "tests/tests.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Programs are schedules like any other: time lines, links, and steps that overlap. */

/* A case on a platform with some clocks, searched and timed. */
struct timed_case {
	struct arena *arena;
	struct clocks clocks;
	struct bench bench;
	struct placement_case c;
	struct placed *placed;
	struct place_result result;
};

static void make(struct timed_case *t, const char *platform, const char *hierarchy,
                 const char *axes, const char *reduce, double bytes,
                 const char *clock_name)
{
	int clock = clock_find(clock_name, strlen(clock_name));
	struct where at = {.file = "test"};
	struct reduction_clock model;
	struct place_model *m;
	struct error e = {0};

	*t = (struct timed_case){.arena = arena_new()};
	t->c = (struct placement_case){.limit = PROGRAM_STEPS,
	                               .orders = 1u << ORDER_ROW,
	                               .payload_bytes = bytes,
	                               .at = at};
	ck_assert_int_eq(hierarchy_parse(&t->c.hierarchy, t->arena, hierarchy, at, &e),
	                 OK);
	ck_assert_int_eq(axes_parse(&t->c.axes, t->arena, axes, at, &e), OK);
	ck_assert_int_eq(reduce_parse(&t->c.reduce, &t->c.axes, reduce, at, &e), OK);
	ck_assert_msg(clocks_open(&t->clocks, t->arena, platform, NULL, 0, &clock, 1,
	                          &e) == OK,
	              "%s", e.text);
	bench_init(&t->bench, t->clocks.platform->machine);
	clocks_bench(&t->clocks, &t->bench, clock);
	m = place_model_new(&t->bench);
	model = place_model_clock(m);
	ck_assert_int_eq(placement_search(&t->placed, &t->result.nmatrices, t->arena,
	                                  &t->c, &model, &e),
	                 OK);
	place_model_free(m);
	t->result.c = &t->c;
	t->result.machine = t->bench.machine;
	t->result.nclocks = 1;
	t->result.nrows = t->result.nmatrices;
	ck_assert_msg(place_rows(&t->result, t->arena, t->placed, &t->bench, &e) == OK,
	              "%s", e.text);
}

static void unmake(struct timed_case *t)
{
	bench_free(&t->bench);
	clocks_free(&t->clocks);
	arena_free(t->arena);
}

/* --- a time line ---------------------------------------------------------------------- */

/*
 * Two chips of TPU v5e, joined by 45 GB/s each way with 1 us of latency, memory at 819
 * GB/s, launches of 5 us, sum 9 MB: each sends half of it, 4.5 MB in 100 us, and adds 4.5
 * MB up, three passes in 16.484 us; then it sends its half of the sum.
 */
static const struct {
	const char *name;
	double from_us, for_us;
} slices[] = {
	{"(root, InsideGroup, ReduceScatter)", 0, 5 + 101 + 16.484},
	{"launch", 0, 5},
	{"round 1 of 1", 5, 101},
	{"local", 106, 16.484},
	{"(root, InsideGroup, AllGather)", 122.484, 5 + 101},
	{"launch", 122.484, 5},
	{"round 1 of 1", 127.484, 101},
};
enum { SLICES = sizeof(slices) / sizeof(*slices) };

static json_t *trace_of(struct timed_case *t)
{
	struct placement devices = {t->c.hierarchy.ndevices,
	                            matrix_devices(&t->placed->matrix, t->arena)};
	struct timed best =
		place_timed(t->placed, t->result.row, &t->c, &t->bench, t->arena);
	struct text out = {0};
	json_t *json;

	trace_print(&out, &t->bench, &devices, &best, 1);
	json = json_loads(out.s, 0, NULL);
	ck_assert_ptr_nonnull(json);
	text_free(&out);
	return json;
}

static double number(const json_t *event, const char *key)
{
	return json_number_value(json_object_get(event, key));
}

static const char *word(const json_t *event, const char *key)
{
	return json_string_value(json_object_get(event, key));
}

/* How many of the slices above a row of the group `pid` has; no others. */
static int find_slices(const json_t *events, int pid, int tid)
{
	const json_t *event;
	int found = 0;
	size_t i;

	json_array_foreach(events, i, event)
	{
		int k = 0;

		if (strcmp(word(event, "ph"), "X") != 0 ||
		    number(event, "pid") != pid || number(event, "tid") != tid)
			continue;
		while (k < SLICES &&
		       (strcmp(word(event, "name"), slices[k].name) != 0 ||
		        fabs(number(event, "ts") - slices[k].from_us) > 1e-6))
			k++;
		ck_assert_msg(k < SLICES, "%s at %g", word(event, "name"),
		              number(event, "ts"));
		ck_assert_double_eq_tol(number(event, "dur"),
		                        pid == 1 ? slices[k].for_us : 100, 1e-6);
		found++;
	}
	return found;
}

START_TEST(time_line_of_two_steps)
{
	const json_t *events, *event;
	struct timed_case t;
	int on_links = 0;
	json_t *json;
	size_t i;

	make(&t, "tpu-v5e:1x2", "2", "2", "0", 9e6, "model");
	ck_assert_double_eq_tol(t.result.row->best_s[0], 228.4835e-6, 1e-10);
	json = trace_of(&t);
	events = json_object_get(json, "traceEvents");
	ck_assert_int_eq(find_slices(events, 1, 1), SLICES);
	ck_assert_int_eq(find_slices(events, 1, 2), SLICES);
	ck_assert_str_eq(
		word(json_object_get(json_array_get(events, 0), "args"), "name"),
		"[[2]] by model: devices");
	json_array_foreach(events, i, event)
	{
		if (strcmp(word(event, "ph"), "X") != 0 || number(event, "pid") != 2)
			continue;
		ck_assert_double_eq_tol(number(event, "ts"), on_links < 2 ? 5 : 127.484,
		                        1e-6);
		ck_assert_double_eq_tol(number(event, "dur"), 100, 1e-6);
		ck_assert_double_eq(number(json_object_get(event, "args"), "bytes"),
		                    45e5);
		on_links++;
	}
	ck_assert_int_eq(on_links, 4);
	json_decref(json);
	unmake(&t);
}
END_TEST

/* The same: both links carry 4.5 MB in each step, 100 us of 122.4835 and of 106. */
START_TEST(links_of_two_steps)
{
	struct links_report r;
	struct timed_case t;
	struct timed best;

	make(&t, "tpu-v5e:1x2", "2", "2", "0", 9e6, "model");
	best = place_timed(t.placed, t.result.row, &t.c, &t.bench, t.arena);
	links_measure(&r, &t.bench, &best, 9, t.arena);
	ck_assert_int_eq(r.total.used, 2);
	for (int32_t l = 0; l < 2; l++) {
		ck_assert_double_eq(r.total.load[l].bytes, 9e6);
		ck_assert_double_eq_tol(
			links_busy(&t.bench, &best, 0, 0, &r.step[0].load[l]),
			100 / 122.4835, 1e-6);
		ck_assert_double_eq_tol(
			links_busy(&t.bench, &best, 0, 1, &r.step[1].load[l]),
			100. / 106, 1e-6);
		ck_assert_double_eq_tol(
			links_busy(&t.bench, &best, 0, -1, &r.total.load[l]),
			200 / 228.4835, 1e-6);
	}
	unmake(&t);
}
END_TEST

/* --- steps that overlap --------------------------------------------------------------- */

/*
 * Four nodes of eight V100 sum 1 MB over fours in a node and over the nodes, by
 * reduce-scatter, all-reduce, all-gather. In a node the rings close over PCIe: 3/4 MB at
 * 32 GiB/s, 21.83 us, while the other hops go over NVLink at 135. Then eight rings of 2 x
 * 3/4 x 1/4 MB share a NIC of 8 GiB/s, 349.25 us. The two devices of a ring that PCIe has
 * no part in need not wait for it, so by `flow` the NIC begins earlier: the sum takes less
 * than its steps alone, and not less than the NIC and the last gather.
 */
START_TEST(flow_lets_steps_overlap)
{
	const double GiB = 1073741824, pcie_s = 75e4 / 32 / GiB, nic_s = 3e6 / 8 / GiB;
	const struct place_row *row;
	struct reduction best;
	struct timed_case t;
	struct error e = {0};
	struct space space;
	double alone_s = 0;

	make(&t, "p2-v100:4", "4,8", "2,16", "1", 1e6, "flow");
	ck_assert_int_eq(t.result.nrows, 2);
	row = &t.result.row[1];
	ck_assert_int_eq(row->placed->matrix.x[1][1], 4);
	ck_assert_str_eq(row->program, "(level0, InsideGroup, ReduceScatter); (level0, "
	                               "Parallel(root), AllReduce); (level0, "
	                               "InsideGroup, AllGather)");
	placed_space(&space, t.arena, &t.c, row->placed);
	reduction_of(&best, t.arena, &space, &row->placed->best);
	for (int i = 0; i < best.n; i++) {
		struct reduction one = {1, {best.step[i]}};
		double s = place_seconds(NULL, &t.bench, 0, &one, 1e6, NULL, t.c.at, &e);

		ck_assert_double_eq_tol(s, i == 1 ? nic_s : pcie_s, 0.01 * s);
		alone_s += s;
	}
	ck_assert_double_lt(row->best_s[0], alone_s - 0.1 * pcie_s);
	ck_assert_double_gt(row->best_s[0], nic_s + pcie_s);
	ck_assert_double_eq_tol(row->time[0][0].time_s + row->time[0][1].time_s +
	                                row->time[0][2].time_s,
	                        row->best_s[0], 1e-15);
	unmake(&t);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("place_timed");
	TCase *t = tcase_create("timed");

	tcase_add_test(t, time_line_of_two_steps);
	tcase_add_test(t, links_of_two_steps);
	tcase_add_test(t, flow_lets_steps_overlap);
	suite_add_tcase(suite, t);
	return suite;
}
