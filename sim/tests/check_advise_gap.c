/*
 * Advice for XLA on a sample of the real scenarios and of the pairs of layouts, on the
 * machines of their size: with at most two layouts it closes nine tenths of the gap between
 * XLA and `best-portable`, and it is never dearer than XLA alone. Of small uneven arrays on GPUs it
 * closes seven eighths: what XLA pads at a layout costs a launch there, and one array of 13
 * elements gains nothing. All of them are for `make check-exhaustive` (exhaust_advise.c), which
 * prints the table.
 */
#include "advise_gap.h"
#include "tests/tests.h"

#include <check.h>

static const struct {
	struct gap_suite of;
	double closed;
} samples[] = {
	{{"scenarios/models.yaml", "tpu-v5p:{n}", "xla", 3}, 0.9},
	{{"scenarios/models.yaml", "dgx-h100:{n}", "xla", 3}, 0.9},
	{{"scenarios/uneven.yaml", "tpu-v4:{n}", "xla", 2}, 0.9},
	{{"scenarios/uneven.yaml", "dgx-h100:{n}", "xla", 1}, 0.875},
	{{"scenarios/uneven.yaml", "dgx-a100:{n}", "xla", 1}, 0.875},
	{{"scenarios/layouts.yaml", "tpu-v4:{n}", "xla", 150}, 0.9},
	{{"scenarios/layouts.yaml", "dgx-a100:{n}", "xla", 150}, 0.9},
};

START_TEST(test_gap)
{
	struct gap g = gap_measure(&samples[_i].of);

	ck_assert_int_ge(g.n, 10);
	ck_assert(g.log_gap > 0);
	ck_assert_msg(gap_closed(&g, 2) >= samples[_i].closed, "closes %g of the gap",
	              gap_closed(&g, 2));
	ck_assert_int_eq(g.dearer, 0);
	ck_assert_int_eq(g.wrong, 0);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("advise gap");
	TCase *c = tcase_create("advise gap");

	tcase_set_timeout(c, 600);
	tcase_add_loop_test(c, test_gap, 0, (int)(sizeof(samples) / sizeof(*samples)));
	suite_add_tcase(s, c);
	return s;
}
