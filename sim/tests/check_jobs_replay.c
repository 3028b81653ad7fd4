#include "clock/jobs.h"
#include "tests/tests.h"

#include <check.h>

/* Jobs in SimGrid against jobs that pass in a few lines (automap/jobs/jobs.h). */

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/*
 * Each policy decides as it does there, and each job takes its seconds, as none shares its
 * devices with another one. On two fabrics, nodes of 8, and on a torus.
 */
START_TEST(passes_as_without_simgrid)
{
	enum { N = 400, DEVICES = 16 };
	static const char *const spec[] = {"dgx-a100:2", "tpu-v5e:4x4"};
	const struct job_kind kind[] = {{"a", 7, {9, 5, 3, 2, 1.5}},
	                                {"b", 3, {0, 30, 15, 8, 5}}};
	const double accept[] = {.3, .6, 1};
	const struct job_mix m = {2, 3, kind, accept, 7};
	struct job job[N];
	struct job_given given[N];
	struct job_result result[N];
	struct platform *p;
	struct error e = {0};

	ck_assert(platform_read(&p, arena, spec[_i], NULL, 0, &e) == OK);
	for (int policy = 0; policy < JOB_POLICIES; policy++) {
		int done = 0, blocked = 0;

		for (int simgrid = 0; simgrid < 2; simgrid++) {
			struct rng *rng = rng_new(5);
			struct job_desk d;

			jobs_draw(job, N, &m, rng);
			job_desk_open(&d, arena, &m, (enum job_policy)policy, DEVICES,
			              rng);
			if (simgrid)
				ck_assert(jobs_replay(result, p, &d, job, N, &e) == OK);
			else
				jobs_pass(given, &d, job, N);
			rng_free(rng);
		}
		for (int i = 0; i < N; i++) {
			ck_assert_int_eq(result[i].degree, given[i].degree);
			ck_assert_double_eq_tol(result[i].seconds, given[i].seconds,
			                        1e-6);
			done += given[i].degree >= 0;
			blocked += given[i].degree < 0;
		}
		ck_assert_int_gt(done, 0);
		ck_assert_int_gt(blocked, 0);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("jobs replay");
	TCase *t = tcase_create("simgrid");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, passes_as_without_simgrid, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
