#include "cost/fair_memo.h"
#include "tests/tests.h"

#include "base/rng.h"
#include "bound_machine.h"
#include "cost/fluid.h"
#include "cost/model.h"

#include <check.h>

#include <string.h>

/* What the clock fluid remembers, and what it refuses. */

enum { TASKS = 3, USES = 5, LINKS = 4, FIGURES = 2 * TASKS + USES + LINKS };

struct made {
	struct fair f;
	struct fair_task task[TASKS];
	struct fair_use use[USES];
	double link_Bps[LINKS];
};

/* A system with these figures, in order. */
static void make(struct made *m, const double *figure)
{
	m->f = (struct fair){.ntasks = TASKS,
	                     .nuses = USES,
	                     .nlinks = LINKS,
	                     .task = m->task,
	                     .use = m->use,
	                     .link_Bps = m->link_Bps};
	for (int t = 0; t < TASKS; t++, figure += 2)
		m->task[t] = (struct fair_task){figure[0], figure[1], t, t == 2 ? 3 : 1};
	for (int u = 0; u < USES; u++)
		m->use[u] = (struct fair_use){u % LINKS, 1, *figure++};
	memcpy(m->link_Bps, figure, sizeof(m->link_Bps));
}

/* The figures 1, 2, ... but for one that differs in its last digits. */
static void make_changed(struct made *m, int changed)
{
	double figure[FIGURES];

	for (int i = 0; i < FIGURES; i++)
		figure[i] = (1 + i) * (i == changed ? 1 + 1e-15 : 1);
	make(m, figure);
}

/* Systems that differ in one figure are different ones, and each is found again. */
START_TEST(all_figures_count)
{
	struct fair_memo *memo = fair_memo_new();
	struct made m;
	double seconds;

	for (int changed = 0; changed < FIGURES; changed++) {
		make_changed(&m, changed);
		ck_assert(!fair_memo_find(&seconds, memo, &m.f));
		fair_memo_add(memo, &m.f, changed);
	}
	for (int changed = 0; changed < FIGURES; changed++) {
		make_changed(&m, changed);
		ck_assert(fair_memo_find(&seconds, memo, &m.f));
		ck_assert_double_eq(seconds, changed);
	}
	m.f.nuses--;
	ck_assert(!fair_memo_find(&seconds, memo, &m.f));
	m.f.nuses++;
	m.use[0].link = 3;
	ck_assert(!fair_memo_find(&seconds, memo, &m.f));
	m.use[0].link = 0;
	m.use[0].tasks = 2;
	ck_assert(!fair_memo_find(&seconds, memo, &m.f));
	fair_memo_free(memo);
	fair_memo_free(NULL);
}
END_TEST

/* When there are too many, all are forgotten, and later ones are kept again. */
START_TEST(it_forgets)
{
	struct fair_memo *memo = fair_memo_new();
	double figure[FIGURES] = {0}, seconds;
	struct made m;
	int found = 0;

	for (int i = 0; i <= FAIR_MEMO_MAX; i++) {
		figure[3] = i;
		make(&m, figure);
		fair_memo_add(memo, &m.f, i);
	}
	for (int i = 0; i <= FAIR_MEMO_MAX; i++) {
		figure[3] = i;
		make(&m, figure);
		if (!fair_memo_find(&seconds, memo, &m.f))
			continue;
		ck_assert_double_eq(seconds, i);
		found++;
	}
	ck_assert_int_eq(found, 1);
	fair_memo_free(memo);
}
END_TEST

/* A round of up to 8 random messages, each a task. */
static void make_round(struct schedule *s, struct arena *a, struct rng *r,
                       const struct machine *m)
{
	uint32_t n = (uint32_t)m->ndevices;

	*s = (struct schedule){.arena = a};
	schedule_round(s);
	for (uint32_t left = 1 + rng_below(r, 8); left; left--) {
		int32_t src = (int32_t)rng_below(r, n), dst = (int32_t)rng_below(r, n);

		schedule_task(s, 1 + (int32_t)rng_below(r, 2));
		schedule_message(s, machine_fabric(m, src, dst), src, dst,
		                 1e5 * (1 + rng_below(r, 2)));
	}
	schedule_end(s);
}

/* Equal schedules have equal times, whatever the workspace has timed before. */
START_TEST(what_was_timed_does_not_matter)
{
	struct arena *a = arena_new();
	struct rng *r = rng_new(31);

	for (int k = 0; k < 200; k++) {
		struct machine *m = random_any_machine(r, a, 4 + k % 13, 1, k % 3 != 0);
		struct fluid *kept = fluid_new(m);

		for (int i = 0; i < 12; i++) {
			struct fluid *fresh = fluid_new(m);
			struct schedule s;
			char why[200] = "";
			double time_s;

			make_round(&s, a, r, m);
			time_s = fluid_clock(fresh, &s, why, sizeof(why));
			ck_assert_str_eq(why, "");
			for (int twice = 0; twice < 2; twice++)
				ck_assert_double_eq(
					fluid_clock(kept, &s, why, sizeof(why)), time_s);
			fluid_free(fresh);
		}
		fluid_free(kept);
		arena_reset(a);
	}
	rng_free(r);
	arena_free(a);
}
END_TEST

START_TEST(no_route)
{
	struct arena *a = arena_new();
	struct machine *m = machine_gpu(a, 2, 3, bound_nvlink, bound_nic, bound_device);
	struct fluid *w = fluid_new(m);
	struct schedule s = {.arena = a};
	char why[200] = "";

	schedule_round(&s);
	schedule_task(&s, 1);
	schedule_message(&s, 0, 2, 3, 7);
	schedule_end(&s);
	ck_assert_double_eq(fluid_clock(w, &s, why, sizeof(why)), CLOCK_FAILED_S);
	ck_assert(strstr(why, "a message has no route on") == why);
	fluid_free(w);
	arena_free(a);
}
END_TEST

/* 9,000 messages of 4,000 hops. */
START_TEST(too_many_links)
{
	struct arena *a = arena_new();
	int32_t n = 8000;
	bool wrap = true;
	struct machine *m = machine_torus(a, 1, &n, &wrap, bound_ici, bound_device);
	struct fluid *w = fluid_new(m);
	struct schedule s = {.arena = a};
	char why[200] = "";

	schedule_round(&s);
	schedule_task(&s, 1);
	for (int32_t i = 0; i < 9000; i++)
		schedule_message(&s, 0, i % 8000, (i + 4000) % 8000, 7);
	schedule_end(&s);
	ck_assert_double_eq(fluid_clock(w, &s, why, sizeof(why)), CLOCK_REFUSED_S);
	ck_assert_str_eq(why,
	                 "the routes of a round have more than 33554432 links, too "
	                 "many for fluid; model takes them");
	fluid_free(w);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("fair, remembered");
	TCase *c = tcase_create("fair, remembered");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, all_figures_count);
	tcase_add_test(c, it_forgets);
	tcase_add_test(c, what_was_timed_does_not_matter);
	tcase_add_test(c, no_route);
	tcase_add_test(c, too_many_links);
	suite_add_tcase(suite, c);
	return suite;
}
