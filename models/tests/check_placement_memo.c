#include "placement/memo.h"
#include "tests/tests.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A clock that counts its calls: the number of the call is its time, or it refuses. */
struct counter {
	int calls, refusals;
	int32_t ids[8]; /* of the last question */
};

static double count_s(void *self, const struct reduction_step *step, double held_bytes,
                      struct text *why)
{
	struct counter *c = self;
	size_t n = (size_t)step->groups.ngroups * (size_t)step->groups.size;

	ck_assert_double_gt(held_bytes, 0);
	memcpy(c->ids, step->groups.ids, (n < 8 ? n : 8) * sizeof(*c->ids));
	if (c->refusals-- > 0) {
		text_printf(why, "no");
		return -1;
	}
	return ++c->calls;
}

/* Of 4 groups of 2, or as the row says; `time_s` is the number of the call that answers. */
static const struct {
	enum op op;
	int32_t ngroups, size;
	int32_t ids[8];
	double held_bytes, time_s;
} question_table[] = {
	{OP_ALL_REDUCE, 4, 2, {0, 1, 2, 3, 4, 5, 6, 7}, 96, 1},
	{OP_ALL_REDUCE, 4, 2, {4, 5, 0, 1, 6, 7, 2, 3}, 96, 1}, /* groups swapped */
	{OP_ALL_REDUCE, 4, 2, {0, 1, 2, 3, 4, 5, 7, 6}, 96, 2}, /* another root */
	{OP_BROADCAST, 4, 2, {0, 1, 2, 3, 4, 5, 6, 7}, 96, 3},
	{OP_ALL_REDUCE, 4, 2, {0, 1, 2, 3, 4, 5, 6, 7}, 95.5, 4},
	{OP_ALL_REDUCE, 2, 4, {0, 1, 2, 3, 4, 5, 6, 7}, 96, 5},
	{OP_ALL_REDUCE, 2, 4, {4, 6, 7, 5, 0, 3, 2, 1}, 96, 5}, /* members too */
	{OP_ALL_REDUCE, 2, 4, {1, 2, 3, 0, 4, 5, 6, 7}, 96, 6},
	{OP_ALL_REDUCE, 1, 2, {0, 1}, 96, 7},
	{OP_BROADCAST, 4, 2, {6, 7, 4, 5, 2, 3, 0, 1}, 96, 3},
};

static struct reduction_step step_of(size_t i)
{
	return (struct reduction_step){.op = question_table[i].op,
	                               .groups = {question_table[i].ngroups,
	                                          question_table[i].size,
	                                          question_table[i].ids}};
}

START_TEST(asks_once_for_equal_groups)
{
	struct counter counter = {0};
	struct memo *m = memo_new((struct reduction_clock){count_s, &counter});
	struct reduction_clock clock = memo_clock(m);
	struct text why = {0};

	for (size_t i = 0; i < sizeof(question_table) / sizeof(*question_table); i++) {
		struct reduction_step step = step_of(i);

		ck_assert_double_eq(clock.step_s(clock.self, &step,
		                                 question_table[i].held_bytes, &why),
		                    question_table[i].time_s);
	}
	ck_assert_int_eq(counter.calls, 7);
	memo_free(m);
}
END_TEST

/* Groups are put to the clock by rising root, members by rising device from it on. */
START_TEST(asks_in_one_order)
{
	static const int32_t ids[8] = {6, 4, 7, 5, 3, 1, 2, 0};
	static const int32_t wanted[8] = {3, 0, 1, 2, 6, 7, 4, 5};
	struct reduction_step step = {.op = OP_REDUCE, .groups = {2, 4, ids}};
	struct counter counter = {0};
	struct memo *m = memo_new((struct reduction_clock){count_s, &counter});
	struct reduction_clock clock = memo_clock(m);

	clock.step_s(clock.self, &step, 8, NULL);
	ck_assert_mem_eq(counter.ids, wanted, sizeof(wanted));
	memo_free(m);
}
END_TEST

/* What was refused is asked again. */
START_TEST(forgets_refusals)
{
	struct counter counter = {.refusals = 2};
	struct memo *m = memo_new((struct reduction_clock){count_s, &counter});
	struct reduction_clock clock = memo_clock(m);
	struct reduction_step step = step_of(0);
	struct text why = {0};

	ck_assert_double_lt(clock.step_s(clock.self, &step, 96, &why), 0);
	ck_assert_double_lt(clock.step_s(clock.self, &step, 96, &why), 0);
	ck_assert_str_eq(why.s, "nono");
	ck_assert_double_eq(clock.step_s(clock.self, &step, 96, &why), 1);
	ck_assert_double_eq(clock.step_s(clock.self, &step, 96, &why), 1);
	text_free(&why);
	memo_free(m);
}
END_TEST

/* Many questions, each asked again after all others. */
START_TEST(remembers_many)
{
	struct counter counter = {0};
	struct memo *m = memo_new((struct reduction_clock){count_s, &counter});
	struct reduction_clock clock = memo_clock(m);
	struct reduction_step step = step_of(0);

	for (int round = 0; round < 2; round++)
		for (int i = 1; i <= 1000; i++)
			ck_assert_double_eq(clock.step_s(clock.self, &step, i, NULL), i);
	ck_assert_int_eq(counter.calls, 1000);
	memo_free(m);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("placement_memo");
	TCase *t = tcase_create("memo");

	tcase_add_test(t, asks_once_for_equal_groups);
	tcase_add_test(t, asks_in_one_order);
	tcase_add_test(t, forgets_refusals);
	tcase_add_test(t, remembers_many);
	suite_add_tcase(suite, t);
	return suite;
}
