#include "base/rng.h"
#include "clock/simgrid.h"
#include "cost/fluid.h"
#include "cost/model.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* Random rounds by the clock fluid and by SimGrid. */

enum { BATCH = 50 /* schedules of one replay */ };

struct bench {
	struct arena *arena; /* of a batch */
	struct arena *platform_arena;
	struct platform *platform;
	struct fluid *fluid;
	struct simgrid *simgrid;
	struct rng *rng;
	struct schedule batch[BATCH];
	struct schedule *s; /* the one at hand */
	int n;              /* in the batch, with the one at hand */
};

static struct bench bench_new(const char *spec, uint64_t seed)
{
	struct bench b = {.arena = arena_new(),
	                  .platform_arena = arena_new(),
	                  .rng = rng_new(seed)};
	struct error e = {0};

	ck_assert_int_eq(
		platform_read(&b.platform, b.platform_arena, spec, NULL, 0, &e), OK);
	b.fluid = fluid_new(b.platform->machine);
	b.simgrid = simgrid_new(b.platform);
	return b;
}

/* Times the schedules of the batch by both clocks. */
static void compare(struct bench *b)
{
	char why[300] = "";
	double simgrid_s[BATCH];
	double total_s = simgrid_schedules(b->simgrid, simgrid_s, b->batch, b->n, why,
	                                   sizeof(why));

	ck_assert_msg(total_s >= 0, "%s", why);
	for (int i = 0; i < b->n; i++) {
		double time_s = fluid_clock(b->fluid, &b->batch[i], why, sizeof(why));

		ck_assert_msg(fabs(time_s - simgrid_s[i]) <= 1e-9 * simgrid_s[i],
		              "%d of %d, %d tasks: %.15g, SimGrid %.15g, %g", i, b->n,
		              (int)b->batch[i].ntasks, time_s, simgrid_s[i],
		              time_s / simgrid_s[i] - 1);
	}
	arena_reset(b->arena);
	b->n = 0;
}

static void bench_free(struct bench *b)
{
	compare(b);
	fluid_free(b->fluid);
	simgrid_free(b->simgrid);
	rng_free(b->rng);
	arena_free(b->arena);
	arena_free(b->platform_arena);
}

static void schedule_begin(struct bench *b)
{
	if (b->n == BATCH)
		compare(b);
	b->s = &b->batch[b->n++];
	*b->s = (struct schedule){.arena = b->arena};
	schedule_round(b->s);
}

/* A seventh of the bytes: no figure is exact then, and links are just full all the same. */
static void message(struct bench *b, int32_t src, int32_t dst, double bytes)
{
	if (src != dst)
		schedule_message(b->s, machine_fabric(b->platform->machine, src, dst),
		                 src, dst, bytes / 7);
}

static const char *const specs[] = {"tpu-v4:4x4x4",         "tpu-7x:2x4x4",
                                    "tpu-v5e:4x8",          "dgx-a100:4",
                                    "tpu-v4:4x4x8_twisted", "dgx1-v100:1"};

/* Tasks of random messages, delays and sizes, few or many, in unlike numbers on links. */
START_TEST(random_rounds)
{
	struct bench b = bench_new(specs[_i], 11 + (uint64_t)_i);
	uint32_t n = (uint32_t)b.platform->machine->ndevices;

	for (int k = 0; k < 1500; k++) {
		uint32_t sizes = 1 + rng_below(b.rng, 60),
			 most = 1 + rng_below(b.rng, 6);

		schedule_begin(&b);
		for (uint32_t left = 2 + rng_below(b.rng, k % 50 ? 30 : 300); left;
		     left--) {
			schedule_task(b.s, 1 + (int32_t)rng_below(b.rng, 3));
			if (k % 2)
				schedule_software(b.s, 1e-7 * rng_below(b.rng, 20),
				                  1e-6 * rng_below(b.rng, 20));
			for (uint32_t m = 1 + rng_below(b.rng, most); m; m--)
				message(&b, (int32_t)rng_below(b.rng, n),
				        (int32_t)rng_below(b.rng, n),
				        1e4 * (1 + rng_below(b.rng, sizes)));
		}
		schedule_end(b.s);
	}
	bench_free(&b);
}
END_TEST

/*
 * All devices do the same, on tori that look alike from everywhere: few kinds. In turn a
 * shift per task, several, two in one task, and all of that with one device that sends more.
 */
START_TEST(alike_rounds)
{
	struct bench b = bench_new(specs[_i], 0);
	int32_t n = b.platform->machine->ndevices;

	for (int k = 0; k < 12; k++) {
		schedule_begin(&b);
		for (int32_t d = 0; d < n; d++)
			for (int32_t shift = 1 + k % 7; shift < n; shift += 9 + 3 * k) {
				schedule_task(b.s, 1 + shift % 2);
				message(&b, d, (d + shift) % n, 3e5 * (1 + shift % 3));
				if (k % 3 == 0)
					message(&b, d, (d + 2 * shift) % n, 1e5);
				if (k % 4 == 0 && d == 5)
					message(&b, d, 7, 2e5);
			}
		schedule_end(b.s);
	}
	bench_free(&b);
}
END_TEST

/* One task at a time, unbalanced, with delays and limits: it has its links to itself. */
START_TEST(a_task_alone)
{
	struct bench b = bench_new("tpu-7x:2x4x4", 7);

	for (int k = 0; k < 200; k++) {
		schedule_begin(&b);
		schedule_task(b.s, 1 + (int32_t)rng_below(b.rng, 3));
		schedule_software(b.s, 1e-7 * rng_below(b.rng, 20),
		                  1e-6 * rng_below(b.rng, 20));
		for (uint32_t left = 1 + rng_below(b.rng, 40); left; left--)
			message(&b, (int32_t)rng_below(b.rng, 64),
			        (int32_t)rng_below(b.rng, 64),
			        1e4 * (1 + rng_below(b.rng, 50)));
		schedule_end(b.s);
	}
	bench_free(&b);
}
END_TEST

/* 512 tasks of two random messages, all in one piece. */
START_TEST(a_large_piece)
{
	struct bench b = bench_new("tpu-v4:8x8x8", 5);

	for (int k = 0; k < 2; k++) {
		schedule_begin(&b);
		for (int32_t d = 0; d < 512; d++) {
			schedule_task(b.s, 1);
			for (int m = 0; m < 2; m++)
				message(&b, d, (int32_t)rng_below(b.rng, 512),
				        1e4 * (1 + rng_below(b.rng, k ? 3 : 50)));
		}
		schedule_end(b.s);
	}
	bench_free(&b);
}
END_TEST

/* 100,000 messages that wait for each other in all ways: neither clock takes them. */
START_TEST(too_many_ways)
{
	struct bench b = bench_new("tpu-v4:16x16x16", 5);
	char why[300] = "";

	schedule_begin(&b);
	schedule_task(b.s, 1);
	for (int k = 0; k < 100000; k++) {
		int32_t src = (int32_t)rng_below(b.rng, 4096);

		message(&b, src, (src + 1 + k % 4095) % 4096,
		        1e4 * (1 + rng_below(b.rng, 1000)));
	}
	schedule_end(b.s);
	for (int twice = 0; twice < 2; twice++) {
		ck_assert_double_eq(fluid_clock(b.fluid, b.s, why, sizeof(why)),
		                    CLOCK_REFUSED_S);
		ck_assert_str_eq(why, "100000 transfers share 24576 links in too many "
		                      "ways for fluid; model takes them");
	}
	ck_assert_double_eq(simgrid_clock(b.simgrid, b.s, why, sizeof(why)),
	                    CLOCK_REFUSED_S);
	ck_assert_str_eq(why,
	                 "takes rounds of up to 67108864 messages times hosts, but "
	                 "one has 100000 messages between 4096 hosts");
	ck_assert_ptr_null(b.platform->host);
	b.n = 0;
	bench_free(&b);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("fluid, random rounds");
	TCase *tcase = tcase_create("fluid, random rounds");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, random_rounds, 0, COUNT(specs));
	tcase_add_loop_test(tcase, alike_rounds, 0, COUNT(specs));
	tcase_add_test(tcase, a_task_alone);
	tcase_add_test(tcase, a_large_piece);
	tcase_add_test(tcase, too_many_ways);
	suite_add_tcase(suite, tcase);
	return suite;
}
