/* Exchanges as plain sends: each peer costs what it costs in an all-to-all. */
#include "nccl_help.h"
#include "planner/planner.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct {
	int32_t nodes, gpus;
} shapes[] = {{1, 3}, {1, 8}, {2, 3}, {2, 8}, {3, 5}, {5, 1}, {4, 2}};

/* Lowers the one exchange of direct's plan over all devices of the machine. */
static struct lowered exchanged(const struct machine *m, const char *to_mesh,
                                const char *to)
{
	struct problem_text text = {
		.mesh = arena_printf(arena, "x=%d", (int)m->ndevices),
		.to_mesh = to_mesh,
		.array = arena_printf(arena, "u8[%d,%d]", (int)m->ndevices,
	                              (int)m->ndevices),
		.from = "P('x', None)",
		.to = to};
	struct text why = {0};
	struct problem p;
	struct plan *plan;
	struct lowered l;
	struct error e = {0};

	ck_assert_msg(problem_make(&p, arena, &text, &e) == OK, "%s", e.text);
	ck_assert_int_eq(planner_run(planner_find("direct", 6), &plan, &p,
	                             &prices_bytes, arena, &why),
	                 ANSWER_PLAN);
	ck_assert_int_eq(plan->nsteps, 1);
	ck_assert_int_eq(plan->step[0].op, OP_EXCHANGE);
	ck_assert_msg(lower_step(&l, arena, m, NULL, plan, 0, &why), "%s", why.s);
	ck_assert_int_eq(l.schedule.ntasks, 1);
	text_free(&why);
	return l;
}

/*
 * Seconds before the first byte of an exchange over m nodes of g, but for the first chunks of its
 * few bytes: each device has g - 1 peers inside, and g (m - 1) across.
 */
static double peers_s(int32_t m, int32_t g)
{
	int32_t far = g * (m - 1);

	return (g - 1) * SEND_S + far * NET_SEND_S + (m > 1 ? far_s(far) : 0);
}

/* What the first chunks of a few bytes for each device may take. */
static double first_s(int32_t m, int32_t g)
{
	return m > 1 ? 16. * m * g / SHARE / nic.bandwidth_Bps : 1e-12;
}

static struct machine *without_fill(int32_t nodes, int32_t gpus)
{
	struct machine *m = tuned(nodes, gpus, 90);

	m->tuning.value[TUNING_FILL_S] = 0;
	return m;
}

static void check_start(const struct lowered *l, int32_t m, int32_t g)
{
	double route_s = 2 * (m > 1 ? nic.latency_s : nvlink.latency_s);

	ck_assert_double_eq_tol(l->schedule.task[0].delay_s,
	                        fmax(0, peers_s(m, g) - route_s), first_s(m, g));
}

/* Every device sends a part to every other one, as in an all-to-all of the group. */
START_TEST(as_an_all_to_all)
{
	int32_t m = shapes[_i].nodes, g = shapes[_i].gpus, n = m * g;
	struct machine *machine = without_fill(m, g);
	struct lowered exchange = exchanged(machine, NULL, "P(None, 'x')");
	struct lowered all = lowered_all(machine, OP_ALL_TO_ALL, n);
	double wire_s = n / SHARE / nic.bandwidth_Bps;

	ck_assert_int_eq(exchange.schedule.nmessages, n * (n - 1));
	check_start(&exchange, m, g);
	/* They differ by their few bytes on the wires, and no more. */
	ck_assert_double_eq_tol(seconds_of(machine, &exchange) - exchange.launch_s,
	                        seconds_of(machine, &all) - all.launch_s, 2 * wire_s);
}
END_TEST

/* Nor do they where XLA calls, which takes 11 us more for several peers of one process. */
START_TEST(as_an_all_to_all_of_xla)
{
	int32_t m = shapes[_i].nodes, g = shapes[_i].gpus, n = m * g;
	struct machine *machine = without_fill(m, g);
	struct lowered exchange, all;
	double wire_s = n / SHARE / nic.bandwidth_Bps;
	double route_s = 2 * (m > 1 ? nic.latency_s : nvlink.latency_s);

	machine->launch = LAUNCH_XLA;
	exchange = exchanged(machine, NULL, "P(None, 'x')");
	all = lowered_all(machine, OP_ALL_TO_ALL, n);
	ck_assert_double_eq_tol(seconds_of(machine, &exchange) - exchange.launch_s,
	                        seconds_of(machine, &all) - all.launch_s, 2 * wire_s);
	ck_assert_double_eq_tol(exchange.schedule.task[0].delay_s,
	                        fmax(0, peers_s(m, g) + (m == 1 ? 11e-6 : 0) - route_s),
	                        first_s(m, g));
}
END_TEST

/* Nor where the threads of a node's devices share a core. */
START_TEST(as_an_all_to_all_of_one_core)
{
	int32_t m = shapes[_i].nodes, g = shapes[_i].gpus, n = m * g;
	struct machine *machine = without_fill(m, g);
	struct lowered exchange, all;

	machine->launch = LAUNCH_BOUND;
	exchange = exchanged(machine, NULL, "P(None, 'x')");
	all = lowered_all(machine, OP_ALL_TO_ALL, n);
	ck_assert_double_eq_tol(seconds_of(machine, &exchange) - exchange.launch_s,
	                        seconds_of(machine, &all) - all.launch_s,
	                        2 * n / SHARE / nic.bandwidth_Bps);
}
END_TEST

/* Two devices that exchange tiles have a peer each, and pay what a permute does. */
START_TEST(one_peer_of_xla)
{
	struct machine *machine = without_fill(1, 2);
	struct lowered exchange = exchanged(machine, NULL, "P(None, 'x')");
	double process_s = seconds_of(machine, &exchange);

	machine->launch = LAUNCH_XLA;
	exchange = exchanged(machine, NULL, "P(None, 'x')");
	ck_assert_double_eq_tol(seconds_of(machine, &exchange),
	                        process_s - device.launch_s + 10.5e-6, 1e-12);
}
END_TEST

/* One device receives from all others: it has as many peers as in an all-to-all. */
START_TEST(of_the_busiest_receiver)
{
	int32_t m = shapes[_i].nodes, g = shapes[_i].gpus;
	struct lowered l = exchanged(without_fill(m, g), "y=1", "P(None, None)");

	ck_assert_int_eq(l.schedule.nmessages, m * g - 1);
	check_start(&l, m, g);
}
END_TEST

/* A library on the network alone runs the sends inside nodes, too. */
START_TEST(library_of_the_last_fabric)
{
	struct machine *m = without_fill(2, 3);
	struct lowered l;

	m->fabric[0].profile = "plain";
	l = exchanged(m, NULL, "P(None, 'x')");
	check_start(&l, 2, 3);
	m->fabric[1].profile = "plain";
	l = exchanged(m, NULL, "P(None, 'x')");
	ck_assert(l.schedule.task[0].delay_s == 0);
}
END_TEST

/* Adds what a message puts on the links of its route. */
static void add_route(double *carried, const struct machine *m, int fabric, int32_t src,
                      int32_t dst, double bytes)
{
	int32_t links[ROUTE_LINKS_MAX];
	int n = machine_route(m, fabric, src, dst, links, ROUTE_LINKS_MAX);

	ck_assert_int_gt(n, 0);
	for (int i = 0; i < n; i++)
		carried[links[i]] += bytes;
}

static const struct {
	int32_t n, id[12];
	int nmessages; /* rings that stand for all pairs: inside, one for each size */
} uneven[] = {
	{5, {0, 1, 2, 5, 4}, 5 + 2 + 5},                  /* 3 and 2 of nodes of 4 */
	{9, {0, 1, 2, 3, 4, 5, 8, 9, 10}, 9 + 5 + 2 + 9}, /* 4, 2 and 3 */
	{8, {0, 1, 4, 5, 8, 9, 10, 11}, 8 + 8 + 4},
	{4, {0, 1, 2, 4}, 12}, /* one alone in its node: all pairs */
};

/* An all-to-all over nodes of unequal size puts on every port what all its pairs do. */
START_TEST(uneven_nodes)
{
	struct machine *m = without_fill(3, 4);
	struct groups g = {1, uneven[_i].n, uneven[_i].id};
	double *carried = arena_alloc(arena, (size_t)m->nlinks, sizeof(*carried));
	struct text why = {0};
	struct lowered l;

	ck_assert(lower_collective(&l, arena, m, OP_ALL_TO_ALL, g, g.size * 1e6, &why));
	ck_assert_int_eq(l.schedule.ntasks, 1);
	for (int64_t i = 0; i < l.schedule.nmessages; i++) {
		const struct message *msg = &l.schedule.message[i];

		add_route(carried, m, msg->fabric, msg->src, msg->dst, msg->bytes);
	}
	ck_assert_int_eq(l.schedule.nmessages, uneven[_i].nmessages);
	for (int32_t i = 0; i < g.size; i++)
		for (int32_t k = 0; k < g.size; k++) {
			int f = machine_fabric(m, g.ids[i], g.ids[k]);

			if (i != k)
				add_route(carried, m, f, g.ids[i], g.ids[k],
				          f ? -1e6 / SHARE : -1e6);
		}
	for (int32_t k = 0; k < m->nlinks; k++)
		ck_assert_double_eq_tol(carried[k], 0, 1e-6);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("sends");
	TCase *c = tcase_create("sends");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, as_an_all_to_all, 0, COUNT(shapes));
	tcase_add_loop_test(c, as_an_all_to_all_of_xla, 0, COUNT(shapes));
	tcase_add_loop_test(c, as_an_all_to_all_of_one_core, 0, COUNT(shapes));
	tcase_add_test(c, one_peer_of_xla);
	tcase_add_loop_test(c, of_the_busiest_receiver, 0, COUNT(shapes));
	tcase_add_test(c, library_of_the_last_fabric);
	tcase_add_loop_test(c, uneven_nodes, 0, COUNT(uneven));
	suite_add_tcase(suite, c);
	return suite;
}
