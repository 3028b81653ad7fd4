#include "collective/lower.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

/* Steps of plans as schedules: algorithm, placement, local work, launch. */

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct link nic = {.bandwidth_Bps = 23e9, .latency_s = 2e-6};
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

static struct problem *problem_of(const char *array, const char *from)
{
	struct problem_text t = {.array = array, .mesh = "x=4,y=2", .from = from};
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct error e = {0};

	t.to = from;
	ck_assert_msg(problem_make(p, arena, &t, &e) == OK, "%s", e.text);
	return p;
}

/* A torus of 4 (wrapped) x 2 whose device 5 is the slowest to launch and to copy. */
static struct machine *torus(void)
{
	struct machine *m = machine_torus(arena, 2, (int32_t[]){4, 2},
	                                  (bool[]){true, true}, ici, device);
	struct device *all = arena_dup(arena, m->device, 8, sizeof(*all));

	all[5] = (struct device){.memory_Bps = 4e11, .launch_s = 7e-6};
	all[2].memory_Bps = 0; /* copies for free */
	m->device = all;
	return m;
}

static const struct part X = {0, 1, 4}, Y = {1, 1, 2};

static struct move move_of(const struct part *part, int from_dim, int to_dim)
{
	return (struct move){from_dim, to_dim, part->size, 1, part};
}

static void near(double found, double wanted, const char *what)
{
	ck_assert_msg(fabs(found - wanted) <= 1e-12 * fabs(wanted),
	              "%s: found %.17g, wanted %.17g", what, found, wanted);
}

/*
 * traffic_bytes by hand. The tile of bf16[96,80] over P('x','y') is 24 x 40 x 2 = 1920
 * bytes; gathered along y it is 3840, along x 7680, along both 15360.
 */
static const struct {
	enum op op;
	const char *array, *from;
	int nmoves;
	const struct part *part[2];
	int from_dim[2], to_dim[2];
	const char *algorithm;
	double traffic_bytes;
} steps[] = {
	{OP_ALL_GATHER, "bf16[96,80]", "P('x','y')", 1, {&Y}, {1}, {-1}, "line", 2 * 3840},
	{OP_ALL_GATHER, "bf16[96,80]", "P('x','y')", 1, {&X}, {0}, {-1}, "bidir-ring", 0},
	/* the outer dimension has one element on a device */
	{OP_ALL_GATHER, "bf16[4,80]", "P('x','y')", 1, {&Y}, {1}, {-1}, "line", 0},
	{OP_ALL_GATHER,
         "bf16[96,80]",
         "P('x','y')",
         2,
         {&X, &Y},
         {0, 1},
         {-1, -1},
         "torus",
         2 * 15360},
	{OP_ALL_GATHER,
         "bf16[96,80]",
         "P(None,('x','y'))",
         1,
         {&Y},
         {1},
         {-1},
         "line",
         2 * 3840},
	{OP_ALL_TO_ALL, "bf16[96,80]", "P('x','y')", 1, {&X}, {0}, {1}, "bidir-ring", 4 * 1920},
	{OP_ALL_TO_ALL, "s4[96,80]", "P(('x','y'),None)", 1, {&Y}, {0}, {1}, "line", 4 * 480},
	{OP_SLICE, "bf16[96,80]", "P(None,'y')", 1, {&X}, {-1}, {0}, NULL, 2 * 1920},
};

START_TEST(local_work_and_launch)
{
	struct problem *p = problem_of(steps[_i].array, steps[_i].from);
	struct plan *plan = plan_new(arena, p, "test");
	struct machine *m = torus();
	struct text why = {0};
	struct move moves[2];
	struct lowered out;

	for (int i = 0; i < steps[_i].nmoves; i++)
		moves[i] = move_of(steps[_i].part[i], steps[_i].from_dim[i],
		                   steps[_i].to_dim[i]);
	plan_axes_step(plan, steps[_i].op, moves, steps[_i].nmoves);
	ck_assert(lower_step(&out, arena, m, NULL, plan, 0, &why));
	ck_assert_ptr_null(why.s);
	if (steps[_i].algorithm)
		ck_assert_str_eq(out.algorithm, steps[_i].algorithm);
	else
		ck_assert_ptr_null(out.algorithm);
	ck_assert_int_eq(out.schedule.nrounds > 0, steps[_i].algorithm != NULL);
	near(out.launch_s, 7e-6, "launch");
	near(out.local_s, steps[_i].traffic_bytes / 4e11, "local work");
	near(lower_local_s(m, NULL, plan, 0), out.local_s, "local work alone");
}
END_TEST

/* Reductions: 3 x what is received, (q-1)/q of the buffer or, by an all-reduce, twice. */
START_TEST(reductions_read_two_and_write_one)
{
	struct problem *p = problem_of("f32[30,40]", "P(None,None)");
	struct plan *plan = plan_new(arena, p, "test");
	struct groups g = {2, 4, (int32_t[]){0, 2, 4, 6, 1, 3, 5, 7}};
	struct machine *m = torus();
	struct text why = {0};
	struct lowered out;

	plan_groups_step(plan, OP_ALL_REDUCE, NULL, 0, g, NULL, &p->from);
	plan_groups_step(plan, OP_REDUCE_SCATTER, NULL, 0, g, NULL, &p->from);
	for (int i = 0; i < 2; i++) {
		ck_assert(lower_step(&out, arena, m, NULL, plan, i, &why));
		ck_assert_str_eq(out.algorithm, "bidir-ring");
		near(out.local_s, 3 * 4800 * 3 / 4 * (i ? 1 : 2) / 4e11, "local work");
		near(out.schedule.message[0].bytes, 4800 * 3 / 4 / (i ? 2. : 1.),
		     "bytes per link");
	}
}
END_TEST

/* All copies are free where no device has a memory bandwidth. */
START_TEST(no_memory_bandwidth_means_free)
{
	struct machine *m = torus();
	struct plan *plan = plan_new(arena, problem_of("f32[16]", "P('x')"), "test");
	struct move move = move_of(&Y, -1, 0);
	struct device *all = arena_alloc(arena, 8, sizeof(*all));

	m->device = all;
	plan_axes_step(plan, OP_SLICE, &move, 1);
	ck_assert(lower_local_s(m, NULL, plan, 0) == 0);
}
END_TEST

/* P('x','y') to P('y','x') is none of one mesh; to ('y','x') order it is a permute. */
START_TEST(a_permute_is_its_pairs)
{
	static const int32_t back[] = {7, 6, 5, 4, 3, 2, 1, 0};
	struct placement turned = {8, back};
	struct problem *p = problem_of("bf16[96,80]", "P(('x','y'),None)");
	struct problem *q = problem_of("bf16[96,80]", "P(('y','x'),None)");
	struct plan *plan = plan_new(arena, p, "test");
	struct machine *m = torus();
	struct text why = {0};
	struct lowered out;
	int moved = 0;

	plan_permute(plan, &q->from);
	ck_assert(lower_step(&out, arena, m, &turned, plan, 0, &why));
	ck_assert_str_eq(out.algorithm, "permute");
	ck_assert(out.local_s == 0);
	near(out.launch_s, 7e-6, "launch");
	ck_assert_int_eq(out.schedule.nrounds, 1);
	for (int32_t i = 0; i < plan->step[0].npairs; i++) {
		struct pair pair = plan->step[0].pairs[i];
		const struct task *t = &out.schedule.task[moved];

		if (pair.src == pair.dst)
			continue;
		ck_assert_int_eq(t->nmessages, 1);
		ck_assert_int_eq(t->repeats, 1);
		ck_assert_int_eq(out.schedule.message[t->first].src, 7 - pair.src);
		ck_assert_int_eq(out.schedule.message[t->first].dst, 7 - pair.dst);
		near(out.schedule.message[t->first].bytes, 96 * 80 * 2 / 8, "bytes");
		moved++;
	}
	ck_assert_int_eq(moved, 6);
	ck_assert_int_eq(out.schedule.ntasks, 6);
}
END_TEST

/* Placed so that mesh axis y runs along the wrapped machine axis. */
START_TEST(placement_decides_the_algorithm)
{
	static const int32_t order[] = {0, 2, 4, 6, 1, 3, 5, 7};
	struct placement place = {8, order};
	struct plan *plan =
		plan_new(arena, problem_of("f32[16]", "P(('x','y'))"), "test");
	struct machine *m = torus();
	struct text why = {0};
	struct move move = move_of(&Y, 0, -1);
	struct lowered out;

	plan_axes_step(plan, OP_ALL_GATHER, &move, 1);
	ck_assert(lower_step(&out, arena, m, NULL, plan, 0, &why));
	ck_assert_int_eq(out.schedule.message[0].src ^ out.schedule.message[0].dst, 1);
	ck_assert(lower_step(&out, arena, m, &place, plan, 0, &why));
	ck_assert_int_eq(out.schedule.message[0].src % 2,
	                 out.schedule.message[0].dst % 2);
}
END_TEST

static const struct {
	int32_t n;
	int32_t platform[8];
	const char *why;
} misplaced[] = {
	{7, {0, 1, 2, 3, 4, 5, 6}, "8 devices do not fit on the 7 of torus"},
	{8, {0, 1, 2, 3, 4, 5, 6, 8}, "torus has no device 8"},
	{8, {0, 1, 2, -1, 4, 5, 6, 7}, "torus has no device -1"},
};

START_TEST(misplaced_devices_are_named)
{
	struct placement place = {misplaced[_i].n, misplaced[_i].platform};
	struct plan *plan = plan_new(arena, problem_of("f32[16]", "P('x')"), "test");
	struct move move = move_of(&X, 0, -1);
	struct text why = {0};
	struct lowered out;

	plan_axes_step(plan, OP_ALL_GATHER, &move, 1);
	ck_assert(!lower_step(&out, arena, torus(), &place, plan, 0, &why));
	ck_assert_str_eq(why.s, misplaced[_i].why);
	text_free(&why);
}
END_TEST

START_TEST(a_machine_too_small_is_said_so)
{
	struct plan *plan = plan_new(arena, problem_of("f32[16]", "P('x')"), "test");
	struct machine *m = machine_gpu(arena, 1, 5, ici, nic, device);
	struct move move = move_of(&X, 0, -1);
	struct text why = {0};
	struct lowered out;

	plan_axes_step(plan, OP_ALL_GATHER, &move, 1);
	ck_assert(!lower_step(&out, arena, m, NULL, plan, 0, &why));
	ck_assert_str_eq(why.s, "8 devices do not fit on the 5 of gpu");
	text_free(&why);
}
END_TEST

START_TEST(unjoined_devices_are_named)
{
	struct machine *m = machine_gpu(arena, 2, 4, ici, nic, device);
	struct problem *p = problem_of("f32[16]", "P(('x','y'))");
	struct problem *q = problem_of("f32[16]", "P(('y','x'))");
	struct plan *plan = plan_new(arena, p, "test");
	struct move move = move_of(&X, 0, -1);
	struct text why = {0};
	struct lowered out;

	m->nfabrics = 1; /* without the network */
	plan_permute(plan, &q->from);
	plan_axes_step(plan, OP_ALL_GATHER, &move, 1);
	ck_assert(!lower_step(&out, arena, m, NULL, plan, 0, &why));
	ck_assert_msg(strstr(why.s, "no fabric of gpu joins devices") == why.s, "%s",
	              why.s);
	text_free(&why);
	ck_assert(!lower_step(&out, arena, m, NULL, plan, 1, &why));
	ck_assert_str_eq(why.s, "no fabric of gpu joins devices 0 and 4");
	text_free(&why);
}
END_TEST

/*
 * Boxes of f32[24] by hand, 3 numbers a device. From 0 to 1 go 2 and 1 numbers, from 1 to
 * 3 one, which makes one set of 0, 1, 3; from 4 to 6 goes a whole tile.
 */
static const int64_t boxes[][2] = {{0, 2}, {2, 3}, {3, 4}, {12, 15}};
static const struct transfer transfers[] = {
	{4, 6, 3, boxes[3]},
	{0, 1, 2, boxes[0]},
	{1, 3, 1, boxes[2]},
	{0, 1, 1, boxes[1]},
};

START_TEST(boxes_are_added_up_by_pair)
{
	struct problem *p = problem_of("f32[24]", "P(('x','y'))");
	struct plan *plan = plan_new(arena, p, "test");
	struct machine *m = torus();
	struct text why = {0};
	struct lowered out;
	const struct schedule *s = &out.schedule;
	/* source, destination, bytes in the order of sets */
	const int wanted[3][3] = {{0, 1, 12}, {1, 3, 4}, {4, 6, 12}};
	bool seen[3] = {false};

	if (_i)
		plan_permute_parts(plan, transfers, 4);
	else
		plan_exchange(plan, &p->from, &p->mesh, transfers, 4);
	ck_assert(lower_step(&out, arena, m, NULL, plan, 0, &why));
	ck_assert_str_eq(out.algorithm, _i ? "permute" : "direct");
	ck_assert_int_eq(s->nrounds, 1);
	ck_assert_int_eq(s->nmessages, 3);
	ck_assert_int_eq(s->ntasks, _i ? 3 : 2);
	for (int64_t i = 0; i < s->nmessages; i++)
		for (int k = 0; k < 3; k++)
			if (s->message[i].src == wanted[k][0]) {
				ck_assert_int_eq(s->message[i].dst, wanted[k][1]);
				near(s->message[i].bytes, wanted[k][2], "bytes");
				seen[k] = true;
			}
	ck_assert(seen[0] && seen[1] && seen[2]);
	if (!_i)
		ck_assert_int_eq(s->task[0].nmessages + s->task[1].nmessages, 3);
	near(out.launch_s, 7e-6, "launch");
	/* Device 1 unpacks 2 and 1 numbers and packs 1; whole tiles go as they are. */
	near(out.local_s, 2 * 4 * 4 / 4e11, "local work");
}
END_TEST

START_TEST(a_collective_alone_has_a_launch_and_no_local_work)
{
	struct machine *m = torus();
	struct groups g = {1, 3, (int32_t[]){4, 5, 0}};
	struct text why = {0};
	struct lowered out;

	ck_assert(lower_collective(&out, arena, m, OP_ALL_GATHER, g, 105, &why));
	ck_assert_str_eq(out.algorithm, "ring");
	ck_assert_int_eq(out.schedule.task[0].repeats, 2);
	near(out.schedule.message[0].bytes, 210, "bytes");
	near(out.launch_s, 7e-6, "launch");
	ck_assert(out.local_s == 0);
	g.ids = (int32_t[]){4, 6, 0};
	ck_assert(lower_collective(&out, arena, m, OP_ALL_TO_ALL, g, 105, &why));
	ck_assert_str_eq(out.algorithm, "line"); /* 4, 6, 0 pass over the wrap */
	near(out.launch_s, 5e-6, "launch");
}
END_TEST

/* 2 groups of 8,192 lie apart on a torus: they are 134,201,344 ordered pairs. */
START_TEST(a_step_of_too_many_messages_is_refused)
{
	enum { DEVICES = 16384 };
	const int32_t shape[] = {128, 128};
	struct machine *m =
		machine_torus(arena, 2, shape, (bool[]){true, true}, ici, device);
	int32_t *ids = arena_alloc(arena, DEVICES, sizeof(*ids));
	struct groups g = {2, DEVICES / 2, ids};
	struct text why = {0};
	struct lowered out;

	for (int32_t i = 0; i < DEVICES; i++)
		ids[i] = 2 * (i % (DEVICES / 2)) + i / (DEVICES / 2);
	ck_assert(!lower_collective(&out, arena, m, OP_ALL_TO_ALL, g, 1e6, &why));
	ck_assert_str_eq(
		why.s, "pairwise has 134201344 messages for an all-to-all in 2 groups "
		       "of 8192 devices, and at most 67108864 are timed");
	text_free(&why);
}
END_TEST

/* Takes rounds down in full, up to a number of them. */
struct readings {
	struct text text;
	int n, most;
};

static bool take_round(void *self, const struct schedule *s)
{
	struct readings *r = self;

	ck_assert_int_eq(s->nrounds, 1);
	if (r->n++)
		text_printf(&r->text, "\n");
	for (int64_t i = 0; i < s->round->ntasks; i++) {
		const struct task *t = &s->task[s->round->first + i];

		text_printf(&r->text, "%d %.15g %.15g\n", (int)t->repeats, t->delay_s,
		            t->least_s);
		for (int64_t k = 0; k < t->nmessages; k++) {
			const struct message *msg = &s->message[t->first + k];

			text_printf(&r->text, "%d %d %d %.15g\n", (int)msg->src,
			            (int)msg->dst, (int)msg->fabric, msg->bytes);
		}
	}
	return r->n < r->most;
}

/*
 * Whoever reads a collective round by round sees the rounds of its schedule, or the first
 * ones: of algorithms by geometry, which are not kept, and of libraries, which are.
 */
START_TEST(rounds_are_read_as_they_are_made)
{
	static const enum op ops[] = {OP_ALL_TO_ALL, OP_ALL_GATHER, OP_ALL_REDUCE,
	                              OP_PERMUTE};
	int several = 0;

	for (int k = 0; k < 4 * 3 * 4; k++) {
		struct machine *m =
			k % 3 ? machine_gpu(arena, 4, 4, nic, nic, device)
			      : machine_torus(arena, 2, (int32_t[]){4, 4},
		                              (bool[]){true, false}, ici, device);
		struct groups g = {2, 8,
		                   (int32_t[]){0, 1, 2, 4, 5, 6, 8, 9, 3, 7, 15, 11, 10,
		                               14, 13, 12}};
		struct readings kept = {.most = 1000},
				made = {.most = k / 12 ? k / 12 : 1000};
		enum op op = ops[k / 3 % 4];
		struct lowered out;
		struct text why = {0};

		if (k % 3 == 2)
			m->fabric[0].profile = m->fabric[1].profile = "nccl";
		ck_assert(lower_collective(&out, arena, m, op, g, 1 << 20, &why));
		several += out.schedule.nrounds > 3;
		schedule_rounds(&out.schedule, take_round, &kept);
		ck_assert(kept.n == out.schedule.nrounds);
		ck_assert(lower_collective_rounds(&out, arena, m, op, g, 1 << 20,
		                                  take_round, &made, &why));
		ck_assert_int_eq(out.schedule.nrounds, 0);
		ck_assert_int_eq(made.n, made.most < kept.n ? made.most : kept.n);
		ck_assert(memcmp(made.text.s, kept.text.s, made.text.length) == 0);
		ck_assert(made.n < kept.n || made.text.length == kept.text.length);
		text_free(&kept.text);
		text_free(&made.text);
	}
	ck_assert_int_gt(several, 4);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("lower");
	TCase *c = tcase_create("lower");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, local_work_and_launch, 0, COUNT(steps));
	tcase_add_test(c, reductions_read_two_and_write_one);
	tcase_add_test(c, no_memory_bandwidth_means_free);
	tcase_add_test(c, a_permute_is_its_pairs);
	tcase_add_test(c, placement_decides_the_algorithm);
	tcase_add_loop_test(c, misplaced_devices_are_named, 0, COUNT(misplaced));
	tcase_add_test(c, a_machine_too_small_is_said_so);
	tcase_add_test(c, unjoined_devices_are_named);
	tcase_add_loop_test(c, boxes_are_added_up_by_pair, 0, 2);
	tcase_add_test(c, a_collective_alone_has_a_launch_and_no_local_work);
	tcase_add_test(c, a_step_of_too_many_messages_is_refused);
	tcase_add_test(c, rounds_are_read_as_they_are_made);
	suite_add_tcase(suite, c);
	return suite;
}
