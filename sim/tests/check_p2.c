#include "cost/model.h"
#include "placement/program.h"
#include "placement/search.h"
#include "tests/tests.h"
#include "validate/p2.h"

#include "p2_machine.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Times and the search: against printed figures, the clock of schedules, and execution.
 */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;
static struct error error;
static struct synth_cache cache;
static const struct where at = {.file = "--axes", .line = 1, .col = 1};

static void setup(void)
{
	arena = arena_new();
	error = (struct error){0};
	cache = (struct synth_cache){.arena = arena};
}

static void teardown(void)
{
	arena_free(arena);
}

static struct placement_case read_case(const char *levels, const char *axes,
                                       const char *reduce)
{
	struct placement_case c = {
		.limit = PROGRAM_STEPS,
		.orders = 3,
		.payload_bytes = PLACEMENT_PAYLOAD_BYTES,
		.at = at,
	};

	ck_assert_int_eq(hierarchy_parse(&c.hierarchy, arena, levels, at, &error), OK);
	ck_assert_int_eq(axes_parse(&c.axes, arena, axes, at, &error), OK);
	ck_assert_int_eq(reduce_parse(&c.reduce, &c.axes, reduce, at, &error), OK);
	return c;
}

static struct reduction_clock p2_of(const struct placement_case *c)
{
	return (struct reduction_clock){p2_clock, (void *)p2_system_of(&c->hierarchy)};
}

#define AR "(root, InsideGroup, AllReduce)"
#define RS_AR_AG                                                                       \
	"(level0, InsideGroup, ReduceScatter); (level0, Parallel(root), AllReduce); "  \
	"(level0, InsideGroup, AllGather)"
#define R_AR_B                                                                         \
	"(level0, InsideGroup, Reduce); (level0, Master(root), AllReduce); "           \
	"(level0, InsideGroup, Broadcast)"
#define AR_AR "(level0, InsideGroup, AllReduce); (level0, Parallel(root), AllReduce)"

/* Simulated seconds printed by the paper or read off its figure 11: ten runs. */
static const struct {
	const char *levels, *axes, *reduce, *matrix, *program;
	enum order order;
	bool tree;
	double printed_s, within_s;
} printed_table[] = {
	{"4,8", "2,16", "1", "[[2 1][2 8]]", RS_AR_AG, ORDER_ROW, false, 2.76, 0.005},
	{"4,8", "2,16", "1", "[[2 1][2 8]]", R_AR_B, ORDER_ROW, false, 2.80, 0.005},
	{"4,8", "2,16", "1", "[[2 1][2 8]]", AR, ORDER_ROW, false, 4.69, 0.005},
	{"4,8", "2,16", "1", "[[2 1][2 8]]", AR_AR, ORDER_ROW, false, 20.26, 0.005},
	/* A ring of four GPUs; four pairs across the halves; eight pairs of nodes. */
	{"4,8", "8,4", "1", "[[4 2][1 4]]", AR, ORDER_ROW, false, 0.94, 0.005},
	{"2,8", "2,8", "0", "[[1 2][2 4]]", AR, ORDER_ROW, false, 10, 0.005},
	{"2,8", "8,2", "1", "[[1 8][2 1]]", AR, ORDER_ROW, false, 20, 0.005},
	/* Our tree model, beside the 80 s and 40 s rows of the appendix. */
	{"4,16", "4,16", "0", "[[4 1][1 16]]", AR, ORDER_ROW, true, 80, 0.005},
	{"4,8", "4,8", "0", "[[4 1][1 8]]", AR, ORDER_ROW, true, 40, 0.005},
	{"2,8", "8,2", "1", "[[1 8][2 1]]", AR, ORDER_ROW, true, 20, 0.005},
};

START_TEST(printed_seconds)
{
	struct placement_case c =
		read_case(printed_table[_i].levels, printed_table[_i].axes,
	                  printed_table[_i].reduce);
	struct p2_system p2 = *p2_system_of(&c.hierarchy);
	struct matrix m;
	struct space space;
	struct program program;
	struct reduction r;

	p2.tree = printed_table[_i].tree;
	ck_assert_int_eq(matrix_parse(&m, printed_table[_i].matrix, at, &error), OK);
	ck_assert_int_eq(matrix_check(&m, &c.hierarchy, &c.axes, at, &error), OK);
	space_collapsed(&space, arena, &c.hierarchy, &m, c.reduce,
	                printed_table[_i].order);
	ck_assert_int_eq(program_parse(&program, printed_table[_i].program, &space.tree,
	                               at, &error),
	                 OK);
	reduction_of(&r, arena, &space, &program);
	ck_assert_double_eq_tol(
		P2_RUNS * p2_reduction_s(&p2, &r, PLACEMENT_PAYLOAD_BYTES),
		printed_table[_i].printed_s, printed_table[_i].within_s);
}
END_TEST

/* The best programs in both orders where the paper's order misses the levels. */
static const struct {
	const char *levels, *axes, *matrix;
	double row_s, level_s;
} order_table[] = {
	{"4,16", "16,2,2", "[[1 16][2 1][2 1]]", 4.76, 2.64},
	{"4,8", "8,2,2", "[[1 8][2 1][2 1]]", 4.69, 2.76},
};

START_TEST(level_order_keeps_the_levels)
{
	struct placement_case c =
		read_case(order_table[_i].levels, order_table[_i].axes, "0,2");
	struct reduction_clock clock = p2_of(&c);
	struct placed p;
	struct matrix m;

	ck_assert_int_eq(matrix_parse(&m, order_table[_i].matrix, at, &error), OK);
	ck_assert_int_eq(placement_of(&p, &m, &cache, &c, &clock, &error), OK);
	ck_assert_double_eq_tol(P2_RUNS * p.order_s[ORDER_ROW], order_table[_i].row_s,
	                        0.005);
	ck_assert_double_eq_tol(P2_RUNS * p.order_s[ORDER_LEVEL],
	                        order_table[_i].level_s, 0.005);
	ck_assert_int_eq(p.order, ORDER_LEVEL);
	ck_assert_double_eq(p.best_s, p.order_s[ORDER_LEVEL]);
}
END_TEST

START_TEST(slowest_program_is_the_printed_one)
{
	struct placement_case c = read_case("4,8", "2,16", "1");
	struct reduction_clock clock = p2_of(&c);
	struct timed_program *programs;
	struct matrix m;
	int64_t n;

	ck_assert_int_eq(matrix_parse(&m, "[[2 1][2 8]]", at, &error), OK);
	ck_assert_int_eq(placement_programs(&programs, &n, arena, &m, ORDER_ROW, &cache,
	                                    &c, &clock, &error),
	                 OK);
	ck_assert_int_eq(n, 47);
	ck_assert_double_eq_tol(P2_RUNS * programs[46].time_s, 42.65, 0.005);
}
END_TEST

/*
 * The 36 groups of appendix A with one or two axes: 78 of its 104 rows. Its groups have
 * 6, 50, 53, 94, 97, 188 or 235 programs, the rows of one axis 47.
 */
START_TEST(programs_of_the_published_groups)
{
	static const char *const systems[] = {"2,16", "4,16", "2,8", "4,8"};
	int64_t rows = 0;
	int groups = 0;

	for (size_t s = 0; s < COUNT(systems); s++) {
		struct placement_case c = read_case(systems[s], "1", "0");
		struct reduction_clock clock = p2_of(&c);
		int32_t all = c.hierarchy.ndevices;

		for (int32_t p = 1; p < all; p *= 2)
			for (int reduce = 0; reduce < 1 + (p > 1); reduce++) {
				char *axes = arena_printf(arena, p > 1 ? "%d,%d" : "%d",
				                          p > 1 ? p : all, all / p);
				struct placed *placed;
				int64_t n, programs = 0;

				c.axes = read_case(systems[s], axes, "0").axes;
				c.reduce = 1u << reduce;
				ck_assert_int_eq(placement_search(&placed, &n, arena,
				                                  &c, &clock, &error),
				                 OK);
				for (int64_t i = 0; i < n; i++) {
					programs += placed[i].programs;
					ck_assert(placed[i].programs == 3 ||
					          placed[i].programs == 47);
				}
				ck_assert_msg(programs == 6 || programs == 50 ||
				                      programs == 53 ||
				                      programs == 94 || programs == 97 ||
				                      (p == 1 && programs == 47),
				              "%s [%s] %d: %d", systems[s], axes,
				              reduce, (int)programs);
				rows += n;
				groups++;
			}
	}
	ck_assert_int_eq(groups, 36);
	ck_assert_int_eq(rows, 78);
}
END_TEST

static const struct {
	const char *levels, *axes, *reduce;
	int64_t matrices, programs;
} three_axes[] = {
	{"4,16", "16,2,2", "0,2", 4, 188},
	{"4,8", "8,2,2", "0,2", 4, 188},
	{"4,16", "4,2,8", "0,2", 5, 235},
};

START_TEST(programs_of_three_axes)
{
	struct placement_case c = read_case(three_axes[_i].levels, three_axes[_i].axes,
	                                    three_axes[_i].reduce);
	struct reduction_clock clock = p2_of(&c);
	struct placed *placed;
	int64_t n, programs = 0;

	ck_assert_int_eq(placement_search(&placed, &n, arena, &c, &clock, &error), OK);
	for (int64_t i = 0; i < n; i++)
		programs += placed[i].programs;
	ck_assert_int_eq(n, three_axes[_i].matrices);
	ck_assert_int_eq(programs, three_axes[_i].programs);
}
END_TEST

static const struct {
	const char *levels, *axes, *reduce;
} search_table[] = {
	{"2,16", "4,8", "1"},      {"4,16", "16,2,2", "0,2"},
	{"3,16", "6,8", "0"},      {"3,16", "2,4,6", "0,2"},
	{"5,16", "10,2,4", "0,1"}, {"4,8", "8,2,2", "0,2"},
	{"3,8", "6,4", "1"},       {"3,8", "2,2,6", "0,2"},
	{"2,2,16", "4,16", "1"},   {"2,3,8", "6,4,2", "0,2"},
	{"5,8", "4,10", "0"},      {"2,2,8", "2,2,2,4", "0,1,3"},
};

/*
 * The clock of schedules on a machine of links, against the simulator that knows rules.
 */
struct both {
	const struct p2_system *p2;
	const struct machine *machine;
	struct model *model;
	int64_t steps;
};

static double agreed(void *self, const struct reduction_step *step, double held_bytes,
                     struct text *why)
{
	struct both *both = self;
	double p2_s = p2_step_s(both->p2, step, held_bytes), s;
	struct arena *a = arena_new();
	struct lowered lowered;

	ck_assert_msg(reduction_lower(&lowered, a, both->machine, step, held_bytes, why),
	              "%s", why->s);
	s = model_schedule_s(both->model, &lowered.schedule) + lowered.launch_s;
	ck_assert_double_eq_tol(s / p2_s, 1, 1e-12);
	arena_free(a);
	both->steps++;
	return s;
}

START_TEST(schedules_take_the_simulated_time)
{
	struct placement_case c =
		read_case(search_table[_i].levels, search_table[_i].axes,
	                  search_table[_i].reduce);
	const struct p2_system *p2 = p2_system_of(&c.hierarchy);
	int32_t nodes = c.hierarchy.ndevices / p2->gpus;
	struct both both = {
		.p2 = p2,
		.machine = p2 == &p2_a100 ? machine_p2_a100(arena, nodes)
	                                  : machine_p2_v100(arena, nodes),
	};
	struct reduction_clock clock = {agreed, &both};
	struct placed *placed;
	int64_t n;

	both.model = model_new(both.machine);
	ck_assert_int_eq(placement_search(&placed, &n, arena, &c, &clock, &error), OK);
	ck_assert_int_gt(both.steps, n);
	model_free(both.model);
}
END_TEST

/* Ranked; the best of all programs, which take what they take one by one. */
START_TEST(search_finds_the_best)
{
	struct placement_case c =
		read_case(search_table[_i].levels, search_table[_i].axes,
	                  search_table[_i].reduce);
	struct reduction_clock clock = p2_of(&c);
	const struct p2_system *p2 = clock.self;
	struct placed *placed;
	int64_t n;

	ck_assert_int_eq(placement_search(&placed, &n, arena, &c, &clock, &error), OK);
	for (int64_t i = 0; i < n; i++) {
		const struct placed *p = &placed[i];

		ck_assert(i == 0 || p->best_s >= p[-1].best_s * (1 - 1e-11));
		ck_assert_double_eq(p->best_s, fmin(p->order_s[0], p->order_s[1]));
		ck_assert(p->best_s <= p->allreduce_s * (1 + 1e-12));
		for (int order = 0; order < ORDERS; order++) {
			struct timed_program *programs;
			struct reduction r;
			struct space space;
			int64_t count;

			space_collapsed(&space, arena, &c.hierarchy, &p->matrix,
			                c.reduce, order);
			ck_assert_int_eq(placement_programs(&programs, &count, arena,
			                                    &p->matrix, order, &cache,
			                                    &c, &clock, &error),
			                 OK);
			ck_assert_int_eq(count, p->programs);
			if (p->split && order == ORDER_LEVEL)
				ck_assert_double_lt(p->order_s[order],
				                    programs[0].time_s);
			else
				ck_assert_double_eq_tol(programs[0].time_s /
				                                p->order_s[order],
				                        1, 1e-12);
			for (int64_t k = 0; k<count; k += count> 50 ? 31 : 1) {
				reduction_of(&r, arena, &space, &programs[k].program);
				ck_assert_double_eq_tol(
					p2_reduction_s(p2, &r, c.payload_bytes) /
						programs[k].time_s,
					1, 1e-12);
			}
			if (order == (int)p->order && !p->split)
				ck_assert_mem_eq(&programs[0].program, &p->best,
				                 sizeof(p->best));
		}
	}
}
END_TEST

static double refuses(void *self, const struct reduction_step *step, double held_bytes,
                      struct text *why)
{
	(void)self, (void)held_bytes;
	if (step->op != OP_BROADCAST)
		return 1;
	text_printf(why, "no broadcast here");
	return -1;
}

START_TEST(search_reports_what_is_wrong)
{
	struct placement_case c = read_case("4,16", "8,8", "1");
	struct reduction_clock clock = {refuses, NULL};
	struct placed *placed;
	int64_t n;

	ck_assert_int_eq(placement_search(&placed, &n, arena, &c, &clock, &error),
	                 E_INFEASIBLE);
	ck_assert_str_eq(error.text, "no broadcast here");
	error = (struct error){0};
	c = read_case("4,16", "8,4", "1");
	ck_assert_int_eq(placement_search(&placed, &n, arena, &c, &clock, &error),
	                 E_TYPE);
	ck_assert_msg(strstr(error.text, "32 devices, the hierarchy 64"), "%s",
	              error.text);
}
END_TEST

/* An axis of one device: nothing to do, in no time. */
START_TEST(nothing_to_reduce)
{
	struct placement_case c = read_case("3,16", "48,1", "1");
	struct reduction_clock clock = p2_of(&c);
	struct placed *placed;
	int64_t n;

	ck_assert_int_eq(placement_search(&placed, &n, arena, &c, &clock, &error), OK);
	ck_assert_int_eq(n, 1);
	ck_assert_int_eq(placed->programs, 1);
	ck_assert_int_eq(placed->best.n, 0);
	ck_assert_double_eq(placed->best_s, 0);
	ck_assert_double_eq(placed->allreduce_s, 0);
}
END_TEST

START_TEST(orders_asked_for)
{
	struct placement_case c = read_case("4,16", "16,2,2", "0,2");
	struct reduction_clock clock = p2_of(&c);
	struct placed *placed;
	int64_t n;

	for (int order = 0; order < ORDERS; order++) {
		c.orders = 1u << order;
		ck_assert_int_eq(
			placement_search(&placed, &n, arena, &c, &clock, &error), OK);
		for (int64_t i = 0; i < n; i++) {
			ck_assert_int_eq(placed[i].order, order);
			ck_assert_double_eq(placed[i].order_s[order], placed[i].best_s);
			ck_assert_double_lt(placed[i].order_s[!order], 0);
		}
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("p2");
	TCase *t = tcase_create("p2");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, printed_seconds, 0, COUNT(printed_table));
	tcase_add_loop_test(t, level_order_keeps_the_levels, 0, COUNT(order_table));
	tcase_add_test(t, slowest_program_is_the_printed_one);
	tcase_add_test(t, programs_of_the_published_groups);
	tcase_add_loop_test(t, programs_of_three_axes, 0, COUNT(three_axes));
	tcase_add_loop_test(t, schedules_take_the_simulated_time, 0,
	                    COUNT(search_table));
	tcase_add_loop_test(t, search_finds_the_best, 0, COUNT(search_table));
	tcase_add_test(t, search_reports_what_is_wrong);
	tcase_add_test(t, nothing_to_reduce);
	tcase_add_test(t, orders_asked_for);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return s;
}
