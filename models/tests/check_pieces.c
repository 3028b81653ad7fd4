#include "cost/pieces.h"
#include "tests/tests.h"

#include "base/rng.h"
#include "bound_machine.h"
#include "cost/model.h"
#include "cost/parallel.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct machine *ring(int32_t n)
{
	bool wrap = true;

	return machine_torus(arena, 1, &n, &wrap, bound_ici, bound_device);
}

/* Two workspaces, to compare the systems of two pieces. */
static struct parallel *made[2];

/* Whether two pieces of the round that was parted last have equal systems. */
static bool alike(const struct schedule *s, const struct pieces *w,
                  const struct piece *a, const struct piece *b)
{
	double until_s[2];
	const struct fair *f = parallel_make(&until_s[0], made[0], s, s->round, w, a);
	const struct fair *g = parallel_make(&until_s[1], made[1], s, s->round, w, b);

	return fair_equal(f, g) && until_s[0] == until_s[1];
}

static void alike_open(const struct machine *m)
{
	for (int i = 0; i < 2; i++)
		made[i] = parallel_new(m);
}

static void alike_close(void)
{
	for (int i = 0; i < 2; i++)
		parallel_free(made[i]);
}

/* Messages of numbered tasks on a ring of 16. */
struct sent {
	int task;
	int32_t src, dst;
	double bytes;
};

static const struct {
	struct sent sent[6];
	double delay_s; /* of the last task */
	int npieces;
	int piece[6]; /* of each task */
	int alike[6]; /* of each piece: the first one like it */
} rows[] = {
	{{{0, 0, 1, 5}}, 0, 1, {0}, {0}},
	{{{0, 0, 1, 5}, {1, 4, 5, 5}}, 0, 2, {0, 1}, {0, 0}},
	{{{0, 0, 1, 5}, {1, 4, 5, 6}}, 0, 2, {0, 1}, {0, 1}},
	{{{0, 0, 1, 5}, {1, 4, 5, 5}}, 1e-6, 2, {0, 1}, {0, 1}},
	{{{0, 0, 1, 5}, {1, 1, 0, 5}}, 0, 2, {0, 1}, {0, 0}},
	{{{0, 0, 2, 5}, {1, 1, 2, 5}}, 0, 1, {0, 0}, {0}},
	/* 0 and 2 meet through 1, which comes last */
	{{{0, 0, 2, 5}, {1, 3, 5, 5}, {2, 1, 4, 5}}, 0, 1, {0, 0, 0}, {0}},
	{{{0, 0, 2, 5}, {1, 8, 9, 5}, {2, 1, 3, 5}}, 0, 2, {0, 1, 0}, {0, 1}},
	/* one task of two messages against two tasks */
	{{{0, 0, 1, 5}, {0, 2, 3, 5}, {1, 5, 6, 5}, {2, 7, 8, 5}},
         0,
         3,
         {0, 1, 2},
         {0, 1, 1}},
	/* the same hops, but over a link twice */
	{{{0, 0, 1, 5}, {0, 0, 1, 5}, {1, 5, 6, 5}, {1, 6, 7, 5}}, 0, 2, {0, 1}, {0, 1}},
	/* two messages over one link are one of all their bytes */
	{{{0, 0, 1, 5}, {0, 0, 1, 5}, {1, 5, 6, 10}}, 0, 2, {0, 1}, {0, 0}},
};

START_TEST(by_hand)
{
	const struct machine *m = ring(16);
	struct pieces *w = pieces_new(m);

	alike_open(m);
	/* twice: the workspace forgets the round before */
	for (int twice = 0; twice < 2; twice++) {
		struct schedule s = {.arena = arena};
		const struct piece *piece;
		int32_t n;

		schedule_round(&s);
		for (int i = 0; i < 6 && rows[_i].sent[i].bytes > 0; i++) {
			const struct sent *t = &rows[_i].sent[i];

			if (!i || t->task != t[-1].task)
				schedule_task(&s, 1);
			schedule_message(&s, 0, t->src, t->dst, t->bytes);
		}
		schedule_software(&s, rows[_i].delay_s, 0);
		schedule_end(&s);
		ck_assert_int_eq(pieces_find(&piece, &n, w, &s, &s.round[0]), PIECES_OK);
		ck_assert_int_eq(n, rows[_i].npieces);
		for (int32_t p = 0; p < n; p++) {
			for (int32_t i = 0; i < piece[p].ntasks; i++)
				ck_assert_int_eq(rows[_i].piece[piece[p].task[i]], p);
			for (int32_t q = 0; q <= p; q++)
				if (alike(&s, w, &piece[p], &piece[q])) {
					ck_assert_int_eq(q, rows[_i].alike[p]);
					break;
				}
		}
	}
	alike_close();
	pieces_free(w);
}
END_TEST

/* Seconds of some tasks of a round as a schedule of their own. */
static double alone_s(struct model *model, const struct schedule *s,
                      const struct round *r, const struct piece *p)
{
	struct schedule own = {.arena = arena};

	schedule_round(&own);
	for (int64_t i = 0; i < p->ntasks; i++) {
		const struct task *t = &s->task[r->first + p->task[i]];

		schedule_task(&own, t->repeats);
		schedule_software(&own, t->delay_s, t->least_s);
		for (int64_t k = 0; k < t->nmessages; k++) {
			const struct message *msg = &s->message[t->first + k];

			schedule_message(&own, msg->fabric, msg->src, msg->dst,
			                 msg->bytes);
		}
	}
	schedule_end(&own);
	return model_schedule_s(model, &own);
}

/* Draws a round of some tasks, each of a message or two. */
static void draw_round(struct schedule *s, const struct machine *m, struct rng *r)
{
	int ntasks = 1 + (int)rng_below(r, 12);

	schedule_round(s);
	for (int i = 0; i < ntasks; i++) {
		schedule_task(s, 1 + (int32_t)rng_below(r, 2));
		schedule_software(s, rng_below(r, 8) ? 0 : 1e-6, 0);
		for (uint32_t left = 1 + rng_below(r, 2); left; left--) {
			int32_t src = (int32_t)rng_below(r, (uint32_t)m->ndevices);
			int32_t dst = (int32_t)rng_below(r, (uint32_t)m->ndevices);

			schedule_message(s, machine_fabric(m, src, dst), src, dst,
			                 1e5 * (1 + rng_below(r, 2)));
		}
	}
	schedule_end(s);
}

/* Checks the pieces of a round and returns their number; counts pairs that are alike. */
static int32_t check_round(const struct machine *m, struct model *model,
                           const struct schedule *s, int *repeated)
{
	struct pieces *w = pieces_new(m);
	const struct piece *piece;
	double longest_s = 0;
	int64_t tasks = 0;
	int32_t n;

	ck_assert_int_eq(pieces_find(&piece, &n, w, s, &s->round[0]), PIECES_OK);
	alike_open(m);
	for (int32_t p = 0; p < n; p++) {
		double own_s = alone_s(model, s, &s->round[0], &piece[p]);

		tasks += piece[p].ntasks;
		longest_s = own_s > longest_s ? own_s : longest_s;
		for (int32_t q = 0; q < p; q++)
			if (alike(s, w, &piece[p], &piece[q])) {
				ck_assert_double_eq(
					own_s,
					alone_s(model, s, &s->round[0], &piece[q]));
				(*repeated)++;
			}
	}
	alike_close();
	ck_assert_int_eq(tasks, s->ntasks);
	ck_assert_double_eq(longest_s, model_schedule_s(model, s));
	pieces_free(w);
	return n;
}

/*
 * Random rounds on random machines: every task is in one piece; a round takes as long as
 * its longest piece alone; pieces that are alike take equally long.
 */
START_TEST(pieces_stand_for_the_round)
{
	struct rng *r = rng_new(23);
	int several = 0, repeated = 0;

	for (int k = 0; k < 1500; k++) {
		struct machine *m =
			random_any_machine(r, arena, 4 + k % 13, 1, k % 3 != 0);
		struct model *model = model_new(m);
		struct schedule s = {.arena = arena};

		draw_round(&s, m, r);
		if (s.nrounds)
			several += check_round(m, model, &s, &repeated) > 1;
		model_free(model);
		arena_reset(arena);
	}
	ck_assert_int_gt(several, 200);
	ck_assert_int_gt(repeated, 50);
	rng_free(r);
}
END_TEST

START_TEST(no_route)
{
	struct machine *m =
		machine_gpu(arena, 2, 3, bound_nvlink, bound_nic, bound_device);
	struct pieces *w = pieces_new(m);
	struct schedule s = {.arena = arena};
	const struct piece *piece;
	int32_t n;

	schedule_round(&s);
	schedule_task(&s, 1);
	schedule_message(&s, 0, 1, 2, 7);
	schedule_message(&s, 0, 2, 3, 7);
	schedule_end(&s);
	ck_assert_int_eq(pieces_find(&piece, &n, w, &s, &s.round[0]), PIECES_NO_ROUTE);
	pieces_free(w);
	pieces_free(NULL);
}
END_TEST

/* 9,000 messages of 4,000 hops are too many, 8,000 are not. */
START_TEST(too_large)
{
	const struct machine *m = ring(8000);
	struct pieces *w = pieces_new(m);
	struct schedule s = {.arena = arena};
	const struct piece *piece;
	int32_t n;

	for (int messages = 8000; messages <= 9000; messages += 1000) {
		s = (struct schedule){.arena = arena};
		schedule_round(&s);
		schedule_task(&s, 1);
		for (int32_t i = 0; i < messages; i++)
			schedule_message(&s, 0, i % 8000, (i + 4000) % 8000, 7);
		schedule_end(&s);
		ck_assert_int_eq(pieces_find(&piece, &n, w, &s, &s.round[0]),
		                 messages > 8000 ? PIECES_TOO_LARGE : PIECES_OK);
	}
	pieces_free(w);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("pieces");
	TCase *c = tcase_create("pieces");

	tcase_set_timeout(c, 120);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, by_hand, 0, COUNT(rows));
	tcase_add_test(c, pieces_stand_for_the_round);
	tcase_add_test(c, no_route);
	tcase_add_test(c, too_large);
	suite_add_tcase(suite, c);
	return suite;
}
