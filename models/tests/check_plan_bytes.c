/* Bytes and memory of plans worked by hand, and steps that must not be. */
#include "plan/plan_text.h"
#include "tests/tests.h"

#include "plan/check.h"

#include <check.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct arena *memory;

static void make_memory(void)
{
	memory = arena_new();
}

static void free_memory(void)
{
	arena_free(memory);
}

static struct problem *problem_of(struct problem_text t)
{
	struct problem *p = arena_alloc(memory, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, memory, &t, &e) == OK, "%s", e.text);
	return p;
}

static struct plan *read_plan(const struct problem *p, const char *text)
{
	struct plan *plan = NULL;
	struct error e = {0};

	ck_assert_msg(plan_parse(&plan, p, memory, text, where_option("plan", text),
	                         &e) == OK,
	              "%u:%u: %s", e.at.line, e.at.col, e.text);
	return plan;
}

/*
 * Volumes and memory worked by hand (models/README.md, "Memory"): `array` is the largest
 * tile, `live` the largest source + operand (if it is not the source) + result.
 */
static const struct {
	struct problem_text problem;
	const char *text;
	int64_t recv[4], padding[4]; /* of each step */
	int64_t total, array, live;
	bool remat;
} plans[] = {
	{/* Tiles 108, 36, 36, 72, 216 elements of 2 bytes; q = 2, 2, 3. */
         {.array = "bf16[12,18]", .mesh = "x=2,y=3", .from = "P('x')", .to = "P()"},
         "slice {y}: ->1 => P('x','y')\n"
         "all-to-all {x}: 0->1 => P(None,('y','x'))\n"
         "all-gather {x}: 1-> => P(None,'y')\n"
         "all-gather {y}: 1-> => P()\n",
         {0, 36, 72, 288},
         {0},
         396,
         432,
         216 + 144 + 432,
         false},
	{/* Tiles 108, 216, 72: the whole array in between, at neither end. */
         {.array = "bf16[12,18]", .mesh = "x=2,y=3", .from = "P('x')", .to = "P('y')"},
         "all-gather {x}: 0-> => P()\nslice {y}: ->0 => P('y')\n",
         {216, 0},
         {0},
         216,
         432,
         216 + 432 + 144,
         true},
	{/* The same in normal form: 108, 36, 36, 72. */
         {.array = "bf16[12,18]", .mesh = "x=2,y=3", .from = "P('x')", .to = "P('y')"},
         "slice {y}: ->0 => P(('x','y'),)\npermute => P(('y','x'),)\n"
         "all-gather {x}: 0-> => P('y')\n",
         {0, 72, 72},
         {0},
         144,
         216,
         216 + 72 + 144,
         false},
	{/* One array alone: the source. */
         {.array = "f32[7,5]", .mesh = "x=3", .from = "P()", .to = "P()"},
         "",
         {0},
         {0},
         0,
         140,
         140,
         false},
	{/* Half of 48 moves, then two thirds. */
         {.array = "s8[12,4,2,3]",
          .mesh = "x=3,y=2",
          .from = "P(('x','y'),None,None,None)",
          .to = "P(None,'y',None,'x')"},
         "all-to-all {y}: 0->1 => P('x','y')\n"
         "all-to-all {x}: 0->3 => P(None,'y',None,'x')\n",
         {24, 32},
         {0},
         56,
         48,
         48 * 3,
         false},
	{/* Both in one group of 6: 5/6 of 96 move. */
         {.array = "s8[12,6,4,2]",
          .mesh = "x=3,y=2",
          .from = "P('x',None,'y')",
          .to = "P(None,'x',None,'y')"},
         "all-to-all {x}: 0->1, {y}: 2->3 => P(None,'x',None,'y')\n",
         {80},
         {0},
         80,
         96,
         192,
         false},
	{/* Half bytes round up: 5 elements are 3 bytes, 10 are 5. */
         {.array = "s4[10]", .mesh = "x=2", .from = "P('x')", .to = "P()"},
         "all-gather {x}: 0-> => P()\n",
         {3},
         {0},
         3,
         5,
         8,
         false},
	{/* Rows 0-2, 3-5, 6-8, 9 and 2 of padding: device 0 gets 2 of 9 as padding. */
         {.array = "s8[10,7]", .mesh = "x=4", .from = "P('x')", .to = "P('x')"},
         "all-gather {x}: 0-> => P()\nslice {x}: ->0 => P('x')\n",
         {63, 0},
         {14, 0},
         63,
         84,
         126,
         true},
	{/* As shardy and dtensor have it, on no padded extent: rows 0-2, 3-5, 6-8, 9. */
         {.array = "f32[10,7]", .mesh = "x=4", .from = "P('x')", .to = "P()"},
         "all-gather {x}: 0-> tile [12,7] => P()\npad => P()\n",
         {252, 0},
         {56, 0},
         252,
         336,
         84 + 336 + 280,
         false},
	{/* To columns 0-1, 2-3, 4-5, 6: the last gets 9 rows of 2, half of them padding. */
         {.array = "f32[10,7]", .mesh = "x=4", .from = "P('x')", .to = "P(None,'x')"},
         "pad tile [3,8] => P('x')\nall-to-all {x}: 0->1 tile [12,2] => P(None,'x')\n"
         "pad => P(None,'x')\n",
         {0, 72, 0},
         {0, 36, 0},
         72,
         96,
         84 + 96 + 96,
         false},
	{/* Two of six stay: 0 and 5; the last tile's padding stays with 5. */
         {.array = "s8[11]",
          .mesh = "x=2,y=3",
          .from = "P(('x','y'),)",
          .to = "P(('y','x'),)"},
         "permute => P(('y','x'),)\n",
         {2},
         {0},
         2,
         2,
         4,
         false},
	{/* Reversed, so that device 0 gets the tile with one of two padding. */
         {.array = "s8[11]",
          .mesh = "x=6",
          .from = "P('x')",
          .to = "{devices=[6]5,4,3,2,1,0}"},
         "permute pairs {{0,5},{1,4},{2,3},{3,2},{4,1},{5,0}} => "
         "{devices=[6]5,4,3,2,1,0}\n",
         {2},
         {1},
         2,
         2,
         4,
         false},
};

START_TEST(plans_cost_what_they_cost_by_hand)
{
	struct plan *p = read_plan(problem_of(plans[_i].problem), plans[_i].text);
	struct text why = {0};

	ck_assert_msg(plan_check(p, &why), "%s", why.s);
	for (int i = 0; i < p->nsteps; i++) {
		ck_assert_int_eq(p->step[i].recv_bytes, plans[_i].recv[i]);
		ck_assert_int_eq(p->step[i].send_bytes, plans[_i].recv[i]);
		ck_assert_int_eq(p->step[i].padding_bytes, plans[_i].padding[i]);
	}
	ck_assert_int_eq(p->recv_bytes, plans[_i].total);
	ck_assert_int_eq(p->send_bytes, plans[_i].total);
	ck_assert_int_eq(p->peak_array_bytes, plans[_i].array);
	ck_assert_int_eq(p->peak_live_bytes, plans[_i].live);
	ck_assert_int_eq(p->full_remat, plans[_i].remat);
}
END_TEST

/* --- what only one device holds ---------------------------------------------------- */

static const struct {
	const char *array, *from, *to, *text;
	const char *why; /* NULL: right */
} lone[] = {
	{"f32[]", "P()", "P()", "", NULL},
	{"f32[]", "{maximal device=1}", "{maximal device=2}",
         "permute pairs {{1,2}} => {maximal device=2}", NULL},
	{"f32[3]", "{maximal device=1}", "{maximal device=2}",
         "permute pairs {{1,2}} => {maximal device=2}", NULL},
	{"f32[]", "{maximal device=1}", "{maximal device=2}",
         "permute pairs {{0,2}} => {maximal device=2}", "device 2 holds nothing"},
	{"f32[]", "{maximal device=1}", "P()", "", "at the end: device 0 holds nothing"},
	{"f32[3]", "{maximal device=1}", "P()", "", "at the end: device 0 holds nothing"},
	{"f32[]", "P()", "P()", "permute pairs {{0,0},{1,1}} => P()",
         "after step 1 (permute): device 2 holds nothing"},
	{"f32[3]", "P()", "P()", "permute pairs {{0,1},{1,0}} => P()",
         "after step 1 (permute): device 2 holds nothing"},
};

START_TEST(missing_data_is_missed)
{
	struct problem *p = problem_of((struct problem_text){.array = lone[_i].array,
	                                                     .mesh = "x=3",
	                                                     .from = lone[_i].from,
	                                                     .to = lone[_i].to});
	struct text why = {0};
	bool right = plan_check(read_plan(p, lone[_i].text), &why);

	ck_assert_int_eq(right, lone[_i].why == NULL);
	ck_assert_msg(right || strstr(why.s, lone[_i].why), "%s", why.s);
	text_free(&why);
}
END_TEST

/* On two meshes of the same devices the target's tiles are those of its own mesh. */
START_TEST(a_plan_may_end_on_another_mesh)
{
	struct problem *p = problem_of((struct problem_text){.array = "f32[12]",
	                                                     .mesh = "x=6",
	                                                     .to_mesh = "u=2,v=3",
	                                                     .from = "P('x')",
	                                                     .to = "P('u')"});
	struct plan *plan = read_plan(p, "all-gather {x:(2)3}: 0-> => [{\"x\":(1)2}]");
	struct text why = {0};

	ck_assert(plan_check(plan, NULL));
	ck_assert_int_eq(plan->recv_bytes, 16);
	plan = read_plan(p, "");
	ck_assert(!plan_check(plan, &why));
	ck_assert_msg(strstr(why.s, "at the end: device 0"), "%s", why.s);
	text_free(&why);
}
END_TEST

/* --- steps that must not be -------------------------------------------------------- */

/* On x=4,y=6 and f32[24,10] laid out P('x', None): tile 6x10. */
static const struct {
	enum op op;
	int from_dim, to_dim;
	struct part part;
} illegal[] = {
	{OP_SLICE, -1, 1, {1, 1, 6}},     /* 6 does not divide 10 */
	{OP_SLICE, -1, 0, {0, 1, 4}},     /* x is in use */
	{OP_SLICE, -1, 1, {0, 2, 2}},     /* half of it, too */
	{OP_ALL_TO_ALL, 0, 1, {0, 1, 4}}, /* 4 does not divide 10 */
};

START_TEST(illegal_steps_are_faults_of_the_caller)
{
	struct problem *p = problem_of((struct problem_text){
		.array = "f32[24,10]", .mesh = "x=4,y=6", .from = "P('x')", .to = "P()"});
	struct plan *plan = plan_new(memory, p, "test");
	struct move move = {.from_dim = illegal[_i].from_dim,
	                    .to_dim = illegal[_i].to_dim,
	                    .nparts = 1,
	                    .parts = &illegal[_i].part};

	freopen("/dev/null", "w", stderr);
	plan_axes_step(plan, illegal[_i].op, &move, 1);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("plan_bytes");
	TCase *c = tcase_create("plan_bytes");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_add_loop_test(c, plans_cost_what_they_cost_by_hand, 0,
	                    sizeof(plans) / sizeof(*plans));
	tcase_add_loop_test(c, missing_data_is_missed, 0, sizeof(lone) / sizeof(*lone));
	tcase_add_test(c, a_plan_may_end_on_another_mesh);
	tcase_add_loop_test_raise_signal(c, illegal_steps_are_faults_of_the_caller,
	                                 SIGABRT, 0, sizeof(illegal) / sizeof(*illegal));
	suite_add_tcase(suite, c);
	return suite;
}
