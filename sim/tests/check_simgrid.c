#include "clock/simgrid.h"
#include "tests/tests.h"

#include "clock/replay.h"
#include "clock/replays.h"
#include "cost/model.h"
#include "edit.h"

#include <check.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* How the clock simgrid starts, refuses and fails; its times are in check_fluid*.c. */

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct platform *read_platform(const char *spec)
{
	struct platform *p = NULL;
	struct error e = {0};

	ck_assert_msg(platform_read(&p, arena, spec, NULL, 0, &e) == OK, "%s", e.text);
	return p;
}

/* A round in which each of the first n devices sends to `each` others. */
static struct schedule exchange(int32_t n, int32_t each)
{
	struct schedule s = {.arena = arena};

	schedule_round(&s);
	schedule_task(&s, 1);
	for (int32_t d = 0; d < n; d++)
		for (int32_t k = 1; k <= each; k++)
			schedule_message(&s, 0, d, (d + k) % n, 1e6 / 7);
	schedule_end(&s);
	return s;
}

/* What was replayed is known to the byte, the last 16 of it; a byte more is another. */
START_TEST(known_replays)
{
	struct replays r = {.next = 0};
	double total_s, wire_s[2], kept_s[2] = {0.25, 0.5};
	struct schedule pair[2] = {exchange(4, 1), exchange(4, 2)};

	ck_assert(!replays_find(&r, &total_s, wire_s, pair, 2));
	replays_keep(&r, 0.75, kept_s, 2);
	for (int i = 0; i < REPLAYS_KEPT; i++) {
		struct schedule other = exchange(5 + i, 1);

		pair[1] = exchange(4, 2);
		ck_assert(replays_find(&r, &total_s, wire_s, pair, 2));
		ck_assert(total_s == 0.75 && wire_s[0] == 0.25 && wire_s[1] == 0.5);
		ck_assert(!replays_find(&r, &total_s, wire_s, pair, 1));
		pair[1].message[7].bytes *= 1 + 1e-15;
		ck_assert(!replays_find(&r, &total_s, wire_s, pair, 2));
		ck_assert(!replays_find(&r, &total_s, wire_s, &other, 1));
		replays_keep(&r, 1, kept_s, 1);
	}
	pair[1] = exchange(4, 2);
	ck_assert(!replays_find(&r, &total_s, wire_s, pair, 2));
	replays_free(&r);
}
END_TEST

/* --- starting and refusing ---------------------------------------------------------- */

START_TEST(the_first_replay_loads)
{
	struct platform *p = read_platform("tpu-v5e:4x8");
	struct simgrid *w = simgrid_new(p);
	struct schedule nothing = {.arena = arena}, one = exchange(32, 1);
	char why[300] = "";
	double first_s;

	schedule_end(&nothing);
	ck_assert_double_eq(simgrid_clock(w, &nothing, why, sizeof(why)), 0);
	ck_assert_ptr_null(p->host);
	first_s = simgrid_clock(w, &one, why, sizeof(why));
	ck_assert_msg(first_s > 0, "%s", why);
	ck_assert_ptr_nonnull(p->host);
	ck_assert_double_eq(simgrid_clock(w, &one, why, sizeof(why)), first_s);
	simgrid_free(w);
}
END_TEST

/*
 * The steps of a plan are one replay: their seconds add up to it, and one that sends
 * nothing takes none.
 */
START_TEST(steps_are_one_replay)
{
	struct platform *p = read_platform("tpu-v5e:4x8");
	struct simgrid *w = simgrid_new(p);
	struct schedule s[3] = {exchange(32, 3), {.arena = arena}, exchange(16, 5)};
	char why[300] = "";
	double wire_s[3], total_s, alone_s[3];

	schedule_end(&s[1]);
	total_s = simgrid_schedules(w, wire_s, s, 3, why, sizeof(why));
	ck_assert_msg(total_s > 0, "%s", why);
	ck_assert_double_eq(total_s, wire_s[0] + wire_s[1] + wire_s[2]);
	for (int i = 0; i < 3; i++) {
		alone_s[i] = simgrid_clock(w, &s[i], why, sizeof(why));
		ck_assert_double_le(fabs(wire_s[i] - alone_s[i]), 1e-12 * alone_s[i]);
	}
	/* a replay starts at 0, so that the first step is as if alone to the last digit */
	ck_assert_double_eq(wire_s[0], alone_s[0]);
	ck_assert_double_eq(wire_s[1], 0);
	simgrid_free(w);
}
END_TEST

/* 512 hosts take 131,072 messages of a round and no more; nothing is loaded for more. */
START_TEST(too_large)
{
	struct platform *p = read_platform("tpu-v4:8x8x8");
	struct simgrid *w = simgrid_new(p);
	struct schedule s[2] = {exchange(512, 2), exchange(512, 257)};
	char why[300] = "";
	double wire_s[2];

	ck_assert_double_eq(simgrid_schedules(w, wire_s, s, 2, why, sizeof(why)),
	                    CLOCK_REFUSED_S);
	ck_assert_str_eq(why,
	                 "takes rounds of up to 67108864 messages times hosts, but "
	                 "one has 131584 messages between 512 hosts");
	ck_assert_ptr_null(p->host);
	simgrid_free(w);
}
END_TEST

/* A platform that SimGrid refuses: every replay fails with what was wrong. */
START_TEST(a_refused_platform)
{
	const char *path =
		edit_platform(arena, "tpu-v5e:3x2", "speed=\"1Gf\"", "speed=\"1Gx\"");
	struct platform *p = read_platform(path);
	struct simgrid *w = simgrid_new(p);
	struct schedule s = exchange(4, 1);
	struct error e = {0};
	char first[400] = "", again[400] = "";

	ck_assert_double_eq(simgrid_clock(w, &s, first, sizeof(first)), CLOCK_FAILED_S);
	ck_assert_double_eq(simgrid_clock(w, &s, again, sizeof(again)), CLOCK_FAILED_S);
	ck_assert_msg(strstr(first, "SimGrid refuses the file: ") != NULL, "%s", first);
	ck_assert_str_eq(first, again);
	ck_assert_int_eq(simgrid_start(w, &e), E_TYPE);
	ck_assert_str_eq(e.text, first);
	unlink(path);
	simgrid_free(w);
}
END_TEST

/* --- children ------------------------------------------------------------------------ */

static double say_and_die(double *wire_s, struct platform *p, const struct schedule *s,
                          int n, char *message, size_t size)
{
	(void)wire_s, (void)p, (void)s, (void)n, (void)message, (void)size;
	fputs("[1.5] ./src/some.cpp:48: [category/CRITICAL] What happened\nand a "
	      "trace\n",
	      stderr);
	abort();
}

static double end_early(double *wire_s, struct platform *p, const struct schedule *s,
                        int n, char *message, size_t size)
{
	(void)wire_s, (void)p, (void)s, (void)n, (void)message, (void)size;
	_exit(7);
}

static double refuse(double *wire_s, struct platform *p, const struct schedule *s,
                     int n, char *message, size_t size)
{
	(void)wire_s, (void)p, (void)s, (void)n;
	snprintf(message, size, "not this");
	return CLOCK_REFUSED_S;
}

static double count(double *wire_s, struct platform *p, const struct schedule *s, int n,
                    char *message, size_t size)
{
	(void)p, (void)s, (void)message, (void)size;
	for (int i = 0; i < n; i++)
		wire_s[i] = i;
	return n;
}

static const struct {
	replay_fn *run;
	double total_s;
	const char *message;
} ends[] = {
	{say_and_die, CLOCK_FAILED_S,
         "the replay died of signal 6 (Aborted): What happened"},
	{end_early, CLOCK_FAILED_S, "the replay ended with status 7"},
	{refuse, CLOCK_REFUSED_S, "not this"},
	{count, 2, ""},
};

static int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* However it ends, neither a process nor a file is left. */
START_TEST(children_end)
{
	int files = open_files();

	for (int k = 0; k < 20; k++) {
		struct replay *r = replay_new(2);

		replay_run(r, ends[_i].run, NULL, NULL, 2);
		ck_assert_double_eq(r->total_s, ends[_i].total_s);
		ck_assert_str_eq(r->message, ends[_i].message);
		if (r->total_s > 0)
			ck_assert_double_eq(r->wire_s[1], 1);
		replay_free(r, 2);
	}
	ck_assert_int_eq(open_files(), files);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("simgrid");
	TCase *tcase = tcase_create("simgrid");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, known_replays);
	tcase_add_test(tcase, the_first_replay_loads);
	tcase_add_test(tcase, steps_are_one_replay);
	tcase_add_test(tcase, too_large);
	tcase_add_test(tcase, a_refused_platform);
	tcase_add_loop_test(tcase, children_end, 0, COUNT(ends));
	suite_add_tcase(suite, tcase);
	return suite;
}
