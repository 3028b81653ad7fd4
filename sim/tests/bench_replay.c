/*
 * What clocks cost: how often per second a plan is timed by model, by fluid and by simgrid,
 * by the number of devices. A benchmark, not a test: nothing is asserted.
 *
 * Every line is one process with one platform; the case is slice, all-to-all, all-gather
 * over the whole machine, or, at 4096 devices, also a permute that moves every tile.
 */
#include "clock/simgrid.h"
#include "cost/fluid.h"
#include "measure/measure.h"
#include "platform/platform.h"

#include <gsl/gsl_errno.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct {
	const char *platform, *mesh, *from, *to;
} cases[] = {
	{"dgx-a100:1", "x=2,y=2,z=2", "P(('x', 'y'), None)", "P(None, ('y', 'z'))"},
	{"tpu-v5e:4x8", "x=4,y=2,z=4", "P(('x', 'y'), None)", "P(None, ('y', 'z'))"},
	{"tpu-v4:4x4x4", "x=4,y=4,z=4", "P(('x', 'y'), None)", "P(None, ('y', 'z'))"},
	{"dgx-h100:8", "x=2,y=4,z=8", "P(('x', 'y'), None)", "P(None, ('y', 'z'))"},
	{"tpu-v5e:16x16", "x=8,y=2,z=16", "P(('x', 'y'), None)", "P(None, ('y', 'z'))"},
	{"tpu-v4:8x8x8", "x=8,y=8,z=8", "P(('x', 'y'), None)", "P(None, ('y', 'z'))"},
	{"tpu-v4:16x16x16", "x=16,y=16,z=16", "P(('x', 'y'), None)",
         "P(None, ('y', 'z'))"},
	{"tpu-v4:16x16x16", "x=16,y=16,z=16", "P('x', 'y')", "P('y', 'x')"},
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calls per second of timing the plan by a clock: for at least a second or one call. */
static double rate(struct measurement *m, struct bench *b, int clock)
{
	double start = now_s(), spent;
	long calls = 0;

	do {
		struct arena *a = arena_new();

		measure_time(m, b, clock, a);
		arena_free(a);
		calls++;
		spent = now_s() - start;
	} while (spent < 1);
	return (double)calls / spent;
}

static int bench_case(int i)
{
	struct arena *a = arena_new();
	struct problem_text text = {.array = "bf16[65536,65536]",
	                            .mesh = cases[i].mesh,
	                            .from = cases[i].from,
	                            .to = cases[i].to};
	const struct planner *synth = planner_find("synth", 5);
	struct platform *platform;
	struct measurement m;
	struct problem p;
	struct error e = {0};
	struct bench b;
	double start = now_s(), load_s, per_s[3];
	void *self[3] = {NULL};
	char message[2048] = "";
	size_t at = 0;

	if (platform_load(&platform, a, cases[i].platform, NULL, 0, &e) != OK ||
	    problem_make(&p, a, &text, &e) != OK) {
		error_print(stderr, &e);
		return EXIT_FAILURE;
	}
	load_s = now_s() - start;
	bench_init(&b, platform->machine);
	self[1] = fluid_new(platform->machine);
	self[2] = simgrid_new(platform);
	for (int k = 0; k < 3; k++)
		bench_clock(&b, &clock_kinds[k], self[k]);
	measure_plan(&m, &b, &p, synth, a);
	for (int k = 0; k < 3; k++)
		per_s[k] = rate(&m, &b, k);
	for (int k = 0; m.plan && k < m.plan->nsteps; k++)
		at += (size_t)snprintf(message + at, sizeof(message) - at, "%s%s",
		                       k ? ", " : "", op_name(m.plan->step[k].op));
	printf("%-16s %7d %9.3f %9.4f %11.1f %11.1f %9.1f  %s\n", cases[i].platform,
	       p.mesh.ndevices, load_s, m.planning_s, per_s[0], per_s[1], per_s[2],
	       message);
	return EXIT_SUCCESS;
}

int main(void)
{
	int failed = 0;

	memory_keep();
	gsl_set_error_handler_off();
	printf("%-16s %7s %9s %9s %11s %11s %9s  %s\n", "platform", "devices", "load s",
	       "plan s", "model/s", "fluid/s", "simgrid/s", "steps");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = 0;
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0)
			exit(bench_case((int)i));
		waitpid(child, &status, 0);
		failed += status != 0;
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
