/*
 * `best` against two of its plans in a row, on small meshes: at most 0.5 % of pairs of
 * layouts are more than 5 % dearer, and none by more than a tenth. exhaust_compose.c has
 * larger meshes.
 */
#include "compose_pairs.h"
#include "tests/tests.h"

#include <check.h>

static const struct compose_case cases[] = {
	{{4, 4}, COMPOSE_OPEN, {4, 4}, NULL},
	{{2, 4}, COMPOSE_OPEN, {2, 4}, NULL},
	{{2, 2, 2}, COMPOSE_NODES, {1, 8}, NULL},
	{{4, 4}, COMPOSE_WRAPPED, {4, 4}, NULL},
	{{4, 4}, COMPOSE_NODES, {2, 8}, NULL},
};

START_TEST(test_composition)
{
	struct compose_count count = compose_pairs(&cases[_i]);

	ck_assert_int_ge(count.pairs, 110);
	ck_assert_msg(count.dearer <= 0.005 * count.pairs && count.worst <= 1.10,
	              "%d of %d pairs, by up to %.3f", count.dearer, count.pairs,
	              count.worst);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("compose");
	TCase *pairs = tcase_create("pairs");

	tcase_set_timeout(pairs, 300);
	tcase_add_loop_test(pairs, test_composition, 0, sizeof(cases) / sizeof(*cases));
	suite_add_tcase(suite, pairs);
	return suite;
}
