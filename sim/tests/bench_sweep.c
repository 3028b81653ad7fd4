/*
 * What a row of a sweep costs, from 1,000 to 100,000 of them: random problems of up to 64
 * devices with four planners on four machines by the clock `model`, and 10,000 rows by
 * `fluid`, two workers, into a store; and what it costs to find that nothing is missing. Then
 * the same of scenarios/layouts.yaml on one machine, without `best` and with it, by one worker
 * and by two: on six machines they are 461,340 rows, and the goals 60 s and 120 s. Processor
 * time is that of the workers and that of their parent, which stores rows: one worker is as
 * fast as it is itself, two on two idle cores as the sum of all three, halved, lets them be. A
 * benchmark, not a test: nothing is asserted.
 */
#include "cli/sweep/sweep.h"
#include "platform/platform.h"

#include <gsl/gsl_errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PER_SCENARIO = 4 * 4 };

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this process, or of all of its that have ended. */
static double processor_s(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec +
	       (double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec;
}

static void fail(const struct error *e)
{
	error_print(stderr, e);
	exit(1);
}

/* The sweep that is asked for into a folder, as the command does it; its rows. */
static int64_t sweep(const struct sweep_request *request, const char *dir, int jobs)
{
	struct arena *a = arena_new();
	struct sweep s = {.jobs = jobs};
	struct sweep_counts counts = {0};
	struct digests done = {0};
	struct store *store = NULL;
	struct sweep_sink sink;
	struct sweep_work *work;
	struct error e = {0};
	int64_t n;

	if (sweep_setup(&s, request, a, &e) != OK ||
	    cmd_sweep_open(&store, dir, false, &s, request, &done, &counts, &e) != OK)
		fail(&e);
	work = sweep_work(&n, &s, &done, 0, 1, a);
	sink = sweep_store(store);
	if (sweep_run(&counts, &s, work, n, &sink, &e) != OK ||
	    store_finish(store, &e) != OK)
		fail(&e);
	store_close(store);
	digests_free(&done);
	arena_free(a);
	return counts.rows;
}

/* What a sweep took: seconds on the clock, and of processors. */
struct took {
	double wall_s, workers_s, parent_s;
};

static struct took measure(const char *dir, const char *what,
                           const struct sweep_request *request, int jobs)
{
	char db[300];
	double start_s;
	struct took took;
	struct rusage children;
	int64_t n;

	snprintf(db, sizeof(db), "%s/sweep.db", dir);
	start_s = now_s();
	took.parent_s = processor_s(RUSAGE_SELF);
	took.workers_s = processor_s(RUSAGE_CHILDREN);
	n = sweep(request, dir, jobs);
	took.wall_s = now_s() - start_s;
	took.parent_s = processor_s(RUSAGE_SELF) - took.parent_s;
	took.workers_s = processor_s(RUSAGE_CHILDREN) - took.workers_s;
	getrusage(RUSAGE_CHILDREN, &children);
	start_s = now_s();
	sweep(request, dir, jobs);
	printf("%-20s %8lld %9.2f %12.1f %12.1f %12.1f %10.2f %12.1f\n", what,
	       (long long)n, took.wall_s, 1e6 * took.wall_s / (double)n,
	       1e6 * took.workers_s / (double)n, 1e6 * took.parent_s / (double)n,
	       now_s() - start_s, (double)children.ru_maxrss / 1024);
	fflush(stdout);
	unlink(db);
	return took;
}

static void measure_random(const char *dir, int64_t rows, const char *clock)
{
	char suite[300];
	struct sweep_request request = {
		.suite = {suite},
		.nsuites = 1,
		.platform = "tpu-v4:4x4x4,tpu-v5e:16x16,dgx-a100:4,dgx-h100:8",
		.planner = "gather,synth,xla,direct",
		.clock = clock,
	};
	FILE *f;

	snprintf(suite, sizeof(suite), "%s/suite.yaml", dir);
	f = fopen(suite, "w");
	if (!f)
		exit(1);
	fprintf(f, "generate: {kind: random, count: %lld, seed: 1, devices: 4..64}\n",
	        (long long)rows / PER_SCENARIO);
	fclose(f);
	measure(dir, clock, &request, 2);
	unlink(suite);
}

static void measure_layouts(const char *dir)
{
#define RIVALS                                                                         \
	"gather,synth,synth-rewrite,xla-2021,xla,shardy,dtensor,dtensor-mincost,"      \
	"direct,digit,best-portable"
	static const char *const planners[] = {RIVALS, RIVALS ",best"};
	struct sweep_request request = {.suite = {"scenarios/layouts.yaml"},
	                                .nsuites = 1,
	                                .platform = "dgx-a100:{n}",
	                                .clock = "model"};

	for (int best = 0; best < 2; best++) {
		struct took took[3];

		for (int jobs = 1; jobs <= 2; jobs++) {
			char what[40];

			request.planner = planners[best];
			snprintf(what, sizeof(what), "%s best, %d worker%s",
			         best ? "with" : "no", jobs, jobs > 1 ? "s" : "");
			took[jobs] = measure(dir, what, &request, jobs);
		}
		printf("%-20s %8s %9.2f times as fast, %.2f by processor time on two "
		       "cores; goals 1.9 times, %d us of processor per row\n",
		       "two workers", "", took[1].wall_s / took[2].wall_s,
		       2 * took[1].workers_s / (took[2].workers_s + took[2].parent_s),
		       best ? 260 : 130);
	}
}

/* With the word `layouts` only the second part is run. */
int main(int argc, char **argv)
{
	static const int64_t rows[] = {1008, 3168, 10000, 31616, 100000};
	const char *tmp = getenv("TMPDIR");
	bool all = argc < 2 || strcmp(argv[1], "layouts") != 0;
	char dir[256];

	memory_keep();
	gsl_set_error_handler_off();
	snprintf(dir, sizeof(dir), "%.200s/bench_sweep-XXXXXX", tmp ? tmp : P_tmpdir);
	if (!mkdtemp(dir))
		return 1;
	printf("                         rows    wall s  wall us/row  workers/row   "
	       "parent/row    again s   worker MiB\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && all; i++)
		measure_random(dir, rows[i], "model");
	if (all)
		measure_random(dir, 10000, "fluid");
	measure_layouts(dir);
	return rmdir(dir) != 0;
}
