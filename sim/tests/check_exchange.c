/* On every GPU family an exchange costs each peer what an all-to-all does, by every clock. */
#include "flow_case.h"
#include "measure/measure.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * Two nodes of each family with profile nccl or rccl, and the figures of families.yaml in
 * microseconds: an exchange between all of n = 2g devices costs (g - 1) send_s + g net_send_s, 6
 * of a call, and for each eight of the g peers across net_latency_s + 1.8 + 11.3 net_step, or the
 * route over the network if that takes longer. RCCL's families have no figure of a peer inside.
 * A rack of gb200-nvl72 gives 8 GPUs.
 */
static const struct {
	const char *platform, *devices;
	int gpus;
	double send_us, net_send_us, net_step, net_latency_us, route_us;
} families[] = {
	{"dgx1-v100:2", NULL, 8, 0.6, 1.299, 0.6668, 0, 2.6},
	{"dgx2:2", NULL, 16, 0.6, 1.299, 0.6668, 0, 2.6},
	{"dgx-a100:2", NULL, 8, 0.6, 1.299, 1.008, 0, 2.5},
	{"cw-a100:2", NULL, 8, 0.6, 1.299, 1.559, 0, 2.5},
	{"a2-megagpu:2", NULL, 16, 0.6, 1.299, 0.6668, 0, 2.5},
	{"aws-p4de:2", NULL, 8, 0.6, 1.299, 1.008, 15.49, 2.5},
	{"dgx-h100:2", NULL, 8, 0.6, 1.299, 0.6668, 0, 2.5},
	{"hgx-h100:2", NULL, 8, 0.6, 1.299, 1.753, 0, 2.5},
	{"aws-p5:2", NULL, 8, 0.6, 1.299, 0.6668, 23.57, 2.5},
	{"gcp-a3high:2", NULL, 8, 0.6, 1.299, 0.6668, 0, 2.5},
	{"gcp-a3mega:2", NULL, 8, 0.6, 1.299, 0.6668, 18.43, 2.5},
	{"hgx-h20:2", NULL, 8, 0.6, 1.299, 1.527, 0, 2.5},
	{"dgx-h200:2", NULL, 8, 0.6, 1.299, 0.9623, 0, 2.5},
	{"aws-p5en:2", NULL, 8, 0.6, 1.299, 0.6668, 23.57, 2.5},
	{"dgx-b200:2", NULL, 8, 0.1643, 1.299, 0.9998, 0, 2.5},
	{"gcp-a4:2", NULL, 8, 0.6, 1.299, 1.338, 0, 1.85},
	{"gb200-nvl72:2", "0-7,72-79", 8, 0.1643, 1.299, 4.24, 0, 2.5},
	{"mi300x:2", NULL, 8, 0, 1.299, 1.282, 0, 2.5},
	{"mi355x:2", NULL, 8, 0, 1.299, 1.282, 0, 2.5},
	{"polaris:2", NULL, 4, 0.6, 7.002, 1.196, 0, 2.6},
};

/* A byte for each peer takes nanoseconds on the wires, a peer 164 or more. */
#define WIRES_S 120e-9

static void bench_of(struct bench *b, const struct flow_case *c)
{
	static const char *const names[] = {"model", "fluid", "flow"};
	void *const self[] = {NULL, c->fluid, c->flow};

	bench_init(b, c->machine);
	for (int k = 0; k < 3; k++)
		bench_clock(b, &clock_kinds[clock_find(names[k], strlen(names[k]))],
		            self[k]);
}

static void check_exchange(struct flow_case *c, const char *devices, int n,
                           double wanted_s)
{
	struct problem_text text = {.array = arena_printf(c->arena, "u8[%d,%d]", n, n),
	                            .mesh = arena_printf(c->arena, "x=%d", n),
	                            .devices = devices,
	                            .from = "P('x', None)",
	                            .to = "P(None, 'x')"};
	struct measurement m;
	struct problem p;
	struct bench b;
	struct error e = {0};

	ck_assert_msg(problem_make(&p, c->arena, &text, &e) == OK, "%s", e.text);
	bench_of(&b, c);
	bench_place(&b, &p);
	measure_plan(&m, &b, &p, planner_find("direct", 6), c->arena);
	ck_assert_int_eq(m.plan->nsteps, 1);
	ck_assert_int_eq(m.plan->step[0].op, OP_EXCHANGE);
	for (int k = 0; k < b.nclocks; k++) {
		measure_time(&m, &b, k, c->arena);
		ck_assert_double_eq_tol(m.time_s[k] - m.launch_s[k] - m.local_s[k],
		                        wanted_s + WIRES_S / 2, WIRES_S / 2);
	}
	bench_free(&b);
}

static void check_all_to_all(struct flow_case *c, const char *devices, int n,
                             double wanted_s)
{
	int32_t *ids = arena_alloc(c->arena, (size_t)n, sizeof(*ids));
	struct groups all = {.ngroups = 1, .size = n, .ids = ids};
	struct text why = {0};
	struct lowered l;
	char message[80] = "";

	for (int32_t d = 0; d < n; d++)
		ids[d] = devices && d >= n / 2 ? d + 64 : d; /* 0-7,72-79 */
	ck_assert(lower_collective(&l, c->arena, c->machine, OP_ALL_TO_ALL, all, n,
	                           &why));
	ck_assert_double_eq_tol(model_schedule_s(c->model, &l.schedule),
	                        wanted_s + WIRES_S / 2, WIRES_S / 2);
	ck_assert_double_eq_tol(fluid_clock(c->fluid, &l.schedule, NULL, 0),
	                        wanted_s + WIRES_S / 2, WIRES_S / 2);
	ck_assert_double_eq_tol(flow_clock(c->flow, &l.schedule, message, 80),
	                        wanted_s + WIRES_S / 2, WIRES_S / 2);
	text_free(&why);
}

START_TEST(each_peer)
{
	const char *devices = families[_i].devices;
	int g = families[_i].gpus, n = 2 * g;
	double peers_us = (g - 1) * families[_i].send_us + g * families[_i].net_send_us;
	double first_us =
		families[_i].net_latency_us + 1.8 + 11.3 * families[_i].net_step;
	double late_us = peers_us + 6 + fmax(1, g / 8.) * first_us;
	double wanted_s = 1e-6 * fmax(late_us, families[_i].route_us);
	struct flow_case c = flow_case_new(families[_i].platform, NULL);

	check_exchange(&c, devices, n, wanted_s);
	check_all_to_all(&c, devices, n, wanted_s);
	flow_case_free(&c);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("exchange");
	TCase *c = tcase_create("exchange");

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, each_peer, 0, COUNT(families));
	suite_add_tcase(suite, c);
	return suite;
}
