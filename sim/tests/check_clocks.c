#include "clocks_suite.h"
#include "tests/tests.h"

#include <check.h>

/* The clock fluid is held to SimGrid on the suites, on the platforms of `make sweep`. */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct {
	const char *path;
	uint32_t one_of;
} suites[] = {
	{"scenarios/models.yaml", 1},  {"scenarios/smoke.yaml", 1},
	{"scenarios/uneven.yaml", 1},  {"scenarios/cross-mesh.yaml", 1},
	{"scenarios/random.yaml", 10},
};

static const char *const platforms[] = {"tpu-v4:4x4x4", "tpu-v4:8x8x8", "tpu-v5e:16x16",
                                        "tpu-v5e:4x8",  "dgx-a100:4",   "dgx-h100:8"};

/* Each in a process of its own, which Check forks. */
START_TEST(suites_agree)
{
	const struct clocks_suite of = {suites[_i / COUNT(platforms)].path,
	                                platforms[_i % COUNT(platforms)],
	                                suites[_i / COUNT(platforms)].one_of};
	struct clocks_compared is = clocks_suite_compare(&of);

	ck_assert_int_eq(is.differ, 0);
	ck_assert_int_gt(is.steps, 0);
	ck_assert_int_le(is.refused, 2);
}
END_TEST

/* Most of this suite fits none of those platforms. */
static const char *const large[] = {"tpu-v4:8x8x12", "dgx-a100:96", "dgx-h100:96"};

START_TEST(cross_mesh_agrees)
{
	const struct clocks_suite of = {"scenarios/cross-mesh.yaml", large[_i], 1};
	struct clocks_compared is = clocks_suite_compare(&of);

	ck_assert_int_eq(is.differ, 0);
	ck_assert_int_gt(is.steps, 50);
	ck_assert_int_eq(is.refused, 0);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("clocks");
	TCase *tcase = tcase_create("clocks");

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, suites_agree, 0, COUNT(suites) * COUNT(platforms));
	tcase_add_loop_test(tcase, cross_mesh_agrees, 0, COUNT(large));
	suite_add_tcase(suite, tcase);
	return suite;
}
