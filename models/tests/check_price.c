#include "cost/bound.h"
#include "cost/price.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Prices of searches against finished plans, plans by any clock, and the lower bound. */

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

static struct problem *problem_of(const char *array, const char *mesh, const char *from,
                                  const char *to)
{
	struct problem_text t = {.array = array, .mesh = mesh, .from = from, .to = to};
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, arena, &t, &e) == OK, "%s", e.text);
	return p;
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

static const struct part X = {0, 1, 4}, Y = {1, 1, 2};
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
	struct problem *p = problem_of("f32[480,336]", "x=4,y=2", asked[k].from, "P()");
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

START_TEST(a_permute_is_one_link_of_the_slowest_fabric)
{
	const struct link *link = slowest[_i];
	struct problem *p = problem_of("f32[480]", "x=4,y=2", "P('x')", "P('x')");
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
	struct problem *p = problem_of("f32[480]", "x=4", "P('x')", "P('x')");
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
	struct problem *p = problem_of("f32[480]", "x=8", "P('x')", "P('x')");
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
		struct problem *p = problem_of("f32[480]", mesh[i], "P('x')", "P('x')");

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
	struct problem *p = problem_of("f32[480]", "x=4,y=2", "P('x')", "P('x')");
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
 * All-to-all of two groups of 4 on a switch: three rounds of a quarter each. A price above
 * the limit is at least above it and at most the real one, asked in any order.
 */
START_TEST(a_price_above_the_limit_need_not_be_exact)
{
	struct problem *p = problem_of("f32[480]", "x=4,y=2", "P('x')", "P('x')");
	struct machine *m = machine_of(2);
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
	struct problem *p = problem_of("f32[480]", "x=4,y=2", "P('x')", "P()");
	struct problem *large = problem_of("f32[480]", "x=4,y=3", "P('x')", "P()");
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

/* A clock that counts calls, says 2 s, and refuses when `left` runs out. */
struct strange {
	int calls, left;
};

static double strange_clock(void *self, const struct schedule *s, char *message,
                            size_t size)
{
	struct strange *c = self;

	ck_assert(s->nrounds > 0);
	c->calls++;
	if (c->left-- > 0)
		return 2;
	snprintf(message, size, "too many");
	return -1;
}

/*
 * slice y, all-to-all x, all-gather y of f32[480,336]: 480 x 336 x 4 = 645120 bytes, a
 * quarter P('x') 161280, after the slice 80640, after the gather 161280.
 */
START_TEST(plan_times_are_sums_of_their_parts)
{
	struct problem *p =
		problem_of("f32[480,336]", "x=4,y=2", "P('x')", "P(None,'x')");
	struct plan *plan = plan_new(arena, p, "test");
	struct move slice = {-1, 1, 2, 1, &Y}, swap = {0, 1, 4, 1, &X};
	struct move gather = {1, -1, 4, 1, &X};
	const double local_s[] = {2 * 80640 / 8e11, 4 * 80640 / 8e11, 2 * 322560 / 8e11};
	struct strange clock = {0, 2};
	struct step_time steps[3];
	char message[100];
	double total;

	plan_axes_step(plan, OP_SLICE, &slice, 1);
	plan_axes_step(plan, OP_ALL_TO_ALL, &swap, 1);
	plan_axes_step(plan, OP_ALL_GATHER, &gather, 1);
	total = plan_seconds(steps, plan, machine_of(0), NULL, strange_clock, &clock,
	                     message, sizeof(message));
	ck_assert_int_eq(clock.calls, 2);
	ck_assert(total == steps[0].time_s + steps[1].time_s + steps[2].time_s);
	for (int i = 0; i < 3; i++) {
		ck_assert(steps[i].wire_s == (i ? 2 : 0));
		ck_assert(fabs(steps[i].local_s - local_s[i]) < 1e-20);
		ck_assert(steps[i].launch_s == 5e-6);
		ck_assert(steps[i].time_s ==
		          steps[i].wire_s + steps[i].local_s + steps[i].launch_s);
	}
	ck_assert_ptr_null(steps[0].algorithm);
	ck_assert_str_eq(steps[1].algorithm, "bidir-ring");
	clock = (struct strange){0, 1};
	ck_assert(plan_seconds(NULL, plan, machine_of(0), NULL, strange_clock, &clock,
	                       message, sizeof(message)) < 0);
	ck_assert_str_eq(message, "too many");
	plan->nsteps = 0;
	ck_assert(plan_seconds(NULL, plan, machine_of(0), NULL, strange_clock, &clock,
	                       message, sizeof(message)) == 0);
}
END_TEST

/* A clock for plans whose schedules take 3, 2, 1 .. s, the local ones among them 0. */
static double overlapping_clock(void *self, double *wire_s, const struct schedule *s,
                                int n, char *message, size_t size)
{
	double total_s = 0;

	if (self) {
		snprintf(message, size, "%d are too many", n);
		return CLOCK_REFUSED_S;
	}
	for (int i = 0; i < n; i++) {
		wire_s[i] = s[i].nrounds ? n - i : 0;
		total_s += wire_s[i];
	}
	return total_s;
}

static double overlapped_s(struct step_time *times, const struct plan *plan,
                           const struct machine *m, void *self, char *message,
                           size_t size)
{
	struct plan_steps of = {plan, m, NULL};
	struct steps steps = steps_of_plan(&of);

	return steps_seconds_overlapped(times, &steps, overlapping_clock, self, message,
	                                size);
}

/* The plan of above by such a clock: slice, 2 s, 1 s. */
START_TEST(overlapped_times_are_sums_of_their_parts)
{
	struct problem *p =
		problem_of("f32[480,336]", "x=4,y=2", "P('x')", "P(None,'x')");
	struct plan *plan = plan_new(arena, p, "test");
	struct move slice = {-1, 1, 2, 1, &Y}, swap = {0, 1, 4, 1, &X};
	struct move gather = {1, -1, 4, 1, &X};
	struct machine *apart =
		machine_gpu(arena, 2, 4, (struct link){"nvlink", 300e9, 1e-6},
	                    (struct link){"nic", 25e9, 1e-6}, (struct device){0});
	struct step_time whole[3], single[3];
	struct strange clock = {0, 2};
	char message[100] = "";
	double total;

	plan_axes_step(plan, OP_SLICE, &slice, 1);
	plan_axes_step(plan, OP_ALL_TO_ALL, &swap, 1);
	plan_axes_step(plan, OP_ALL_GATHER, &gather, 1);
	total = overlapped_s(whole, plan, machine_of(0), NULL, message, sizeof(message));
	ck_assert(total == whole[0].time_s + whole[1].time_s + whole[2].time_s);
	plan_seconds(single, plan, machine_of(0), NULL, strange_clock, &clock, message,
	             sizeof(message));
	for (int i = 0; i < 3; i++) {
		ck_assert(whole[i].wire_s == (i ? 3 - i : 0));
		ck_assert(whole[i].local_s == single[i].local_s);
		ck_assert(whole[i].launch_s == single[i].launch_s);
		ck_assert_ptr_eq(whole[i].algorithm, single[i].algorithm);
		ck_assert(whole[i].time_s ==
		          whole[i].wire_s + whole[i].local_s + whole[i].launch_s);
	}
	ck_assert(overlapped_s(NULL, plan, machine_of(0), &clock, message,
	                       sizeof(message)) == CLOCK_REFUSED_S);
	ck_assert_str_eq(message, "3 are too many");
	apart->nfabrics = 1;
	ck_assert(overlapped_s(NULL, plan, apart, NULL, message, sizeof(message)) ==
	          STEPS_REFUSED_S);
	ck_assert_str_eq(message, "no fabric of gpu joins devices 0 and 4");
	plan->nsteps = 0;
	ck_assert(overlapped_s(NULL, plan, machine_of(0), NULL, message,
	                       sizeof(message)) == 0);
}
END_TEST

/* A ring's all-gather is one latency per further step above the bound. */
START_TEST(a_ring_meets_the_bound)
{
	struct problem *p = problem_of("f32[480,84]", "x=8", "P('x')", "P()");
	struct plan *plan = plan_new(arena, p, "test");
	struct part whole = {0, 1, 8};
	struct move move = {0, -1, 8, 1, &whole};
	struct machine *m = machine_of(1);
	struct model *model = model_new(m);
	struct step_time step;
	char message[100];

	plan_axes_step(plan, OP_ALL_GATHER, &move, 1);
	ck_assert(plan_seconds(&step, plan, m, NULL, model_clock, model, message,
	                       sizeof(message)) > 0);
	ck_assert(fabs(step.wire_s - 3e-6 - bound_s(p, m, NULL)) < 1e-18);
	model_free(model);
}
END_TEST

/* One way round a ring of 8 takes 7 rounds, where both ways take half the bytes. */
START_TEST(forced_for_times_alone)
{
	struct problem *p = problem_of("f32[480,84]", "x=8", "P('x')", "P()");
	struct plan *plan = plan_new(arena, p, "test");
	struct part whole = {0, 1, 8};
	struct move move = {0, -1, 8, 1, &whole};
	struct machine *m = machine_of(1), *forced = machine_of(1);
	struct pricer *free = pricer_new(m, NULL), *priced;
	struct model *model = model_new(forced);
	struct step_time step;
	char message[100];
	double price_s;

	forced->forced.algorithm = "ring";
	priced = pricer_new(forced, NULL);
	plan_axes_step(plan, OP_ALL_GATHER, &move, 1);
	price_s = pricer_prices(free).plan(free, plan).cost;
	ck_assert(pricer_prices(priced).plan(priced, plan).cost == price_s);
	ck_assert(plan_seconds(&step, plan, forced, NULL, model_clock, model, message,
	                       sizeof(message)) > price_s);
	ck_assert(fabs(step.wire_s - 7 * (1e-6 + 480. * 84 * 4 / 8 / 45e9)) < 1e-15);
	forced->forced.algorithm = "pairwise";
	ck_assert(plan_seconds(NULL, plan, forced, NULL, model_clock, model, message,
	                       sizeof(message)) == STEPS_REFUSED_S);
	ck_assert(strstr(message, "pairwise cannot run this all-gather") == message);
	model_free(model);
	pricer_free(free);
	pricer_free(priced);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("price");
	TCase *c = tcase_create("price");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, a_step_costs_what_its_plan_costs, 0, ASKED * MACHINES);
	tcase_add_loop_test(c, a_permute_is_one_link_of_the_slowest_fabric, 0, MACHINES);
	tcase_add_test(c, a_permute_inside_a_node_does_not_see_the_network);
	tcase_add_test(c, a_permute_on_a_graph);
	tcase_add_test(c, the_order_of_the_mesh_counts);
	tcase_add_test(c, many_prices_are_remembered);
	tcase_add_test(c, a_price_above_the_limit_need_not_be_exact);
	tcase_add_test(c, what_cannot_be_has_an_impossible_price);
	tcase_add_test(c, plan_times_are_sums_of_their_parts);
	tcase_add_test(c, overlapped_times_are_sums_of_their_parts);
	tcase_add_test(c, a_ring_meets_the_bound);
	tcase_add_test(c, forced_for_times_alone);
	suite_add_tcase(suite, c);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
