/* Signals that are noted: the first, one that follows at once, and one that comes later. */
#include "system/stop.h"
#include "tests/tests.h"

#include <check.h>
#include <time.h>

static const int kinds[] = {SIGINT, SIGTERM, SIGHUP};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static void later(void)
{
	struct timespec wait = {.tv_sec = 0, .tv_nsec = (long)(1.2e9 * STOP_TWICE_S)};

	nanosleep(&wait, NULL);
}

/* As timeout(1) sends them. */
START_TEST(twice_at_once)
{
	const volatile sig_atomic_t *caught = stop_on_signals();

	ck_assert_int_eq(*caught, 0);
	raise(kinds[_i]);
	ck_assert_int_eq(*caught, kinds[_i]);
	raise(kinds[_i]);
	ck_assert_int_eq(*caught, kinds[_i]);
}
END_TEST

START_TEST(another_later)
{
	const volatile sig_atomic_t *caught = stop_on_signals();

	raise(kinds[_i]);
	later();
	raise(kinds[(_i + 1) % KINDS]);
	ck_assert_int_eq(*caught, kinds[(_i + 1) % KINDS]);
}
END_TEST

START_TEST(ignored)
{
	const volatile sig_atomic_t *caught;

	signal(kinds[_i], SIG_IGN);
	caught = stop_on_signals();
	raise(kinds[_i]);
	later();
	raise(kinds[_i]);
	ck_assert_int_eq(*caught, 0);
}
END_TEST

/* The second one ends the program, which the test case expects. */
static void twice(int kind)
{
	const volatile sig_atomic_t *caught = stop_on_signals();

	raise(kind);
	later();
	ck_assert_int_eq(*caught, kind);
	raise(kind);
}

START_TEST(second_int)
{
	twice(SIGINT);
}
END_TEST

START_TEST(second_term)
{
	twice(SIGTERM);
}
END_TEST

START_TEST(second_hup)
{
	twice(SIGHUP);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("stop");
	TCase *c = tcase_create("stop");

	tcase_add_loop_test(c, twice_at_once, 0, KINDS);
	tcase_add_loop_test(c, another_later, 0, KINDS);
	tcase_add_loop_test(c, ignored, 0, KINDS);
	tcase_add_test_raise_signal(c, second_int, SIGINT);
	tcase_add_test_raise_signal(c, second_term, SIGTERM);
	tcase_add_test_raise_signal(c, second_hup, SIGHUP);
	suite_add_tcase(s, c);
	return s;
}
