#include "cost/fair.h"
#include "tests/tests.h"

#include "base/rng.h"
#include "cost/alike.h"
#include "cost/fair_rates.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

enum { TASKS = 200, USES = 4000 };

/* Room for a system that a test makes. */
struct made {
	struct fair f;
	struct fair_task task[TASKS];
	struct fair_use use[USES];
	double link_Bps[100];
};

static void made_start(struct made *m, int32_t nlinks, double link_Bps)
{
	m->f = (struct fair){.task = m->task,
	                     .use = m->use,
	                     .link_Bps = m->link_Bps,
	                     .nlinks = nlinks};
	for (int32_t l = 0; l < nlinks; l++)
		m->link_Bps[l] = link_Bps;
}

static void made_task(struct made *m, double after_s, double latency_s)
{
	m->task[m->f.ntasks++] = (struct fair_task){after_s, latency_s, m->f.nuses, 0};
}

static void made_use(struct made *m, int32_t link, double bytes)
{
	m->use[m->f.nuses++] = (struct fair_use){link, 1, bytes};
	m->task[m->f.ntasks - 1].nuses++;
}

static double made_s(const struct made *m)
{
	return fair_s(&m->f, 1e-4, INT64_MAX);
}

/*
 * Times worked out by hand, links of 1 GB/s; bytes of each task on links 0, 1, 2.
 */
static const struct {
	struct {
		double after_us, latency_us, kB[3];
	} task[4];
	double us;
} rows[] = {
	{{{0, 0, {5}}}, 5},
	{{{3, 2, {5}}}, 10},
	/* the second is alone from 1 us on */
	{{{0, 0, {4}}, {0, 0, {0, 9}}}, 9},
	/* half each up to 8 us, then the rest of 6 kB alone: the link is never idle */
	{{{0, 0, {4}}, {0, 0, {10}}}, 14},
	/* 1 us alone, then half each: 1 + 2 x 3 and 2 kB alone */
	{{{0, 1, {4}}, {1, 1, {5}}}, 10},
	/*
	 * A task on both links goes at half speed while either is shared, and the rest of
	 * the other link is then for the other task: 4 kB at half, until 8 us; meanwhile
	 * 4 kB of both others; then 2 kB and 3 kB alone.
	 */
	{{{0, 0, {4, 4}}, {0, 0, {6}}, {0, 0, {0, 7}}}, 11},
	/* twice the bytes on one link: that one binds */
	{{{0, 0, {2, 4, 8}}}, 8},
};

START_TEST(by_hand)
{
	struct made m;

	made_start(&m, 3, 1e9);
	for (int t = 0; t < 4; t++) {
		const double *kB = rows[_i].task[t].kB;

		if (kB[0] + kB[1] + kB[2] == 0)
			break;
		made_task(&m, 1e-6 * rows[_i].task[t].after_us,
		          1e-6 * rows[_i].task[t].latency_us);
		for (int l = 0; l < 3; l++)
			if (kB[l] > 0)
				made_use(&m, l, 1e3 * kB[l]);
	}
	ck_assert_double_eq_tol(1e6 * made_s(&m), rows[_i].us, 1e-9);
}
END_TEST

/* Random tasks on random links; `copies` of all, side by side. */
static void make_random(struct made *m, struct rng *r, int copies)
{
	int32_t tasks = 2 + (int32_t)rng_below(r, 30),
		links = 1 + (int32_t)rng_below(r, 20);
	struct made one;

	made_start(&one, links, 1e9);
	for (int32_t l = 0; l < links; l++)
		one.link_Bps[l] = 1e9 * (1 + rng_below(r, 3));
	for (int32_t t = 0; t < tasks; t++) {
		int32_t first = (int32_t)rng_below(r, (uint32_t)links);
		int32_t n = 1 + (int32_t)rng_below(r, (uint32_t)(links - first));

		made_task(&one, 1e-6 * (t / 5), 1e-6 * rng_below(r, 4));
		for (int32_t k = 0; k < n; k++)
			made_use(&one, first + k, 1e3 * (1 + rng_below(r, 4)));
	}
	made_start(m, copies * links, 1e9);
	for (int64_t t = 0; t < one.f.ntasks; t++)
		for (int c = 0; c < copies; c++) {
			const struct fair_task *from = &one.task[t];

			made_task(m, from->after_s, from->latency_s);
			for (int64_t k = 0; k < from->nuses; k++) {
				const struct fair_use *u = &one.use[from->first + k];

				/* copies list their links in other orders */
				if (c % 2)
					u = &one.use[from->first + from->nuses - 1 - k];
				made_use(m, c * links + u->link, u->bytes);
			}
		}
	for (int32_t l = 0; l < copies * links; l++)
		m->link_Bps[l] = one.link_Bps[l % links];
}

/* Four copies fold into one or less, and take as long. */
START_TEST(copies_fold)
{
	struct rng *r = rng_new(3);
	static struct made m;

	for (int k = 0; k < 300; k++) {
		struct fair kinds;

		make_random(&m, r, 4);
		ck_assert(alike_fold(&kinds, &m.f, INT64_MAX));
		ck_assert_int_le(4 * kinds.ntasks, m.f.ntasks);
		ck_assert_int_le(4 * kinds.nlinks, m.f.nlinks);
		ck_assert_double_eq_tol(fair_s(&kinds, 1e-4, INT64_MAX) / made_s(&m), 1,
		                        1e-10);
		fair_free(&kinds);
	}
	rng_free(r);
}
END_TEST

/*
 * Of bytes that no binary digits write, links that are just full: 3 GB/s, and 2 GB/s for
 * links 3 and 6. Tasks 0 and 2 fill link 5, at 1/2 and 3/4 in a us, and are settled; task
 * 2 takes its part of link 0 twice, so that task 1 gets 3/16 until 4/3 us, then 2/9 of
 * link 6. It has moved 1/4 then and needs 27/8 us more.
 */
START_TEST(a_tie_folds)
{
	static const double kB[3][7] = {
		{0, 2, 0, 4, 0, 3, 0}, {12, 3, 0, 0, 0, 0, 9}, {1, 1, 3, 0, 1, 2, 0}};
	static struct made m;

	for (int copies = 1; copies <= 4; copies++) {
		struct fair kinds;

		made_start(&m, 7 * copies, 3e9);
		for (int c = 0; c < copies; c++)
			m.link_Bps[7 * c + 3] = m.link_Bps[7 * c + 6] = 2e9;
		for (int t = 0; t < 3 * copies; t++) {
			made_task(&m, 0, 0);
			for (int l = 0; l < 7; l++)
				if (kB[t % 3][l] > 0)
					made_use(&m, t / 3 * 7 + l,
					         1e3 * kB[t % 3][l] / _i);
		}
		ck_assert(alike_fold(&kinds, &m.f, INT64_MAX));
		ck_assert_int_eq(kinds.ntasks, 3);
		ck_assert_double_eq_tol(1e6 * _i * fair_s(&kinds, 1e-4, INT64_MAX),
		                        4. / 3 + 27. / 8, 1e-9);
		fair_free(&kinds);
	}
}
END_TEST

/* Each of n tasks on links i and i + 1 of a ring: one kind, whose links two use. */
START_TEST(a_ring_is_one_kind)
{
	static struct made m;
	struct fair kinds;

	made_start(&m, 12, 1e9);
	for (int32_t t = 0; t < 12; t++) {
		made_task(&m, 0, 1e-6);
		made_use(&m, t, 5e3);
		made_use(&m, (t + 1) % 12, 5e3);
	}
	ck_assert(alike_fold(&kinds, &m.f, INT64_MAX));
	ck_assert_int_eq(kinds.ntasks, 1);
	ck_assert_int_eq(kinds.nlinks, 1);
	ck_assert_int_eq(kinds.nuses, 1);
	ck_assert_int_eq(kinds.use->tasks, 2);
	ck_assert_double_eq_tol(fair_s(&kinds, 1e-4, INT64_MAX), 11e-6, 1e-15);
	fair_free(&kinds);

	/* one slower link, and all differ by their distance from it, alike on both sides */
	m.link_Bps[0] = 5e8;
	ck_assert(alike_fold(&kinds, &m.f, INT64_MAX));
	ck_assert_int_eq(kinds.ntasks, 6);
	ck_assert_int_eq(kinds.nlinks, 7);
	ck_assert_double_eq_tol(fair_s(&kinds, 1e-4, INT64_MAX), made_s(&m), 1e-15);
	fair_free(&kinds);

	/* and one task that begins later: both sides differ */
	m.task[11].after_s = 1e-6;
	m.task[11].first = m.task[10].first;
	m.task[10].first = m.task[11].first + 2;
	ck_assert(alike_fold(&kinds, &m.f, INT64_MAX));
	ck_assert_int_eq(kinds.ntasks, 12);
	fair_free(&kinds);
}
END_TEST

/*
 * 1 kB on link i and 2 kB on link i + 1 of a ring: one task and one link, used in two ways.
 * All together fill every link with 3 kB.
 */
START_TEST(a_link_of_two_uses)
{
	static struct made m;
	struct fair kinds;

	made_start(&m, 12, 1e9);
	for (int32_t t = 0; t < 12; t++) {
		made_task(&m, 0, 0);
		made_use(&m, t, 1e3);
		made_use(&m, (t + 1) % 12, 2e3);
	}
	ck_assert(alike_fold(&kinds, &m.f, INT64_MAX));
	ck_assert_int_eq(kinds.ntasks, 1);
	ck_assert_int_eq(kinds.nlinks, 1);
	ck_assert_int_eq(kinds.nuses, 2);
	ck_assert_double_eq_tol(1e6 * fair_s(&kinds, 1e-4, INT64_MAX), 3, 1e-9);
	ck_assert_double_eq_tol(1e6 * made_s(&m), 3, 1e-9);
	fair_free(&kinds);
}
END_TEST

/*
 * Routes as they are, with their lengths between them, are the same system as one with uses:
 * of 12 links in a ring, of which every task takes up to three, the same way all round.
 */
START_TEST(routes_are_uses)
{
	struct rng *r = rng_new(3);

	for (int k = 0; k < 100; k++) {
		int32_t routes[400], n = 0, ways = 1 + k % 4;
		struct fair_task task[100];
		double bytes[100], link_Bps[12];
		struct fair f = {.nlinks = 12,
		                 .task = task,
		                 .link_Bps = link_Bps,
		                 .link = routes,
		                 .bytes = bytes},
			    written, kinds, same;

		for (int l = 0; l < 12; l++)
			link_Bps[l] = l % 6 < k % 3 ? 2e9 : 1e9;
		for (int w = 0; w < ways; w++) {
			int32_t length = 1 + (int32_t)rng_below(r, 3);
			double latency_s = 1e-9 * rng_below(r, 3);
			double each = 1e3 * (1 + rng_below(r, 3));

			for (int32_t t = 0; t < 12; t++) {
				routes[n++] = length;
				bytes[f.ntasks] = each;
				task[f.ntasks++] =
					(struct fair_task){0, latency_s, n, length};
				for (int32_t l = 0; l < length; l++)
					routes[n++] = (t + l) % 12;
				f.nuses += length;
			}
		}
		fair_write_out(&written, &f);
		ck_assert_int_eq(written.nuses, f.nuses);
		ck_assert(alike_fold(&kinds, &f, INT64_MAX));
		ck_assert(alike_fold(&same, &written, INT64_MAX));
		ck_assert(fair_equal(&kinds, &same));
		ck_assert_int_le(kinds.ntasks, 6 * ways);
		ck_assert_double_eq_tol(fair_s(&kinds, 1e-4, INT64_MAX),
		                        fair_s(&written, 1e-4, INT64_MAX), 1e-12);
		fair_free(&written);
		fair_free(&kinds);
		fair_free(&same);
	}
	rng_free(r);
}
END_TEST

/*
 * What is kept from one change to the next is what is found from nothing, whatever came
 * and went.
 */
START_TEST(kept_rates_are_right)
{
	struct rng *r = rng_new(9);
	static struct made m;

	for (int k = 0; k < 200; k++) {
		struct rates *kept;
		bool moves[TASKS] = {0};

		make_random(&m, r, 1 + k % 4);
		kept = rates_new(&m.f, 1e-4, INT64_MAX);
		for (int change = 0; change < 40; change++) {
			struct rates *fresh = rates_new(&m.f, 1e-4, INT64_MAX);
			int32_t n = (int32_t)m.f.ntasks;
			const double *a, *b;

			/* neighbours come and go together */
			for (int32_t t = (int32_t)rng_below(r, (uint32_t)n), end = t + 3;
			     t < end && t < n; t++) {
				if (moves[t])
					rates_end(kept, t);
				else
					rates_begin(kept, t);
				moves[t] = !moves[t];
			}
			a = rates_find(kept);
			for (int32_t t = 0; t < n; t++)
				if (moves[t])
					rates_begin(fresh, t);
			b = rates_find(fresh);
			for (int32_t t = 0; t < n; t++)
				if (moves[t])
					ck_assert_double_eq_tol(a[t] / b[t], 1, 1e-12);
			rates_free(fresh);
		}
		rates_free(kept);
	}
	rng_free(r);
}
END_TEST

START_TEST(too_much_work)
{
	static struct made m;
	struct rng *r = rng_new(1);

	make_random(&m, r, 4);
	ck_assert_double_lt(fair_s(&m.f, 1e-4, 10), 0);
	ck_assert_double_gt(fair_s(&m.f, 1e-4, 100000000), 0);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("fair");
	TCase *tcase = tcase_create("fair");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, by_hand, 0, COUNT(rows));
	tcase_add_test(tcase, copies_fold);
	tcase_add_loop_test(tcase, a_tie_folds, 1, 12);
	tcase_add_test(tcase, a_ring_is_one_kind);
	tcase_add_test(tcase, a_link_of_two_uses);
	tcase_add_test(tcase, routes_are_uses);
	tcase_add_test(tcase, kept_rates_are_right);
	tcase_add_test(tcase, too_much_work);
	suite_add_tcase(suite, tcase);
	return suite;
}
