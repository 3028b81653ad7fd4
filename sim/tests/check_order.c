/* Names in the order of people: lists put in order by hand, and strcmp()'s is another. */
#include "tests/tests.h"
#include "text/order.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const sizes[] = {"0B",      "900B", "64KiB", "100KB", "0.5MiB",
                                    "1024KiB", "1MiB", "16MiB", "1GB",   "1GiB"};
static const char *const rates[] = {"900MBps", "12.5GBps", "25GB/s", "25GBps",
                                    "100GBps", "100GiBps", "1.6TBps"};
static const char *const times[] = {"700ns", "2us", "10us", "1.5ms", "3ms", "1s"};
static const char *const machines[] = {"dgx-h100:4",
                                       "dgx-h100:4{nic.bandwidth=25GBps}",
                                       "dgx-h100:4{nic.bandwidth=100GBps}",
                                       "dgx-h100:16",
                                       "tpu-v4:4x4x4",
                                       "tpu-v4:4x4x8",
                                       "tpu-v4:16x16x4",
                                       "tpu-v5e:4x8",
                                       "tpu-v5e:8x8",
                                       "tpu-v5e:16x16"};
static const char *const counts[] = {"n=8e2", "n=1000", "n=2e3", "n=1e4"};
static const char *const names[] = {"",       "a",     "a-2",     "a-10",
                                    "a-b",    "kv-8b", "kv-70b",  "v5e-16",
                                    "v10e-4", "xla",   "xla-2021"};

static const struct {
	const char *const *name;
	int n;
} lists[] = {
	{sizes, COUNT(sizes)},       {rates, COUNT(rates)},   {times, COUNT(times)},
	{machines, COUNT(machines)}, {counts, COUNT(counts)}, {names, COUNT(names)},
};

START_TEST(by_hand)
{
	const char *const *name = lists[_i].name;

	for (int i = 0; i < lists[_i].n; i++)
		for (int k = 0; k < lists[_i].n; k++) {
			int order = order_compare(name[i], name[k]);

			ck_assert_msg((order > 0) - (order < 0) == (i > k) - (i < k),
			              "%s and %s: %d", name[i], name[k], order);
		}
}
END_TEST

/* Any three texts of pieces that look alike are in an order without circles. */
START_TEST(total)
{
	static const char *const piece[] = {"1", "01", "1.0", "10", "K",  "KiB", "B",
	                                    "e", "=",  "-",   "x",  "us", "s",   "."};
	char text[3][32];
	unsigned seed = 1;

	for (int round = 0; round < 30000; round++) {
		int order[3];

		for (int i = 0; i < 3; i++) {
			text[i][0] = '\0';
			for (int k = 0; k < 4; k++) {
				seed = seed * 1103515245 + 12345;
				strcat(text[i], piece[(seed >> 16) % COUNT(piece)]);
			}
		}
		for (int i = 0; i < 3; i++) {
			order[i] = order_compare(text[i], text[(i + 1) % 3]);
			ck_assert_int_eq(order[i] == 0,
			                 strcmp(text[i], text[(i + 1) % 3]) == 0);
		}
		ck_assert_msg(!(order[0] < 0 && order[1] < 0 && order[2] < 0) &&
		                      !(order[0] > 0 && order[1] > 0 && order[2] > 0),
		              "a circle: %s %s %s", text[0], text[1], text[2]);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("order");
	TCase *tc = tcase_create("order");

	tcase_add_loop_test(tc, by_hand, 0, COUNT(lists));
	tcase_add_test(tc, total);
	suite_add_tcase(s, tc);
	return s;
}
