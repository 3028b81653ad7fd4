#include "collective/device_ring.h"
#include "cost/model.h"
#include "placement/program.h"
#include "placement_help.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

/* Programs executed, faults that execution must find, and programs as schedules. */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;
static struct error error;
static struct synth_cache cache;
static const struct where at = {.file = "--program", .line = 1, .col = 1};

static void setup(void)
{
	arena = arena_new();
	error = (struct error){0};
	cache = (struct synth_cache){.arena = arena_new()};
}

static void teardown(void)
{
	arena_free(arena);
	arena_free(cache.arena);
}

/* All programs of one case, in both orders, on every device. */
static void run_all(void *self, const struct placed_case *c)
{
	int64_t *programs = self;

	for (int order = 0; order < ORDERS; order++) {
		const struct synthesis *s;
		struct synth_walk walk;
		struct space space;

		arena_reset(arena);
		space_collapsed(&space, arena, &c->hierarchy, &c->matrix, c->reduce,
		                order);
		ck_assert_int_eq(synth_cached(&s, &cache, &space.tree, PROGRAM_STEPS,
		                              at, &error),
		                 OK);
		walk = (struct synth_walk){.s = s};
		for (; synth_next(&walk); (*programs)++) {
			const char *fault =
				program_fault(arena, c, order, &walk.program);

			ck_assert_msg(!fault, "%s", fault);
		}
	}
}

static const int32_t run_devices[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 12};

START_TEST(every_program_sums)
{
	int64_t programs = 0;

	each_placement(run_devices[_i], run_all, &programs);
	ck_assert_int_ge(programs, 2 * 3);
}
END_TEST

/* Axes 3, 2, 2 on levels 3 and 4; the sum over axes 0 and 2. */
static struct placed_case faulty_case(void)
{
	struct placed_case c = {.reduce = 5};

	ck_assert_int_eq(hierarchy_parse(&c.hierarchy, arena, "3,4", at, &error), OK);
	ck_assert_int_eq(axes_parse(&c.axes, arena, "3,2,2", at, &error), OK);
	ck_assert_int_eq(matrix_parse(&c.matrix, "[[3 1][1 2][1 2]]", at, &error), OK);
	return c;
}

static void lowered(struct reduction *out, struct placed_case *c, const char *text)
{
	struct program p;
	struct space space;

	*c = faulty_case();
	space_collapsed(&space, arena, &c->hierarchy, &c->matrix, c->reduce,
	                ORDER_LEVEL);
	ck_assert_int_eq(program_parse(&p, text, &space.tree, at, &error), OK);
	reduction_of(out, arena, &space, &p);
}

#define RS "(level0, InsideGroup, ReduceScatter)"
#define AR "(level0, Parallel(root), AllReduce)"
#define AG "(level0, InsideGroup, AllGather)"
#define R "(level0, InsideGroup, Reduce)"

/* Programs that break the rules, or leave the sum unfinished. */
static const struct {
	const char *program, *fault;
} fault_table[] = {
	{"", "chunk 0 of device 0 is not the sum"},
	{RS ";" AR, "is missing"},
	{RS ";" AG, "is not the sum"},
	{AR ";" AR, "is not the sum"},
	{"(root, InsideGroup, AllReduce);" AR, "is not the sum"},
	{RS ";(level0, InsideGroup, AllReduce)", "add different chunks in step 2"},
	{AG, "is gathered twice in step 1, all-gather"},
	{RS ";" AG ";" AG, "is gathered twice in step 3"},
	{RS ";(level0, Master(root), AllReduce);" AG, "is not the sum"},
	{R ";(level0, Master(root), AllReduce)", "is missing"},
	{R ";" AG, "gather 6 and 0 chunks in step 2"},
	{R ";" AR, "holds 0 of 6 chunks, not 6 in step 2"},
	{RS ";(root, InsideGroup, ReduceScatter)", "add different chunks"},
	{"(root, InsideGroup, ReduceScatter);(root, InsideGroup, ReduceScatter)",
         "add different chunks"},
	{AR ";" RS ";(level0, Parallel(root), ReduceScatter);"
            "(level0, Parallel(root), ReduceScatter)",
         "add different chunks in step 4"},
	{"(level0, InsideGroup, Broadcast);(level0, Parallel(root), AllReduce)",
         "is not the sum"},
};

START_TEST(faults_are_found)
{
	struct placed_case c;
	struct reduction r;
	struct text why = {0};

	lowered(&r, &c, fault_table[_i].program);
	ck_assert(!reduction_check(&r, &c.matrix, c.reduce, &why));
	ck_assert_msg(strstr(why.s, fault_table[_i].fault), "%s", why.s);
	text_free(&why);
}
END_TEST

/* Steps from `first` on, the others being taken; is it right? */
static bool takes(struct checker *checker, const struct reduction *r, int first,
                  struct text *why)
{
	for (int i = first; i < r->n; i++)
		if (!checker_step(checker, i, &r->step[i], why))
			return false;
	return checker_end(checker, r->n, why);
}

/* A good program, a bad one and the good one again, from the second step on. */
START_TEST(programs_share_a_beginning)
{
	struct reduction good, bad;
	struct checker *checker;
	struct placed_case c;
	struct text why = {0};

	lowered(&bad, &c, RS ";" AG ";" AG);
	lowered(&good, &c, RS ";" AR ";" AG);
	checker = checker_new(&c.matrix, c.reduce, 3);
	ck_assert(takes(checker, &good, 0, &why));
	ck_assert(!takes(checker, &bad, 1, &why));
	ck_assert_msg(strstr(why.s, "is gathered twice in step 3"), "%s", why.s);
	ck_assert(takes(checker, &good, 1, &why));
	ck_assert(!checker_end(checker, 2, &why));
	checker_free(checker);
	text_free(&why);
}
END_TEST

/* A good program with one thing changed. */
START_TEST(changes_are_found)
{
	for (int change = 0; change < 7; change++) {
		struct placed_case c;
		struct reduction r;
		struct text why = {0};
		int32_t *ids, other;
		struct groups *g;

		lowered(&r, &c, RS ";" AR ";" AG);
		ck_assert(reduction_check(&r, &c.matrix, c.reduce, &why));
		g = &r.step[change % 3].groups;
		ids = arena_dup(arena, g->ids, (size_t)g->ngroups * (size_t)g->size,
		                sizeof(*ids));
		g->ids = ids;
		switch (change) {
		case 0: /* members of two reduction groups exchanged */
			other = (g->ngroups - 1) * g->size + 1;
			ids[1] = ids[other];
			ids[other] = 1;
			break;
		case 1:
			ids[0] = ids[g->size];
			break;
		case 2:
			ids[0] = 12;
			break;
		case 3:
			g->ngroups--;
			break;
		case 4:
			r.step[1].share *= 2;
			break;
		case 5:
			r.n--;
			break;
		default:
			c.reduce = 6;
		}
		ck_assert_msg(!reduction_check(&r, &c.matrix, c.reduce, &why),
		              "change %d was not found", change);
		ck_assert(why.s && why.s[0]);
		text_free(&why);
	}
}
END_TEST

/* Groups {4,1,3} and {2,6,5}: rings in device order from the root on. */
static const int32_t ring_ids[] = {4, 1, 3, 2, 6, 5};
static const int32_t ring_hops[6][2] = {{4, 1}, {1, 3}, {3, 4}, {2, 5}, {5, 6}, {6, 2}};

/* What one of three devices sends that holds 48 KiB + 1, and how often in turn. */
static const struct {
	double bytes;
	int32_t repeats;
} ring_figures[] = {
	{4 * 49153 / 3.0, 4}, {2 * 49153 / 3.0, 2}, {2 * 49153, 2},
	{49153, 2},           {49153, 2},
};

START_TEST(rings_follow_the_devices)
{
	struct link link = {"l", 1e9, 1e-6};
	struct machine *m = machine_gpu(arena, 1, 7, link, link, (struct device){0});
	struct groups g = {2, 3, ring_ids};
	struct schedule s = {.arena = arena};

	ck_assert(algorithm_device_ring.applies(m, sums_ops[_i], &g));
	algorithm_device_ring.build(&s, m, sums_ops[_i], &g, 49153);
	ck_assert_int_eq(s.nrounds, 1);
	ck_assert_int_eq(s.ntasks, 2);
	ck_assert_int_eq(s.nmessages, 6);
	for (int t = 0; t < 2; t++)
		ck_assert_int_eq(s.task[t].repeats, ring_figures[_i].repeats);
	for (int k = 0; k < 6; k++) {
		ck_assert_int_eq(s.message[k].src, ring_hops[k][0]);
		ck_assert_int_eq(s.message[k].dst, ring_hops[k][1]);
		ck_assert_double_eq_tol(s.message[k].bytes, ring_figures[_i].bytes,
		                        1e-9);
	}
}
END_TEST

START_TEST(rings_of_one_are_nothing)
{
	struct link link = {"l", 1e9, 1e-6};
	struct machine *m = machine_gpu(arena, 1, 7, link, link, (struct device){0});
	struct groups g = {6, 1, ring_ids};
	struct schedule s = {.arena = arena};

	ck_assert(algorithm_device_ring.applies(m, OP_REDUCE, &g));
	algorithm_device_ring.build(&s, m, OP_REDUCE, &g, 5);
	ck_assert_int_eq(s.nrounds, 0);
	g = (struct groups){1, 6, ring_ids};
	ck_assert(!algorithm_device_ring.applies(m, OP_ALL_TO_ALL, &g));
}
END_TEST

/* On other machines the collectives are theirs; only the chains are ours. */
START_TEST(lowered_on_any_machine)
{
	static const char *const names[] = {"two-level", "two-level", "two-level",
	                                    "chain", "chain"};
	const int32_t ids[] = {0, 1, 5, 6};
	struct machine *m = machine_gpu(arena, 3, 5, (struct link){"nv", 2e9, 1e-6},
	                                (struct link){"nic", 1e9, 3e-6},
	                                (struct device){0, 7e9, 5e-6});
	/* Of 49153 bytes held by each of four: what they receive and add up. */
	const double added[] = {6 * 49153 / 4.0, 3 * 49153 / 4.0, 0, 49153, 0};
	struct model *model = model_new(m);

	for (int k = 0; k < SUMS_OPS; k++) {
		enum op op = sums_ops[k];
		struct reduction_step step = {op, {1, 4, ids}, 1};
		struct lowered out;
		struct text why = {0};

		ck_assert(reduction_lower(&out, arena, m, &step, 49153, &why));
		ck_assert_str_eq(out.algorithm, names[k]);
		ck_assert_double_eq(out.launch_s, 5e-6);
		ck_assert_double_eq_tol(out.local_s, 3 * added[k] / 7e9, 1e-15);
		if (op == OP_REDUCE || op == OP_BROADCAST)
			/* A link's latency is half a way; three hops. */
			ck_assert_double_eq_tol(
				model_schedule_s(model, &out.schedule),
				3 * machine_latency(m, 1, 0, 5) + 49153 / 1e9, 1e-15);
	}
	model_free(model);
}
END_TEST

START_TEST(lowered_where_it_cannot_be)
{
	const int32_t ids[] = {0, 1, 5, 15};
	struct link link = {"l", 1e9, 1e-6};
	struct machine *m = machine_gpu(arena, 3, 5, link, link, (struct device){0});
	struct reduction_step step = {OP_BROADCAST, {1, 4, ids}, 1};
	struct lowered out;
	struct text why = {0};

	ck_assert(!reduction_lower(&out, arena, m, &step, 7, &why));
	ck_assert_msg(strstr(why.s, "no device 15"), "%s", why.s);
	text_free(&why);
	step.groups.size = 3;
	m->nfabrics = 1;
	ck_assert(!reduction_lower(&out, arena, m, &step, 7, &why));
	ck_assert_msg(strstr(why.s, "joins devices 0 and 5"), "%s", why.s);
	text_free(&why);
	m->fabric[0].profile = "p2";
	ck_assert(!reduction_lower(&out, arena, m, &step, 7, &why));
	ck_assert_msg(strstr(why.s, "joins devices 0 and 5"), "%s", why.s);
	text_free(&why);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("placement_run");
	TCase *t = tcase_create("placement_run");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, every_program_sums, 0, COUNT(run_devices));
	tcase_add_loop_test(t, faults_are_found, 0, COUNT(fault_table));
	tcase_add_test(t, programs_share_a_beginning);
	tcase_add_test(t, changes_are_found);
	tcase_add_loop_test(t, rings_follow_the_devices, 0, SUMS_OPS);
	tcase_add_test(t, rings_of_one_are_nothing);
	tcase_add_test(t, lowered_on_any_machine);
	tcase_add_test(t, lowered_where_it_cannot_be);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return s;
}
