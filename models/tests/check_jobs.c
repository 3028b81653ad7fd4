/*
 * Jobs that arrive at a machine: policies by hand, devices that are never given twice, the
 * formula of Erlang, and a look-ahead that keeps devices for those who come.
 */
#include "automap/jobs/jobs.h"
#include "tests/tests.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct arena *arena;
static struct rng *rng;

static void setup(void)
{
	arena = arena_new();
	rng = rng_new(1);
}

static void teardown(void)
{
	rng_free(rng);
	arena_free(arena);
}

/* The share of n jobs of a mix that is blocked on so many devices. */
static double blocked(const struct job_mix *m, enum job_policy policy, int32_t devices,
                      int64_t n)
{
	struct job *job = arena_alloc(arena, (size_t)n, sizeof(*job));
	struct job_given *given = arena_alloc(arena, (size_t)n, sizeof(*given));
	struct job_desk d;
	int64_t count = 0;

	jobs_draw(job, n, m, rng);
	job_desk_open(&d, arena, m, policy, devices, rng);
	jobs_pass(given, &d, job, n);
	for (int64_t i = 0; i < n; i++)
		count += given[i].degree < 0;
	return (double)count / (double)n;
}

/*
 * Jobs of one device each that are lost where all n are busy: Erlang's formula, whatever the
 * times of the jobs are distributed like: here they are two fixed ones.
 */
START_TEST(loses_as_erlang_says)
{
	static const struct {
		int32_t devices;
		double load; /* of each device */
	} of[] = {{1, .5}, {4, .7}, {8, 1}, {16, 1.2}};
	const struct job_kind kind[] = {{"short", 1, {1}}, {"long", 3, {1}}};
	const double any[] = {1};
	double offered = of[_i].load * of[_i].devices, b = 1;
	const struct job_mix m = {2, 1, kind, any, 2 / offered};

	for (int i = 1; i <= of[_i].devices; i++)
		b = offered * b / (i + offered * b);
	for (int policy = 0; policy < JOBS_AHEAD; policy++)
		ck_assert_double_eq_tol(
			blocked(&m, (enum job_policy)policy, of[_i].devices, 200000), b,
			.01);
}
END_TEST

/* On 8 devices, of which 4 to 7 are taken: on 4 the job is 2.5 times as fast as on one. */
START_TEST(chooses)
{
	const struct job_kind kind = {"job", 10, {1, .6, .4, .39}};
	const double any[] = {1};
	const struct job_mix m = {1, 1, &kind, any, 1};
	static const struct {
		enum job_policy policy;
		double accept;
		int degree;
	} of[] = {
		{JOBS_MIN, 1, 0},           {JOBS_MIN, .99, JOB_SLOW},
		{JOBS_MAX, 1, 2},           {JOBS_MAX, .4, 2},
		{JOBS_MAX, .395, JOB_SLOW}, {JOBS_ACCEPTABLE, 1, 0},
		{JOBS_ACCEPTABLE, .6, 1},   {JOBS_ACCEPTABLE, .5, JOB_SLOW},
		{JOBS_ACCEPTABLE, .4, 2},   {JOBS_ACCEPTABLE, .1, JOB_SLOW},
		{JOBS_SIMULATED, 1, 0},     {JOBS_SIMULATED, .6, 1},
		{JOBS_SIMULATED, .5, 2},    {JOBS_SIMULATED, .395, JOB_SLOW},
	};
	const struct job j = {0, 0, of[_i].accept};
	struct job_desk d;
	struct job_given g;

	job_desk_open(&d, arena, &m, of[_i].policy, 8, rng);
	memset(d.devices.busy + 4, true, 4);
	g = job_arrives(&d, &j);
	ck_assert_int_eq(g.degree, of[_i].degree);
	ck_assert_int_eq(g.first, g.degree < 0 ? -1 : 0);
	if (g.degree >= 0)
		ck_assert_double_eq_tol(g.seconds, 10 * kind.step_s[g.degree], 1e-12);
	memset(d.devices.busy, true, 8);
	ck_assert_int_eq(job_arrives(&d, &j).degree, JOB_FULL);
}
END_TEST

/* A job that does not fit on one device, and whose time there none can be a share of. */
START_TEST(needs_memory)
{
	const struct job_kind kind = {"large", 2, {0, 3, 2}};
	const double any[] = {1};
	const struct job_mix m = {1, 1, &kind, any, 1};
	struct job_desk d;

	ck_assert_double_eq(job_alone_s(&kind), 6);
	job_desk_open(&d, arena, &m, JOBS_MIN, 4, rng);
	ck_assert_int_eq(job_arrives(&d, &(struct job){0, 0, 1}).degree, 1);
}
END_TEST

/* No device is two jobs' at a time; blocks are at multiples of their size. */
START_TEST(gives_no_device_twice)
{
	enum { N = 3000, DEVICES = 16 };
	const struct job_kind kind[] = {{"a", 1, {9, 5, 3, 2, 1.5}},
	                                {"b", 1, {0, 30, 15, 8, 5}}};
	const double accept[] = {.3, .6, 1};
	const struct job_mix m = {2, 3, kind, accept, .9};
	struct job job[N];
	struct job_given given[N];
	double free_at[DEVICES] = {0};
	struct job_desk d;

	jobs_draw(job, N, &m, rng);
	job_desk_open(&d, arena, &m, (enum job_policy)_i, DEVICES, rng);
	jobs_pass(given, &d, job, N);
	for (int i = 0; i < N; i++) {
		const struct job_given *g = &given[i];

		if (g->degree < 0)
			continue;
		ck_assert_int_eq(g->first % (1 << g->degree), 0);
		ck_assert_double_le(g->seconds,
		                    job[i].accept * job_alone_s(&kind[job[i].kind]) *
		                            (1 + 1e-9));
		for (int k = 0; k < 1 << g->degree; k++) {
			ck_assert_double_le(free_at[g->first + k], job[i].at_s);
			free_at[g->first + k] = job[i].at_s + g->seconds;
		}
	}
}
END_TEST

/*
 * One job in two takes all devices for as long as a hundred of the others take, which need one
 * device each: whoever declines the large ones has half of all jobs blocked, whoever takes
 * them nearly all.
 */
START_TEST(looks_ahead)
{
	const struct job_kind kind[] = {{"large", 1, {0, 0, 0, 100}}, {"small", 1, {1}}};
	const double any[] = {1};
	const struct job_mix m = {2, 1, kind, any, .5};

	ck_assert_double_gt(blocked(&m, JOBS_SIMULATED, 8, 4000), .9);
	ck_assert_double_lt(blocked(&m, JOBS_AHEAD, 8, 4000), .55);
}
END_TEST

/* Gaps are exponential: mean and deviation are the same; equal seeds draw equal jobs. */
START_TEST(draws)
{
	enum { N = 100000 };
	const struct job_kind kind[2] = {{"a", 1, {1}}, {"b", 1, {1}}};
	const double accept[] = {.25, 1};
	const struct job_mix m = {2, 2, kind, accept, 3};
	struct job *job = arena_alloc(arena, N, sizeof(*job));
	struct job *again = arena_alloc(arena, N, sizeof(*again));
	struct rng *other = rng_new(1);
	double sum = 0, squares = 0, kinds = 0, accepts = 0;

	jobs_draw(job, N, &m, rng);
	jobs_draw(again, N, &m, other);
	rng_free(other);
	for (int i = 0; i < N; i++) {
		double gap = job[i].at_s - (i ? job[i - 1].at_s : 0);

		ck_assert(job[i].at_s == again[i].at_s && job[i].kind == again[i].kind &&
		          job[i].accept == again[i].accept);
		sum += gap;
		squares += gap * gap;
		kinds += job[i].kind;
		accepts += job[i].accept;
	}
	ck_assert_double_eq_tol(sum / N, 3, .05);
	ck_assert_double_eq_tol(squares / N, 18, .6);
	ck_assert_double_eq_tol(kinds / N, .5, .01);
	ck_assert_double_eq_tol(accepts / N, .625, .01);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("jobs");
	TCase *t = tcase_create("jobs");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, loses_as_erlang_says, 0, 4);
	tcase_add_loop_test(t, chooses, 0, 14);
	tcase_add_test(t, needs_memory);
	tcase_add_loop_test(t, gives_no_device_twice, 0, JOB_POLICIES);
	tcase_add_test(t, looks_ahead);
	tcase_add_test(t, draws);
	suite_add_tcase(s, t);
	return s;
}
