/*
 * Spreading boxes over replicas, against all ways of spreading them, and the prices of
 * paths that decide it.
 */
#include "direct_help.h"
#include "planner/send/send.h"
#include "tests/tests.h"

#include "base/rng.h"
#include "price/price.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct problem *problem_of(const struct problem_text *t)
{
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, arena, t, &e) == OK, "%s: %s", t->array, e.text);
	return p;
}

/* --- spreading -------------------------------------------------------------------- */

enum { BOXES_MAX = 7, SENDERS_MAX = 4 };

static double best_load(const struct sending *s, int32_t *sender, int32_t box)
{
	double best = INFINITY, sum;

	if (box == s->nboxes)
		return send_load(&sum, s, sender);
	for (int32_t k = 0; k < s->nsenders; k++) {
		sender[box] = k;
		best = fmin(best, best_load(s, sender, box + 1));
	}
	return best;
}

/*
 * Kinds: boxes of one size and paths of one price, which is solved exactly; boxes of
 * many sizes, within Graham's bound; both without any work too; paths of two prices; of
 * many.
 */
START_TEST(the_busiest_sender_is_near_the_least)
{
	struct rng *r = rng_new(40 + (uint64_t)_i);
	double elements[BOXES_MAX], price[BOXES_MAX * SENDERS_MAX], sum, ratio = 0;
	int32_t sender[BOXES_MAX], best[BOXES_MAX];
	enum { ROUNDS = 40 };

	for (int round = 0; round < ROUNDS; round++) {
		struct sending s = {1 + (int32_t)rng_below(r, BOXES_MAX),
		                    2 + (int32_t)rng_below(r, SENDERS_MAX - 1),
		                    elements, price};
		const bool worked = round % 4 > 0;
		int64_t work = worked ? 1 << 20 : 0;
		double load, least;

		for (int i = 0; i < s.nboxes; i++)
			elements[i] = _i == 0 ? 3 : 1 + rng_below(r, 20);
		for (int i = 0; i < s.nboxes * s.nsenders; i++)
			price[i] = _i < 2    ? 0.5
			           : _i == 2 ? (rng_below(r, 2) ? 1 : 7)
			                     : 1 + rng_below(r, 9);
		send_spread(sender, &s, &work);
		load = send_load(&sum, &s, sender);
		least = best_load(&s, best, 0);
		if (_i == 0)
			ck_assert(load == least);
		if (_i == 1)
			ck_assert(load <= least * (4. / 3 - 1. / (3 * s.nsenders)));
		if (worked)
			ck_assert(load <= 1.5 * least);
		ratio += load / least / ROUNDS;
	}
	ck_assert_msg(ratio < 1.03, "mean %g times the least", ratio);
	rng_free(r);
}
END_TEST

/* Sender 0 is 24 times nearer, then twice: loads 4 and 0, then 4 and 4. */
START_TEST(near_senders_come_first)
{
	static const double one[] = {1, 1, 1, 1, 1, 1};
	static const double far[] = {1, 24, 1, 24, 1, 24, 1, 24};
	static const double twice[] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
	const struct sending four = {4, 2, one, far}, six = {6, 2, one, twice};
	int64_t work = 1 << 20;
	int32_t sender[6];
	double sum;

	send_spread(sender, &four, &work);
	ck_assert(send_load(&sum, &four, sender) == 4);
	ck_assert(sum == 4);
	send_spread(sender, &six, &work);
	ck_assert(send_load(&sum, &six, sender) == 4);
	ck_assert(sum == 8);
	ck_assert_int_lt(work, 1 << 20);
}
END_TEST

/* The least load of the busiest sender, and the least sum at that, by trying all. */
static void try_all(const struct sending *s, int32_t *sender, int32_t box, double *most,
                    double *sum)
{
	double load, all;

	if (box < s->nboxes) {
		for (sender[box] = 0; sender[box] < s->nsenders; sender[box]++)
			try_all(s, sender, box + 1, most, sum);
		return;
	}
	load = send_load(&all, s, sender);
	if (load < *most || (load == *most && all < *sum)) {
		*most = load;
		*sum = all;
	}
}

/* Boxes for devices of a ring, where every hop costs a little more. */
START_TEST(rings_are_shared_out)
{
	struct rng *r = rng_new(80 + (uint64_t)_i);
	double elements[BOXES_MAX], price[BOXES_MAX * SENDERS_MAX], ratio = 0;
	int32_t sender[BOXES_MAX], best[BOXES_MAX];
	enum { ROUNDS = 30, RING = 16 };

	for (int round = 0; round < ROUNDS; round++) {
		const struct sending s = {BOXES_MAX, SENDERS_MAX, elements, price};
		double most = INFINITY, least_sum = INFINITY, sum, load;
		int64_t work = 1 << 20;

		for (int b = 0; b < BOXES_MAX; b++) {
			int to = (int)rng_below(r, RING);

			elements[b] = 5;
			for (int k = 0; k < SENDERS_MAX; k++) {
				int hops = abs(to - k * (1 + _i));

				hops = hops < RING - hops ? hops : RING - hops;
				price[b * SENDERS_MAX + k] = 1 + hops / 64.;
			}
		}
		send_spread(sender, &s, &work);
		load = send_load(&sum, &s, sender);
		try_all(&s, best, 0, &most, &least_sum);
		ck_assert_msg(load <= 1.05 * most, "%g, least %g", load, most);
		ratio += load / most / ROUNDS;
	}
	ck_assert_msg(ratio < 1.005, "mean %g times the least", ratio);
	rng_free(r);
}
END_TEST

/*
 * Whatever work there is: every box has a sender, equal input gives an equal answer, what
 * is spent exceeds what there is by no more than a few looks at each price and edge, and
 * the busiest sender is near what much work makes of it.
 */
START_TEST(work_is_limited)
{
	enum { BOXES = 90, SENDERS = 24, PRICES = BOXES * SENDERS };
	struct rng *r = rng_new(120 + (uint64_t)_i);
	double elements[BOXES], price[PRICES], sum, load[6];
	int32_t sender[BOXES], again[BOXES];
	const struct sending s = {BOXES, SENDERS, elements, price};
	const int64_t works[] = {0,           3 * PRICES,  8 * PRICES,
	                         20 * PRICES, 60 * PRICES, 1 << 30};

	for (int b = 0; b < BOXES; b++)
		elements[b] = _i % 2 ? 7 : 5 + rng_below(r, 3);
	/* Half of the senders are nearest to all boxes: left to prices, they do it all. */
	for (int i = 0; i < PRICES; i++)
		price[i] = 1 + (i % SENDERS % 2 * 4 + rng_below(r, 8)) / 64.;
	for (int i = 0; i < 6; i++) {
		int64_t work = works[i], same = works[i];

		send_spread(sender, &s, &work);
		send_spread(again, &s, &same);
		ck_assert(memcmp(sender, again, sizeof(sender)) == 0 && same == work);
		for (int b = 0; b < BOXES; b++)
			ck_assert(sender[b] >= 0 && sender[b] < SENDERS);
		ck_assert_int_lt(work, works[i]);
		ck_assert_int_gt(work, -8 * PRICES);
		load[i] = send_load(&sum, &s, sender);
	}
	for (int i = 0; i < 6; i++)
		ck_assert_msg(load[i] <= 1.4 * load[5], "work %lld: %g, %g",
		              (long long)works[i], load[i], load[5]);
	rng_free(r);
}
END_TEST

/* --- on machines ------------------------------------------------------------------ */

static const struct link nvlink = {.bandwidth_Bps = 240e9, .latency_s = 0.7e-6};
static const struct link nic = {.bandwidth_Bps = 23e9, .latency_s = 2.5e-6};
static const struct device device = {.memory_Bps = 8e11, .launch_s = 5e-6};

/* Both nodes hold all tiles: no device asks the other node. */
START_TEST(nodes_serve_themselves)
{
	const struct problem_text t = {.array = "f32[12,5]",
	                               .mesh = "n=2,g=4",
	                               .from = "P('g')",
	                               .to = _i ? "P(None,'g')" : "P()"};
	struct machine *m = machine_gpu(arena, 2, 4, nvlink, nic, device);
	struct pricer *pricer = pricer_new(m, NULL);
	struct prices prices = pricer_prices(pricer);
	const struct problem *p = problem_of(&t);
	const struct plan *plan = direct_plan(arena, p, &prices);

	ck_assert_int_gt(plan->step[0].ntransfers, 0);
	for (int64_t i = 0; i < plan->step[0].ntransfers; i++)
		ck_assert_int_eq(plan->step[0].transfers[i].src / 4,
		                 plan->step[0].transfers[i].dst / 4);
	/* Up and down are two hops; prices are in units of the fastest link, rounded. */
	ck_assert(fabs(prices.path(prices.self, p, 0, 3) - 66 / 64.) < 1e-12);
	ck_assert(fabs(prices.path(prices.self, p, 3, 4) * 23 / 240 - 66 / 64.) < 1e-6);
	pricer_free(pricer);
}
END_TEST

START_TEST(paths_of_machines_that_are_too_small)
{
	const struct problem_text t = {
		.array = "f32[12]", .mesh = "x=16", .from = "P()", .to = "P('x')"};
	static const int32_t platform[16] = {3, 8};
	const struct placement place = {.platform = platform, .n = 16};
	struct machine *m = machine_gpu(arena, 2, 4, nvlink, nic, device);
	struct pricer *pricer = pricer_new(m, _i ? &place : NULL);
	struct prices prices = pricer_prices(pricer);

	ck_assert(prices.path(prices.self, problem_of(&t), 0, 1) == PRICE_IMPOSSIBLE_S);
	pricer_free(pricer);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("send_spread");
	TCase *c = tcase_create("send_spread");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, the_busiest_sender_is_near_the_least, 0, 4);
	tcase_add_test(c, near_senders_come_first);
	tcase_add_loop_test(c, rings_are_shared_out, 0, 4);
	tcase_add_loop_test(c, work_is_limited, 0, 4);
	tcase_add_loop_test(c, nodes_serve_themselves, 0, 2);
	tcase_add_loop_test(c, paths_of_machines_that_are_too_small, 0, 2);
	suite_add_tcase(suite, c);
	return suite;
}
