#include "bound/bound.h"
#include "planner_case.h"
#include "price/price.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

/* Prices of searches against finished plans and the lower bound. */

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct link nvlink = {.bandwidth_Bps = 240e9, .latency_s = 0.7e-6};
static const struct link nic = {.bandwidth_Bps = 23e9, .latency_s = 2.5e-6};
static const struct device device = {.memory_Bps = 8e11, .launch_s = 5e-6};

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* Machines of 8 devices, and what a permute of one byte costs on a link of theirs. */
static struct machine *machine_of(int i)
{
	const bool wrap[] = {true, true};

	switch (i) {
	case 0:
		return machine_torus(arena, 2, (int32_t[]){4, 2}, wrap, ici, device);
	case 1:
		return machine_torus(arena, 1, (int32_t[]){8}, wrap, ici, device);
	case 2:
		return machine_gpu(arena, 1, 8, nvlink, nic, device);
	default:
		return machine_gpu(arena, 2, 4, nvlink, nic, device);
	}
}

enum { MACHINES = 4 };
static const struct link *const slowest[MACHINES] = {&ici, &ici, &nvlink, &nic};

static const struct part X = {0, 1, 4};
static const struct part parts_of_moves[][2] = {
	{{0, 1, 4}}, {{1, 1, 2}}, {{1, 1, 2}, {0, 1, 4}}, {{0, 1, 2}, {0, 2, 2}},
	{{0, 2, 2}},
};
enum { P_X, P_Y, P_YX, P_X1_X2, P_X2 };

static const struct {
	enum op op;
	const char *from;
	int nmoves;
	struct {
		int from_dim, to_dim, nparts, parts;
	} move[2];
	bool unpack;
} asked[] = {
	{OP_ALL_GATHER, "P('x','y')", 1, {{0, -1, 1, P_X}}, false},
	{OP_ALL_GATHER, "P('x','y')", 1, {{1, -1, 1, P_Y}}, true},
	/* moves in another order than the plan's */
	{OP_ALL_GATHER, "P('x','y')", 2, {{1, -1, 1, P_Y}, {0, -1, 1, P_X}}, true},
	{OP_ALL_GATHER, "P(('y','x'))", 1, {{0, -1, 2, P_YX}}, false},
	/* digits that merge: x:(1)2 and x:(2)2 are x */
	{OP_ALL_GATHER, "P('x')", 1, {{0, -1, 2, P_X1_X2}}, false},
	{OP_ALL_GATHER, "P('x')", 1, {{0, -1, 1, P_X2}}, false},
	{OP_ALL_TO_ALL, "P('x','y')", 1, {{0, 1, 1, P_X}}, false},
	{OP_ALL_TO_ALL, "P(('y','x'))", 1, {{0, 1, 2, P_YX}}, false},
	{OP_SLICE, "P(None,'y')", 1, {{-1, 0, 1, P_X}}, false},
};

enum { ASKED = sizeof(asked) / sizeof(asked[0]) };

/* A question costs what the plan of that one step costs, and no less than the bound. */
static void compare_prices(const struct machine *m, const struct placement *place, int k)
{
	struct problem *p =
		case_of_texts(arena, "x=4,y=2", "f32[480,336]", asked[k].from, "P()");
	struct plan *plan = plan_new(arena, p, "test");
	struct pricer *pricer = pricer_new(m, place);
	struct prices prices = pricer_prices(pricer);
	struct move moves[2];
	struct step_ask ask = {
		asked[k].op,     asked[k].nmoves,
		moves,           layout_local_elements(&p->from, &p->array.shape) * 4,
		asked[k].unpack, 0};
	double seconds;

	for (int i = 0; i < asked[k].nmoves; i++)
		moves[i] = (struct move){asked[k].move[i].from_dim,
		                         asked[k].move[i].to_dim, 0,
		                         asked[k].move[i].nparts,
		                         parts_of_moves[asked[k].move[i].parts]};
	plan_axes_step(plan, asked[k].op, moves, asked[k].nmoves);
	seconds = prices.plan(prices.self, plan).cost;
	ck_assert(seconds > device.launch_s && seconds < 1);
	for (int twice = 0; twice < 2; twice++) {
		struct price price = prices.step(prices.self, p, &ask);

		ck_assert_msg(fabs(price.cost - seconds) < 1e-12 * seconds,
		              "%.17g, plan %.17g", price.cost, seconds);
		ck_assert_int_eq(price.collectives, 0);
		ck_assert_int_eq(price.locals, 0);
	}
	p->to = *plan_layout(plan);
	ck_assert(bound_s(p, m, place) <= seconds);
	ck_assert((bound_s(p, m, place) > 0) == op_communicates(asked[k].op));
	pricer_free(pricer);
}

START_TEST(a_step_costs_what_its_plan_costs)
{
	static const int32_t order[] = {3, 0, 6, 5, 1, 7, 2, 4};
	struct placement shuffled = {8, order};
	const struct machine *m = machine_of(_i % MACHINES);

	compare_prices(m, NULL, _i / MACHINES);
	compare_prices(m, &shuffled, _i / MACHINES);
}
END_TEST

/* Steps that make axes unreduced, or reduce them, cost what the clock says. */
START_TEST(a_step_with_sums_costs_what_the_clock_says)
{
	static const struct {
		enum op op;
		const char *from;
		struct move move;
	} sums[] = {
		{OP_PARTIAL, "P('y')", {-1, -1, 0, 1, &X}},
		{OP_PARTIAL, "P('x','y')", {0, -1, 0, 1, &X}},
		{OP_ALL_REDUCE, "P(None,'y',unreduced={'x'})", {-1, -1, 0, 1, &X}},
		{OP_REDUCE_SCATTER, "P(None,'y',unreduced={'x'})", {-1, 0, 0, 1, &X}},
	};

	for (size_t k = 0; k < sizeof(sums) / sizeof(*sums); k++) {
		const struct machine *m = machine_of(_i);
		struct problem *p = case_of_texts(arena, "x=4,y=2", "f32[480,336]",
		                                  sums[k].from, "P()");
		struct plan *plan = plan_new(arena, p, "test");
		struct pricer *pricer = pricer_new(m, NULL);
		struct prices prices = pricer_prices(pricer);
		struct model *model = model_new(m);
		double seconds, cost;
		char message[100];

		plan_axes_step(plan, sums[k].op, &sums[k].move, 1);
		seconds = plan_seconds(NULL, plan, m, NULL, model_clock, model, message,
		                       sizeof(message));
		cost = prices.plan(prices.self, plan).cost;
		ck_assert_msg(fabs(cost - seconds) < 1e-12 * seconds,
		              "%s: %.17g, not %.17g", op_name(sums[k].op), cost,
		              seconds);
		pricer_free(pricer);
		model_free(model);
	}
}
END_TEST

/* A limit changes no price that is not above it; others stay above it, and are no more. */
static void check_within(const struct prices *prices, const struct plan *plan,
                         double cost)
{
	static const double parts[] = {0.01, 0.5, 0.9, 0.999, 1.001, 2};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		double most = parts[i] * cost;
		double within = prices->within(prices->self, plan, most).cost;

		if (cost <= most)
			ck_assert_double_eq(within, cost);
		else
			ck_assert(within > most && within <= cost);
	}
}

/*
 * An exchange, which is priced without its messages, costs what the clock says of these: of
 * one set of devices or several, with a library's software or without, and where the devices
 * of a node share a core.
 */
START_TEST(an_exchange_costs_what_its_messages_cost)
{
	static const char *const ends[][2] = {
		{"P('x','y')", "P('y','x')"},    {"P('x')", "P(None,'x')"},
		{"P(('x','y'))", "P('y')"},      {"P('y','x')", "P(None,('x','y'))"},
		{"P(('y','x'))", "P(None,'y')"}, {"P('y')", "P('x')"},
	};
	static const int32_t order[] = {3, 0, 6, 5, 1, 7, 2, 4};
	const struct placement shuffled = {8, order};
	struct machine *m = machine_of(_i % MACHINES);
	const struct placement *place = _i / MACHINES % 2 ? &shuffled : NULL;
	struct pricer *pricer;
	struct prices prices;
	struct model *model;

	for (int f = 0; f < m->nfabrics && _i / MACHINES >= 2; f++)
		m->fabric[f].profile = "nccl";
	m->launch = _i / MACHINES >= 4 ? LAUNCH_BOUND : LAUNCH_PROCESS;
	pricer = pricer_new(m, place);
	prices = pricer_prices(pricer);
	model = model_new(m);
	for (size_t k = 0; k < sizeof(ends) / sizeof(*ends); k++) {
		struct problem *p = case_of_texts(arena, "x=4,y=2", "f32[480,336]",
		                                  ends[k][0], ends[k][1]);
		struct text why = {0};
		struct plan *plan;
		char message[100];
		double cost, seconds;

		ck_assert_int_eq(planner_run(planner_find("direct", 6), &plan, p,
		                             &prices, arena, &why),
		                 ANSWER_PLAN);
		ck_assert_int_eq(plan->step[0].op, OP_EXCHANGE);
		cost = prices.plan(prices.self, plan).cost;
		seconds = plan_seconds(NULL, plan, m, place, model_clock, model,
		                       message, sizeof(message));
		ck_assert_msg(seconds > 0 && fabs(cost - seconds) < 1e-12 * seconds,
		              "%s to %s: %.17g, not %.17g", ends[k][0], ends[k][1],
		              cost, seconds);
		check_within(&prices, plan, cost);
		text_free(&why);
	}
	model_free(model);
	pricer_free(pricer);
}
END_TEST

START_TEST(a_permute_is_one_link_of_the_slowest_fabric)
{
	const struct link *link = slowest[_i];
	struct problem *p =
		case_of_texts(arena, "x=4,y=2", "f32[480]", "P('x')", "P('x')");
	struct pricer *pricer = pricer_new(machine_of(_i), NULL);
	struct prices prices = pricer_prices(pricer);
	struct step_ask ask = {.op = OP_PERMUTE, .before_bytes = 49153};
	double wanted = 49153 / link->bandwidth_Bps + link->latency_s + device.launch_s;

	ck_assert(fabs(prices.step(prices.self, p, &ask).cost - wanted) < 1e-15);
	pricer_free(pricer);
}
END_TEST

/* Four devices of one node never need the network. */
START_TEST(a_permute_inside_a_node_does_not_see_the_network)
{
	static const int32_t node1[] = {4, 5, 6, 7}, both[] = {3, 4, 5, 6};
	struct problem *p = case_of_texts(arena, "x=4", "f32[480]", "P('x')", "P('x')");
	struct step_ask ask = {.op = OP_PERMUTE, .before_bytes = 49153};
	const struct link *link[] = {&nvlink, &nic};

	for (int i = 0; i < 2; i++) {
		struct placement place = {4, i ? both : node1};
		struct pricer *pricer = pricer_new(machine_of(3), &place);
		struct prices prices = pricer_prices(pricer);
		double wanted = 49153 / link[i]->bandwidth_Bps + link[i]->latency_s +
		                device.launch_s;

		ck_assert(fabs(prices.step(prices.self, p, &ask).cost - wanted) < 1e-15);
		pricer_free(pricer);
	}
}
END_TEST

/* Routes and ports of a graph are not known here: the slowest link of the machine. */
START_TEST(a_permute_on_a_graph)
{
	struct machine *m = machine_of(1);
	struct problem *p = case_of_texts(arena, "x=8", "f32[480]", "P('x')", "P('x')");
	struct step_ask ask = {.op = OP_PERMUTE, .before_bytes = 49153};
	struct pricer *pricer;
	struct prices prices;

	m->fabric[0].geometry = GEOMETRY_GRAPH;
	pricer = pricer_new(m, NULL);
	prices = pricer_prices(pricer);
	ck_assert(fabs(prices.step(prices.self, p, &ask).cost - 49153 / 45e9 - 1e-6 -
	               device.launch_s) < 1e-15);
	pricer_free(pricer);
}
END_TEST

/* Prices are remembered by mesh order: another order is another machine to it. */
START_TEST(the_order_of_the_mesh_counts)
{
	const char *const mesh[] = {
		"x=4,y=2", "<[\"x\"=4, \"y\"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>",
		"<[\"x\"=4, \"y\"=2], device_ids=[0, 2, 1, 3, 4, 6, 5, 7]>", "x=4,y=2"};
	struct pricer *pricer = pricer_new(machine_of(1), NULL);
	struct prices prices = pricer_prices(pricer);
	struct move move = {0, -1, 4, 1, &X};
	struct step_ask ask = {OP_ALL_GATHER, 1, &move, 48 * 1024, false, 0};
	double cost[4];
	/*
	 * Strided by 2 on a ring of 8: 3 steps of 2 hops, the two groups on the same
	 * links. Contiguous: two lines of 4.
	 */
	double ring = 3 * (2e-6 + 2 * 49152 / 45e9), line = 3 * (1e-6 + 49152 / 45e9);

	for (int i = 0; i < 4; i++) {
		struct problem *p =
			case_of_texts(arena, mesh[i], "f32[480]", "P('x')", "P('x')");

		cost[i] = prices.step(prices.self, p, &ask).cost - device.launch_s;
	}
	ck_assert(fabs(cost[0] - ring) < 1e-15);
	ck_assert(fabs(cost[1] - line) < 1e-15);
	ck_assert(cost[2] > 0 && cost[2] != cost[1]);
	ck_assert(cost[3] == cost[0]);
	pricer_free(pricer);
}
END_TEST

START_TEST(many_prices_are_remembered)
{
	struct problem *p =
		case_of_texts(arena, "x=4,y=2", "f32[480]", "P('x')", "P('x')");
	struct pricer *pricer = pricer_new(machine_of(0), NULL);
	struct prices prices = pricer_prices(pricer);
	struct move move = {0, -1, 4, 1, &X};
	double first[701];

	for (int twice = 0; twice < 2; twice++)
		for (int b = 1; b <= 700; b++) {
			struct step_ask ask = {OP_ALL_GATHER, 1,     &move,
			                       b * 11,        false, 0};
			double cost = prices.step(prices.self, p, &ask).cost;
			/* a ring of 4: 2 steps, 3/2 blocks per link */
			double wanted = 2e-6 + 1.5 * 11 * b / 45e9 + device.launch_s;

			if (!twice)
				first[b] = cost;
			ck_assert(cost == first[b]);
			ck_assert(fabs(cost - wanted) < 1e-15);
		}
	pricer_free(pricer);
}
END_TEST

/*
 * All-to-all of two groups of every second device of a ring: three rounds. A price above
 * the limit is at least above it and at most the real one, asked in any order.
 */
START_TEST(a_price_above_the_limit_need_not_be_exact)
{
	struct problem *p =
		case_of_texts(arena, "x=4,y=2", "f32[480]", "P('x')", "P('x')");
	struct machine *m = machine_of(1);
	struct move move = {0, 0, 4, 1, &X};
	const double limit[] = {0.4, 0.2, 0.4, 0.9, 0, 0.2, 1.1};

	for (int from = 0; from < (int)(sizeof(limit) / sizeof(*limit)); from++) {
		struct step_ask ask = {OP_ALL_TO_ALL, 1, &move, 480 << 20, false, 0};
		struct pricer *exact = pricer_new(m, NULL),
			      *pricer = pricer_new(m, NULL);
		struct prices prices = pricer_prices(exact),
			      limited = pricer_prices(pricer);
		double cost = prices.step(prices.self, p, &ask).cost;

		for (int i = from; i < (int)(sizeof(limit) / sizeof(*limit)); i++) {
			double said;

			ask.most_cost = limit[i] * cost;
			said = limited.step(limited.self, p, &ask).cost;
			if (limit[i] == 0 || limit[i] >= 1)
				ck_assert_double_eq(said, cost);
			ck_assert_double_gt(said,
			                    ask.most_cost < cost ? ask.most_cost : 0);
			ck_assert_double_le(said, cost);
			if (i == from && limit[i] == 0.2)
				ck_assert_double_lt(said, 0.9 * cost);
		}
		pricer_free(exact);
		pricer_free(pricer);
	}
}
END_TEST

START_TEST(what_cannot_be_has_an_impossible_price)
{
	struct machine *m = machine_of(3);
	struct problem *p = case_of_texts(arena, "x=4,y=2", "f32[480]", "P('x')", "P()");
	struct problem *large =
		case_of_texts(arena, "x=4,y=3", "f32[480]", "P('x')", "P()");
	struct plan *plan = plan_new(arena, p, "test");
	struct move move = {0, -1, 4, 1, &X};
	struct step_ask ask = {OP_ALL_GATHER, 1, &move, 480, false, 0};
	struct step_time steps[2];
	struct pricer *pricer;
	struct prices prices;
	char message[100];

	m->nfabrics = 1;
	pricer = pricer_new(m, NULL);
	prices = pricer_prices(pricer);
	plan_axes_step(plan, OP_ALL_GATHER, &move, 1);
	ck_assert(prices.step(prices.self, p, &ask).cost == PRICE_IMPOSSIBLE_S);
	ck_assert(prices.step(prices.self, large, &ask).cost == PRICE_IMPOSSIBLE_S);
	ck_assert(prices.plan(prices.self, plan).cost == PRICE_IMPOSSIBLE_S);
	ck_assert(plan_seconds(steps, plan, m, NULL, model_clock, NULL, message,
	                       sizeof(message)) < 0);
	ck_assert_str_eq(message, "no fabric of gpu joins devices 0 and 4");
	pricer_free(pricer);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("price");
	TCase *c = tcase_create("price");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, a_step_costs_what_its_plan_costs, 0, ASKED * MACHINES);
	tcase_add_loop_test(c, a_step_with_sums_costs_what_the_clock_says, 0, MACHINES);
	tcase_add_loop_test(c, an_exchange_costs_what_its_messages_cost, 0,
	                    6 * MACHINES);
	tcase_add_loop_test(c, a_permute_is_one_link_of_the_slowest_fabric, 0, MACHINES);
	tcase_add_test(c, a_permute_inside_a_node_does_not_see_the_network);
	tcase_add_test(c, a_permute_on_a_graph);
	tcase_add_test(c, the_order_of_the_mesh_counts);
	tcase_add_test(c, many_prices_are_remembered);
	tcase_add_test(c, a_price_above_the_limit_need_not_be_exact);
	tcase_add_test(c, what_cannot_be_has_an_impossible_price);
	suite_add_tcase(suite, c);
	return suite;
}
