/*
 * Sweeps on platforms of each scenario's size (`tpu-v4:{n}`): which machine every row ran
 * on and what tables call it, whether in one go, resumed or in shards.
 */
#include "platform/platform.h"
#include "runner.h"
#include "tests/tests.h"

#include <check.h>

#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* 4, 8 and 512 devices, and 2 and 12 that have 0 and 1 in common: a union of 13. */
static const char suite[] =
	"platforms:\n"
	"  - {name: TPU v5e, base: \"tpu-v5e:{n}\"}\n"
	"  - {name: H100, base: \"dgx-h100:{n}\",\n"
	"     set: {nic.bandwidth: [25GBps, 50GBps], launch_s: 1us}}\n"
	"  - \"tpu-v4:{n}{launch_s=1us}\"\n"
	"  - tpu-v4:2x2x2\n"
	"defaults: {array: \"u8[1536]\", from: \"P('x')\", to: \"P()\"}\n"
	"scenarios:\n"
	"  - {name: s, mesh: [x=4, x=8, x=512]}\n"
	"  - {name: two, mesh: x=2, to_mesh: x=12, to_devices: \"0-1,3-12\"}\n";

/* By machine and scenario; 512 are too many for v5e, whose largest is 16x16. */
static const struct {
	const char *scenario, *machine, *platform, *message;
} expected[] = {
	{"s{mesh=x=4}", "H100 nic.bandwidth=25GBps", "dgx-h100:1{launch_s=1us}", ""},
	{"s{mesh=x=4}", "H100 nic.bandwidth=50GBps", "dgx-h100:1{launch_s=1us}", ""},
	{"s{mesh=x=4}", "tpu-v4:{n}{launch_s=1us}", "tpu-v4:2x2x1{launch_s=1us}", ""},
	{"s{mesh=x=4}", "tpu-v4:2x2x2", "tpu-v4:2x2x2", ""},
	{"s{mesh=x=4}", "TPU v5e", "tpu-v5e:2x2", ""},
	{"s{mesh=x=512}", "H100 nic.bandwidth=25GBps",
         "dgx-h100:64{nic.bandwidth=25GBps,launch_s=1us}", ""},
	{"s{mesh=x=512}", "H100 nic.bandwidth=50GBps",
         "dgx-h100:64{nic.bandwidth=50GBps,launch_s=1us}", ""},
	{"s{mesh=x=512}", "tpu-v4:2x2x2", "tpu-v4:2x2x2",
         "needs 512 devices, the platform has 8"},
	{"s{mesh=x=512}", "tpu-v4:{n}{launch_s=1us}", "tpu-v4:8x8x8{launch_s=1us}", ""},
	{"s{mesh=x=512}", "TPU v5e", "tpu-v5e:16x16",
         "needs 512 devices, the platform has 256"},
	{"s{mesh=x=8}", "H100 nic.bandwidth=25GBps", "dgx-h100:1{launch_s=1us}", ""},
	{"s{mesh=x=8}", "H100 nic.bandwidth=50GBps", "dgx-h100:1{launch_s=1us}", ""},
	{"s{mesh=x=8}", "tpu-v4:2x2x2", "tpu-v4:2x2x2", ""},
	{"s{mesh=x=8}", "tpu-v4:{n}{launch_s=1us}", "tpu-v4:2x2x2{launch_s=1us}", ""},
	{"s{mesh=x=8}", "TPU v5e", "tpu-v5e:2x4", ""},
	{"two", "H100 nic.bandwidth=25GBps",
         "dgx-h100:2{nic.bandwidth=25GBps,launch_s=1us}", ""},
	{"two", "H100 nic.bandwidth=50GBps",
         "dgx-h100:2{nic.bandwidth=50GBps,launch_s=1us}", ""},
	{"two", "tpu-v4:2x2x2", "tpu-v4:2x2x2",
         "device 12 is out of range, expected 0 to 7"},
	{"two", "tpu-v4:{n}{launch_s=1us}", "tpu-v4:2x2x4{launch_s=1us}", ""},
	{"two", "TPU v5e", "tpu-v5e:4x4", ""},
};

static struct runner r;

static void start(void)
{
	runner_start(&r);
	runner_write(&r, "suite.yaml", suite);
}

static void end(void)
{
	runner_end(&r);
}

#define RUN(...) ((const char *const[]){"sweep", __VA_ARGS__, NULL})

START_TEST(every_scenario_has_its_machine)
{
	size_t n;
	struct row *rows;

	runner_run(&r, RUN("suite.yaml", "--planner", "direct", "--out", "o"), 0);
	rows = runner_rows(&r, "o", &n);
	ck_assert_uint_eq(n, COUNT(expected));
	for (int i = 0; i < COUNT(expected); i++) {
		size_t k = 0;

		while (k < n && (strcmp(rows[k].scenario, expected[i].scenario) != 0 ||
		                 strcmp(rows[k].machine, expected[i].machine) != 0))
			k++;
		ck_assert_msg(k < n, "%s on %s", expected[i].scenario,
		              expected[i].machine);
		ck_assert_str_eq(rows[k].platform, expected[i].platform);
		ck_assert_str_eq(rows[k].message, expected[i].message);
		ck_assert_int_eq(rows[k].status, expected[i].message[0]
		                                         ? OUTCOME_NOT_APPLICABLE
		                                         : OUTCOME_OK);
	}
	runner_run(&r, RUN("status", "o"), 0);
	ck_assert_ptr_nonnull(strstr(runner_read(&r, "stdout"), "tpu-v4:8x8x8{"));
}
END_TEST

/* Shards find the same machines from the plan, and a sweep goes on where it was. */
START_TEST(shards_and_resumed_sweeps_agree)
{
	size_t n, m;
	struct row *whole, *merged;

	runner_run(&r, RUN("suite.yaml", "--planner", "direct", "--out", "o"), 0);
	whole = runner_rows(&r, "o", &n);
	runner_run(&r,
	           RUN("plan", "suite.yaml", "--planner", "direct", "--out", "p.jsonl"),
	           0);
	runner_said(&r, "20 cases in p.jsonl\n");
	runner_run(&r, RUN("run", "p.jsonl", "--shard", "1/2", "--out", "s1"), 0);
	runner_run(&r, RUN("run", "p.jsonl", "--shard", "0/2", "--out", "s0"), 0);
	runner_run(&r, RUN("merge", "p.jsonl", "s0", "s1", "--out", "m"), 0);
	merged = runner_rows(&r, "m", &m);
	runner_equal_rows(merged, m, whole, n, false);
	runner_run(&r, RUN("suite.yaml", "--planner", "direct", "--out", "m"), 0);
	runner_said(&r, "nothing was missing");
	runner_run(&r, RUN("--resume", "m"), 0);
	runner_said(&r, "nothing was missing");
}
END_TEST

/* Every number of GPUs has a machine, whatever switches join the nodes. */
static const struct {
	const char *spec;
	int32_t most;
} nets[] = {
	{"polaris:{n}", 2240},
	{"dgx-h100:{n}{net=rails,net.ports=4,net.oversubscription=1,net.latency=1us}",
         600},
	{"dgx-a100:{n}{net=fat-tree,net.ports=12,net.oversubscription=3,net.latency="
         "1us}",
         600},
	{"dgx-h100:{n}", 600},
};

START_TEST(every_size_has_a_machine)
{
	struct arena *a = arena_new();
	struct family_size size = {.most = 0};

	while (size.most < nets[_i].most) {
		int64_t n = size.most + 1;
		struct error e = {0};
		struct machine *m;

		ck_assert_msg(platform_size(&size, a, nets[_i].spec, NULL, 0, n, &e) ==
		                      OK,
		              "%d: %s", (int)n, e.text);
		ck_assert(size.least <= n && n <= size.most);
		/* A setting of the net is of no use to a single node. */
		if (size.net || !strchr(strchr(nets[_i].spec, '}') + 1, '{')) {
			ck_assert_msg(platform_machine(&m, a, size.spec, NULL, 0, &e) ==
			                      OK,
			              "%s: %s", size.spec, e.text);
			ck_assert_int_ge(m->ndevices, n);
		}
		arena_reset(a);
	}
	arena_free(a);
}
END_TEST

/* A cable between 0 and 8 is there on tori whose last axis has 8 chips only. */
START_TEST(machines_that_cannot_be_made)
{
	static const char some[] =
		"platforms: [\"tpu-v5e:{n}{slow_link=0-8:0.5}\"]\n"
		"defaults: {array: \"u8[1536]\", from: \"P('x')\", to: \"P()\"}\n"
		"scenarios: [{name: s, mesh: [x=4, x=64, x=76]}]\n";
	size_t n;
	struct row *rows;

	runner_write(&r, "some.yaml", some);
	runner_run(&r, RUN("some.yaml", "--planner", "direct,gather", "--out", "o"), 0);
	runner_said(&r, "6 rows in o: 2 ok, 4 not-applicable");
	rows = runner_rows(&r, "o", &n);
	ck_assert_uint_eq(n, 6);
	for (size_t i = 0; i < n; i++) {
		const char *why =
			!strcmp(rows[i].scenario, "s{mesh=x=4}")
				? "a device 8 is out of range, expected 0 to 3"
			: !strcmp(rows[i].scenario, "s{mesh=x=76}")
				? "no link joins devices 0 and 8"
				: "";

		ck_assert_int_eq(rows[i].status,
		                 *why ? OUTCOME_NOT_APPLICABLE : OUTCOME_OK);
		ck_assert_str_eq(rows[i].message, why);
	}
	/* What no size could mend is said before anything runs. */
	runner_run(&r,
	           RUN("some.yaml", "--platform", "dgx-h100:{n}{nic.bandwith=1GB/s}"),
	           2);
	runner_said(&r, "did you mean 'nic.bandwidth'?");
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("sweep_size");
	TCase *tc = tcase_create("sweep_size");

	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, every_scenario_has_its_machine);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, every_size_has_a_machine, 0, COUNT(nets));
	tcase_add_test(tc, machines_that_cannot_be_made);
	tcase_add_test(tc, shards_and_resumed_sweeps_agree);
	suite_add_tcase(s, tc);
	return s;
}
