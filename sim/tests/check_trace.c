#include "measure/trace.h"
#include "tests/tests.h"

#include "measure/links.h"
#include "trace_case.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* The trace as text and read back; microseconds are whole nanoseconds in it. */
static json_t *trace_of(struct trace_case *c, const struct measurement *m, int n)
{
	struct placement devices = {c->problem.ndevices, c->problem.platform};
	struct text out = {0};
	struct timed timed[3];
	json_error_t error;
	json_t *json;

	for (int i = 0; i < n; i++)
		timed[i] = timed_plan(&m[i], &c->bench, c->arena);
	trace_print(&out, &c->bench, &devices, timed, n);
	json = json_loads(out.s, 0, &error);
	ck_assert_msg(json != NULL, "line %d: %s", error.line, error.text);
	text_free(&out);
	return json;
}

static const char *word(const json_t *event, const char *key)
{
	const char *s = json_string_value(json_object_get(event, key));

	return s ? s : "";
}

static long number(const json_t *event, const char *key)
{
	return (long)json_integer_value(json_object_get(event, key));
}

/* In nanoseconds. */
static long when(const json_t *event, const char *key)
{
	double us = json_number_value(json_object_get(event, key));

	ck_assert_double_eq_tol(us * 1e3, nearbyint(us * 1e3), 1e-3);
	return lrint(us * 1e3);
}

static double argument(const json_t *event, const char *key)
{
	return json_number_value(json_object_get(json_object_get(event, "args"), key));
}

static bool is_slice(const json_t *event, long pid, long tid)
{
	return !strcmp(word(event, "ph"), "X") && number(event, "pid") == pid &&
	       (tid < 0 || number(event, "tid") == tid);
}

/* What the row or group is called. */
static const char *named(const json_t *events, const char *what, long pid, long tid)
{
	const char *found = NULL;
	const json_t *event;
	size_t i;

	json_array_foreach(events, i, event) if (!strcmp(word(event, "name"), what) &&
	                                         number(event, "pid") == pid &&
	                                         number(event, "tid") == tid)
	{
		ck_assert_msg(!found, "%s of %ld %ld twice", what, pid, tid);
		found = word(json_object_get(event, "args"), "name");
	}
	return found;
}

/* Slices of a row begin in order and nest; the sum of the outer ones, in nanoseconds. */
static long check_row(const json_t *events, long pid, long tid)
{
	long begins[8], ends[8], depth = 0, last = 0, sum = 0;
	const json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		long from, to;

		if (!is_slice(event, pid, tid))
			continue;
		from = when(event, "ts");
		to = from + when(event, "dur");
		ck_assert_int_ge(to, from);
		while (depth && ends[depth - 1] <= from)
			depth--;
		if (depth) {
			ck_assert_int_ge(from, begins[depth - 1]);
			ck_assert_int_le(to, ends[depth - 1]);
		} else {
			ck_assert_int_ge(from, last);
		}
		if (!depth) {
			last = to;
			sum += to - from;
		}
		ck_assert_int_lt(depth, 8);
		begins[depth] = from;
		ends[depth++] = to;
	}
	return sum;
}

/* The bytes that a device's rounds send or receive in all. */
static double row_bytes(const json_t *events, long pid, long tid, const char *key)
{
	const json_t *event;
	double sum = 0;
	size_t i;

	json_array_foreach(events, i, event) if (is_slice(event, pid, tid)) sum +=
		argument(event, key);
	return sum;
}

static const struct trace_text texts[] = {
	{"dgx-a100:1", "bf16[8192,8192]", "x=4,y=2", "P('x', 'y')", "P(None, 'y')", NULL},
	{"tpu-v4:4x4x4", "bf16[192,320,48]", "x=4,y=16", "P('x', None, None)",
         "P(None, 'y', None)", NULL},
	{"dgx-h100:3", "bf16[96,96]", "x=3,y=8", "P('y', 'x')", "P('x', 'y')", NULL},
	{"dgx1-v100:1", "f32[80,56]", "x=2,y=4", "P('x', 'y')", "P(None, ('y', 'x'))",
         NULL},
};

/* The events by row: many rows of many events take long to search for each. */
static json_t *rows_of(const json_t *events)
{
	json_t *rows = json_object();
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		char name[64];

		snprintf(name, sizeof(name), "%ld %ld", number(event, "pid"),
		         number(event, "tid"));
		if (!json_object_get(rows, name))
			json_object_set_new(rows, name, json_array());
		json_array_append(json_object_get(rows, name), event);
	}
	return rows;
}

static const json_t *row_of(const json_t *rows, long pid, long tid)
{
	char name[64];

	snprintf(name, sizeof(name), "%ld %ld", pid, tid);
	return json_object_get(rows, name);
}

/* Groups 2k + 1 and 2k + 2 are the devices and links of clock k. */
static void check_group(const json_t *events, const struct trace_case *c,
                        const struct measurement *m, int clock)
{
	const struct machine *machine = c->bench.machine;
	long pid = 2 * clock + 1, plan_ns = lrint(m->time_s[clock] * 1e9);
	struct timed timed = timed_plan(m, &c->bench, c->arena);
	json_t *rows = rows_of(events);
	struct links_report r;
	char name[80];

	for (int32_t d = 0; d < c->problem.ndevices; d++) {
		const json_t *row = row_of(rows, pid, d + 1);

		snprintf(name, sizeof(name), "device %d", d);
		ck_assert_str_eq(named(row, "thread_name", pid, d + 1), name);
		ck_assert_int_le(labs(check_row(row, pid, d + 1) - plan_ns), 1);
	}
	links_measure(&r, &c->bench, &timed, INT32_MAX, c->arena);
	ck_assert_int_gt(r.total.n, 0);
	for (int32_t i = 0; i < r.total.n; i++) {
		const struct link_load *load = &r.total.load[i];
		const struct link *link = &machine->link[load->link];
		const json_t *row = row_of(rows, pid + 1, load->link + 1);
		long busy_ns = check_row(row, pid + 1, load->link + 1);

		ck_assert_str_eq(named(row, "thread_name", pid + 1, load->link + 1),
		                 link->name);
		ck_assert_double_eq_tol(row_bytes(row, pid + 1, load->link + 1, "bytes"),
		                        load->bytes, 1e-9 * load->bytes);
		ck_assert_int_le(busy_ns, plan_ns);
		ck_assert_double_eq_tol((double)busy_ns,
		                        load->bytes / link->bandwidth_Bps * 1e9, 300);
	}
	json_decref(rows);
}

START_TEST(rows_add_up)
{
	const json_t *events;
	struct measurement m;
	struct trace_case c;
	json_t *json;

	trace_case_make(&c, &texts[_i]);
	trace_case_measure(&m, &c, "synth");
	json = trace_of(&c, &m, 1);
	events = json_object_get(json, "traceEvents");
	ck_assert_str_eq(named(events, "process_name", 1, 0),
	                 "synth by model: devices");
	ck_assert_str_eq(named(events, "process_name", 4, 0), "synth by fluid: links");
	for (int k = 0; k < 2; k++)
		check_group(events, &c, &m, k);
	json_decref(json);
	trace_case_free(&c);
}
END_TEST

/*
 * Four tiles of 16 MiB in a ring: every device sends three tiles and receives three, over
 * a link of 235 GB/s each way.
 */
START_TEST(ring_on_a_switch)
{
	const double three_bytes = 3 * 8192. * 8192 * 2 / 8;
	const json_t *events;
	struct measurement m;
	struct trace_case c;
	json_t *json;

	trace_case_make(&c, &texts[0]);
	trace_case_measure(&m, &c, "synth");
	json = trace_of(&c, &m, 1);
	events = json_object_get(json, "traceEvents");
	for (int d = 0; d < 8; d++) {
		ck_assert_double_eq(row_bytes(events, 3, d + 1, "sent_bytes"),
		                    three_bytes);
		ck_assert_double_eq(row_bytes(events, 3, d + 1, "received_bytes"),
		                    three_bytes);
	}
	for (int32_t l = 0; l < 16; l++)
		ck_assert_int_le(
			labs(check_row(events, 4, l + 1) - lrint(three_bytes / 235)), 1);
	json_decref(json);
	trace_case_free(&c);
}
END_TEST

/* Steps are named by the plan and stand one behind the other, with launch and rounds. */
START_TEST(names_of_slices)
{
	static const char *const wanted[] = {"all-gather {x}: 0->", "launch",
	                                     "round 1 of 1", "local"};
	const json_t *event, *events;
	struct measurement m;
	struct trace_case c;
	json_t *json;
	bool found[4] = {false};
	size_t i;

	trace_case_make(&c, &texts[0]);
	trace_case_measure(&m, &c, "synth");
	json = trace_of(&c, &m, 1);
	events = json_object_get(json, "traceEvents");
	json_array_foreach(events, i,
	                   event) for (int k = 0; k < 4;
	                               k++) if (is_slice(event, 1, 3) &&
	                                        !strcmp(word(event, "name"), wanted[k]))
		found[k] = true;
	ck_assert(found[0] && found[1] && found[2]);
	ck_assert(found[3] == (m.step[0][0].local_s > 0));
	json_decref(json);
	trace_case_free(&c);
}
END_TEST

/* Every planner has groups of its own; those without a plan have none. */
START_TEST(several_planners)
{
	static const char *const names[] = {"synth", "dtensor", "gather"};
	struct measurement m[3];
	const json_t *events;
	struct trace_case c;
	json_t *json;

	trace_case_make(&c, &texts[2]);
	for (int i = 0; i < 3; i++)
		trace_case_measure(&m[i], &c, names[i]);
	m[1] = (struct measurement){.planner = "dtensor", .message = ""};
	json = trace_of(&c, m, 3);
	events = json_object_get(json, "traceEvents");
	ck_assert_str_eq(named(events, "process_name", 1, 0),
	                 "synth by model: devices");
	ck_assert_ptr_null(named(events, "process_name", 5, 0));
	ck_assert_str_eq(named(events, "process_name", 11, 0),
	                 "gather by fluid: devices");
	json_decref(json);
	trace_case_free(&c);
}
END_TEST

/* 70 rounds of 512 devices and 2,048 links are more than are told apart. */
START_TEST(joins_rounds_of_large_steps)
{
	static const struct trace_text text = {"dgx-h100:64",  "f32[512,512,3]",
	                                       "x=512",        "P('x')",
	                                       "P(None, 'x')", "profile=plain"};
	const json_t *event, *events;
	struct measurement m;
	struct trace_case c;
	json_t *json;
	int joined = 0;
	size_t i;

	trace_case_make(&c, &text);
	c.platform->machine->forced.algorithm = "pairwise";
	c.bench.nclocks = 1;
	trace_case_measure(&m, &c, "synth");
	json = trace_of(&c, &m, 1);
	events = json_object_get(json, "traceEvents");
	ck_assert_int_le(json_array_size(events), 20000);
	json_array_foreach(events, i, event) joined +=
		is_slice(event, 1, 7) && strstr(word(event, "name"), " rounds");
	ck_assert_int_eq(joined, 1);
	check_group(events, &c, &m, 0);
	json_decref(json);
	trace_case_free(&c);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("trace");
	TCase *t = tcase_create("trace");

	tcase_add_loop_test(t, rows_add_up, 0, COUNT(texts));
	tcase_add_test(t, ring_on_a_switch);
	tcase_add_test(t, names_of_slices);
	tcase_add_test(t, several_planners);
	tcase_add_test(t, joins_rounds_of_large_steps);
	suite_add_tcase(suite, t);
	return suite;
}
