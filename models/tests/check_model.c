#include "collective/schedule.h"
#include "cost/model.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* A schedule in one line: "| 0>1 1e6, 2>3 1e6; 4>5 1" - rounds, tasks, messages. */
static void schedule_read(struct schedule *s, const char *text)
{
	const char *p = text;

	while (*p) {
		int src, dst, used = 0, repeats = 1;
		double bytes;

		if (*p == '|') {
			schedule_round(s);
			p++;
		}
		if (sscanf(p, " x%d%n", &repeats, &used) == 1)
			p += used;
		schedule_task(s, repeats);
		while (sscanf(p, " %d>%d %lf%n", &src, &dst, &bytes, &used) == 3) {
			schedule_message(s, 0, src, dst, bytes);
			p += used;
			p += *p == ',';
		}
		p += strspn(p, " ");
		p += *p == ';';
		ck_assert(!*p || *p == '|' || p[-1] == ';');
	}
	schedule_end(s);
}

/*
 * Times in microseconds, worked by hand. B is 45 GB/s (50 in the first row), a hop 1 us.
 * A wrapped ring of 16 unless said otherwise.
 */
static const struct {
	const char *schedule;
	int32_t size;
	bool wrap;
	double bandwidth_Bps, time_us;
} time_table[] = {
	/* one hop: 1e6 / 50e9 = 20 us, and the hop */
	{"| 0>1 1e6", 16, true, 50e9, 21},
	{"", 16, true, 45e9, 0},
	/* 0->2 and 1->3 share 1->2: 2e6 / 45e9 + 2 hops; 5->10 alone: 22.2 + 5 */
	{"| 0>2 1e6; 1>3 1e6; 5>10 1e6", 16, true, 45e9, 2e6 / 45e3 + 2},
	/* the same three messages in one task: the longest route counts for all */
	{"| 0>2 1e6, 1>3 1e6, 5>10 1e6", 16, true, 45e9, 2e6 / 45e3 + 5},
	/* shared link with routes of 2 and 3 hops: the smaller latency for the sum */
	{"| 0>2 1e6; 1>4 1e6", 16, true, 45e9, 2e6 / 45e3 + 2},
	/* a far small task may still be the longest: 9 bytes over 7 hops */
	{"| 0>1 9e4; 2>9 9", 16, true, 45e9, 9 / 45e3 + 7},
	/* opposite directions are two links */
	{"| 0>1 1e6, 1>0 1e6", 16, true, 45e9, 1e6 / 45e3 + 1},
	/* 15 rounds merged: bytes as given, 15 latencies */
	{"| x15 0>1 15e6, 1>2 15e6, 2>3 15e6", 16, true, 45e9, 15e6 / 45e3 + 15},
	/* rounds add */
	{"| 0>1 1e6 | 0>1 3e6; 7>9 48e3 | 1>0 5", 16, true, 45e9,
         1e6 / 45e3 + 1 + 3e6 / 45e3 + 1 + 5 / 45e3 + 1},
	/* wrap: 14->1 over 3 hops, without it over 13 */
	{"| 14>1 1e6", 16, true, 45e9, 1e6 / 45e3 + 3},
	{"| 14>1 1e6", 16, false, 45e9, 1e6 / 45e3 + 13},
	/* two messages of one pair add up */
	{"| 0>1 1e6, 0>1 2e6", 7, true, 45e9, 3e6 / 45e3 + 1},
};

START_TEST(time_rows)
{
	struct arena *a = arena_new();
	struct link link = {.bandwidth_Bps = time_table[_i].bandwidth_Bps,
	                    .latency_s = 1e-6};
	struct machine *m =
		machine_torus(a, 1, &time_table[_i].size, &time_table[_i].wrap, link,
	                      (struct device){0});
	struct schedule s = {.arena = a};
	struct model *w = model_new(m);
	char message[80];
	double expected_s = time_table[_i].time_us * 1e-6;

	schedule_read(&s, time_table[_i].schedule);
	/* twice: nothing of the first call may stay in the workspace */
	for (int i = 0; i < 2; i++)
		ck_assert_double_eq_tol(model_schedule_s(w, &s), expected_s,
		                        1e-12 * expected_s + 1e-30);
	ck_assert_double_eq(model_clock(w, &s, message, sizeof(message)),
	                    model_schedule_s(w, &s));
	model_free(w);
	arena_free(a);
}
END_TEST

/* The two figures that the description of the clocks gives in digits. */
static const struct {
	const char *schedule;
	double bandwidth_Bps, time_us;
} known[] = {
	{"| 0>1 1e6", 50e9, 21.0},
	{"| 0>2 1e6; 1>3 1e6; 5>10 1e6", 45e9, 46.44},
};

START_TEST(the_known_figures)
{
	struct arena *a = arena_new();
	struct link link = {.bandwidth_Bps = known[_i].bandwidth_Bps, .latency_s = 1e-6};
	struct machine *m = machine_torus(a, 1, (int32_t[]){16}, (bool[]){true}, link,
	                                  (struct device){0});
	struct schedule s = {.arena = a};
	struct model *w = model_new(m);

	schedule_read(&s, known[_i].schedule);
	ck_assert_double_eq_tol(1e6 * model_schedule_s(w, &s), known[_i].time_us, 0.005);
	model_free(w);
	arena_free(a);
}
END_TEST

/* Links of unequal speed: 3e5 / 1e9 = 300 us down a slow one, beside a fast one. */
START_TEST(slow_link_counts)
{
	struct arena *a = arena_new();
	struct link fast = {.bandwidth_Bps = 100e9, .latency_s = 0.5e-6};
	struct link slow = {.bandwidth_Bps = 1e9, .latency_s = 3e-6};
	struct machine *m = machine_gpu(a, 3, 5, fast, slow, (struct device){0});
	struct schedule s = {.arena = a};
	struct model *w = model_new(m);

	schedule_round(&s);
	schedule_task(&s, 1);
	schedule_message(&s, 0, 0, 4, 3e5); /* 3 us + 1 us */
	schedule_task(&s, 1);
	schedule_message(&s, 1, 0, 5, 3e5);  /* both leave device 0's NIC: */
	schedule_message(&s, 1, 0, 11, 2e5); /* 500 us + 6 us */
	schedule_task(&s, 1);
	schedule_message(&s, 1, 7, 11, 3e5); /* shares the way down to 11: 500 + 6 */
	schedule_end(&s);
	ck_assert_double_eq_tol(model_schedule_s(w, &s), 506e-6, 1e-15);
	model_free(w);
	arena_free(a);
}
END_TEST

START_TEST(no_route_is_refused)
{
	struct arena *a = arena_new();
	struct link link = {.bandwidth_Bps = 1e9, .latency_s = 1e-6};
	struct machine *m = machine_gpu(a, 2, 3, link, link, (struct device){0});
	struct schedule s = {.arena = a};
	struct model *w = model_new(m);
	char message[80] = "";

	schedule_round(&s);
	schedule_task(&s, 1);
	schedule_message(&s, 1, 0, 5, 7);
	schedule_end(&s);
	ck_assert_double_gt(model_clock(w, &s, message, sizeof(message)), 0);
	ck_assert_str_eq(message, "");
	m->fabric[1].geometry = GEOMETRY_GRAPH;
	ck_assert_double_lt(model_clock(w, &s, message, sizeof(message)), 0);
	ck_assert_ptr_nonnull(strstr(message, "gpu"));
	model_free(w);
	model_free(NULL);
	arena_free(a);
}
END_TEST

/* Against a sum over all links of all tasks, on seeded permutations of an odd torus. */
START_TEST(permutations_add_up)
{
	struct arena *a = arena_new();
	const int32_t shape[] = {3, 5, 7};
	const bool wrap[] = {true, false, true};
	struct link link = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
	struct machine *m = machine_torus(a, 3, shape, wrap, link, (struct device){0});
	struct model *w = model_new(m);

	for (int k = 1; k < 20; k++) {
		struct schedule s = {.arena = a};
		double load[3 * 5 * 7 * 6] = {0}, least[3 * 5 * 7 * 6], expected_s = 0;
		double bytes = 48 * 1024 + 1;
		int32_t links[64];

		for (int l = 0; l < m->nlinks; l++)
			least[l] = INFINITY;
		schedule_round(&s);
		for (int32_t d = 0; d < 105; d++) {
			int32_t to = (int32_t)((d * 11 * k + k) % 105);
			int n = machine_route(m, 0, d, to, links, 64);

			schedule_task(&s, 1);
			schedule_message(&s, 0, d, to, bytes);
			for (int i = 0; i < n; i++) {
				load[links[i]] += bytes;
				least[links[i]] = fmin(least[links[i]], n * 1e-6);
			}
			if (n)
				expected_s = fmax(expected_s, bytes / 45e9 + n * 1e-6);
		}
		schedule_end(&s);
		for (int l = 0; l < m->nlinks; l++)
			if (load[l] > 0)
				expected_s = fmax(expected_s, load[l] / 45e9 + least[l]);
		ck_assert_double_eq_tol(model_schedule_s(w, &s), expected_s,
		                        1e-12 * expected_s);
	}
	model_free(w);
	arena_free(a);
}
END_TEST

/* What is empty is dropped wherever it is, and arrays grow. */
START_TEST(schedule_drops_what_is_empty)
{
	struct arena *a = arena_new();
	struct schedule s = {.arena = a};

	schedule_end(&s);
	schedule_round(&s);
	schedule_round(&s);
	schedule_task(&s, 3);
	schedule_task(&s, 5);
	schedule_message(&s, 0, 3, 3, 7);
	schedule_message(&s, 0, 3, 4, 0);
	schedule_message(&s, 1, 3, 4, 7.5);
	schedule_task(&s, 7);
	schedule_message(&s, 0, 4, 4, 1);
	schedule_round(&s);
	schedule_task(&s, 1);
	schedule_end(&s);
	ck_assert_int_eq(s.nrounds, 1);
	ck_assert_int_eq(s.ntasks, 1);
	ck_assert_int_eq(s.nmessages, 1);
	ck_assert_int_eq(s.round[0].ntasks, 1);
	ck_assert_int_eq(s.task[0].repeats, 5);
	schedule_end(&s);
	ck_assert_int_eq(s.nrounds, 1);
	for (int i = 0; i < 1000; i++) {
		schedule_round(&s);
		schedule_task(&s, 1);
		schedule_message(&s, 0, 0, 1 + i, 1);
		schedule_message(&s, 0, 1 + i, 0, 1);
	}
	schedule_end(&s);
	ck_assert_int_eq(s.nrounds, 1001);
	ck_assert_int_eq(s.nmessages, 2001);
	ck_assert_int_eq(s.round[700].first, 700);
	ck_assert_int_eq(s.task[700].first, 1399);
	ck_assert_int_eq(s.message[1399].dst, 700);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("model");
	TCase *tcase = tcase_create("model");

	tcase_add_loop_test(tcase, time_rows, 0, COUNT(time_table));
	tcase_add_loop_test(tcase, the_known_figures, 0, 2);
	tcase_add_test(tcase, slow_link_counts);
	tcase_add_test(tcase, no_route_is_refused);
	tcase_add_test(tcase, permutations_add_up);
	tcase_add_test(tcase, schedule_drops_what_is_empty);
	suite_add_tcase(suite, tcase);
	return suite;
}
