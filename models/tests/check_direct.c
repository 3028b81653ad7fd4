/*
 * The planner `direct` by hand, on the catalogue of published cases, and on large
 * meshes; check_direct_random.c compares it with who holds what, check_direct_send.c is
 * about the choice among replicas.
 */
#include "direct_help.h"
#include "planner/planner.h"
#include "tests/tests.h"

#include "plan/check.h"

#include <check.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* Texts in the order in which one reads a problem; NULL where not given. */
struct texts {
	const char *array, *mesh, *to_mesh, *to_devices, *from, *to;
};

static struct problem *problem_of(const struct texts *x)
{
	const struct problem_text t = {.array = x->array,
	                               .mesh = x->mesh,
	                               .to_mesh = x->to_mesh,
	                               .to_devices = x->to_devices,
	                               .from = x->from,
	                               .to = x->to};
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, arena, &t, &e) == OK, "%s: %s", x->array, e.text);
	return p;
}

/* --- by hand ---------------------------------------------------------------------- */

/*
 * 7 rows on three devices are [0,3) [3,6) [6,7), on two of them [0,4) [4,7): device 0
 * lacks row 3, which device 1 has, and device 1 lacks row 6, which device 2 has.
 */
START_TEST(uneven_tiles_move_by_rows)
{
	static const struct texts t = {"f32[7,5]", "x=3",    "y=2",
	                               NULL,       "P('x')", "P('y')"};
	const struct plan *plan = direct_plan(arena, problem_of(&t), &prices_bytes);
	const struct step *s = &plan->step[0];
	static const struct {
		int32_t src, dst;
		int64_t bounds[4];
	} wanted[] = {{1, 0, {3, 4, 0, 5}}, {2, 1, {6, 7, 0, 5}}};

	ck_assert_int_eq(plan->nsteps, 1);
	ck_assert_int_eq(s->op, OP_EXCHANGE);
	ck_assert_int_eq(s->ntransfers, COUNT(wanted));
	for (int i = 0; i < COUNT(wanted); i++) {
		ck_assert_int_eq(s->transfers[i].src, wanted[i].src);
		ck_assert_int_eq(s->transfers[i].dst, wanted[i].dst);
		ck_assert_int_eq(s->transfers[i].elements, 5);
		ck_assert_mem_eq(s->transfers[i].bounds, wanted[i].bounds,
		                 sizeof(wanted[i].bounds));
	}
	ck_assert_int_eq(plan->recv_bytes, 20);
	ck_assert_int_eq(plan->send_bytes, 20);
}
END_TEST

static const struct {
	struct texts text;
	int nsteps;
	enum op op;
	int64_t recv_bytes;
} local[] = {
	{{"f32[8,6]", "x=2,y=2", 0, 0, "P('x')", "P(('x','y'))"}, 1, OP_SLICE, 0},
	{{"f32[6,8]", "x=2,y=2", "z=4", 0, "P()", "P(None,'z')"}, 1, OP_SLICE, 0},
	/* Both pad 7 to 8. */
	{{"f32[7,6]", "x=2,y=2", 0, 0, "P('x')", "P(('x','y'))"}, 1, OP_SLICE, 0},
	/* Only the target pads 5. */
	{{"f32[5,6]", "x=2,y=2", 0, 0, "P()", "P('y')"}, 1, OP_PAD, 0},
	/* Fewer devices hold smaller tiles. */
	{{"f32[8,6]", "x=4", "y=2", 0, "P()", "P(None,'y')"}, 1, OP_PAD, 0},
	{{"f32[8]", "x=4", 0, 0, "P()", "{devices=[4]2,0,1,3}"}, 1, OP_PAD, 0},
	{{"f32[8]", "x=4", 0, 0, "P()", "{maximal device=3}"}, 1, OP_PAD, 0},
	/* The same device holds all, in a larger company. */
	{{"f32[8]", "x=4", "x=8", 0, "{maximal device=3}", "{maximal device=3}"},
         0,
         OP_PAD,
         0},
	{{"f32[8]", "x=4", "x=4", "4-7", "P()", "P()"}, 1, OP_EXCHANGE, 32},
	{{"f32[8]", "x=4", 0, 0, "{maximal device=3}", "P('x')"}, 1, OP_EXCHANGE, 8},
	{{"f32[8]", "x=4", 0, 0, "P('x')", "{maximal device=3}"}, 1, OP_EXCHANGE, 24},
};

START_TEST(nothing_travels_that_is_there)
{
	const struct plan *plan =
		direct_plan(arena, problem_of(&local[_i].text), &prices_bytes);

	ck_assert_int_eq(plan->nsteps, local[_i].nsteps);
	if (plan->nsteps)
		ck_assert_int_eq(plan->step[0].op, local[_i].op);
	ck_assert_int_eq(plan->recv_bytes, local[_i].recv_bytes);
}
END_TEST

/* Numbers of an HLO text for the target are those of the target's devices. */
START_TEST(device_lists_are_of_their_mesh)
{
	static const struct texts t = {"f32[8]", "x=4",    "x=4",
	                               "4-7",    "P('x')", "{devices=[4]2,0,1,3}"};
	const struct problem *p = problem_of(&t);
	const struct plan *plan = direct_plan(arena, p, &prices_bytes);
	static const int32_t dst[] = {6, 4, 5, 7}; /* of tile 0, 1, 2, 3 */

	ck_assert_int_eq(plan->step[0].ntransfers, 4);
	for (int i = 0; i < 4; i++) {
		const struct transfer *t = &plan->step[0].transfers[i];

		ck_assert_int_eq(t->dst, dst[t->src]);
		ck_assert_int_eq(t->bounds[0], 2 * t->src);
	}
}
END_TEST

static const struct {
	struct texts text;
	const char *why;
} refused[] = {
	{{"f32[8]", "x=4", 0, 0, "P(unreduced={'x'})", "P('x')"}, "unreduced axes"},
	{{"f32[8]", "x=4", 0, 0, "P()", "P(unreduced={'x'})"}, "unreduced axes"},
	{{"f32[]", "x=4", "x=4", "4-7", "P()", "P()"},
         "a scalar has no tiles to exchange"},
	{{"f32[4096,4096]", "x=4096", 0, 0, "P('x')", "P(None,'x')"},
         "more than 4194304 boxes are missing"},
};

START_TEST(refusals_have_reasons)
{
	struct plan *plan = NULL;
	struct text why = {0};

	ck_assert_int_eq(planner_run(&planner_direct, &plan,
	                             problem_of(&refused[_i].text), &prices_bytes,
	                             arena, &why),
	                 ANSWER_NOT_APPLICABLE);
	ck_assert_str_eq(why.s, refused[_i].why);
	text_free(&why);
}
END_TEST

/* Planners that run on one set of devices say so, and none takes a move for nothing. */
START_TEST(others_refuse_other_devices)
{
	const struct texts t = {
		_i ? "f32[8]" : "f32[]", "x=4", "x=4", "4-7", "P()", "P()"};

	for (int i = 0; planners[i]; i++) {
		struct plan *plan = NULL;
		struct text why = {0};
		enum answer answer = planner_run(planners[i], &plan, problem_of(&t),
		                                 &prices_bytes, arena, &why);

		if (answer == ANSWER_PLAN)
			ck_assert_msg(plan->nsteps > 0 && plan_check(plan, &why),
			              "%s: %s", planners[i]->name, why.s);
		else
			ck_assert_int_eq(answer, ANSWER_NOT_APPLICABLE);
		text_free(&why);
	}
}
END_TEST

/* --- the catalogue ---------------------------------------------------------------- */

/*
 * Cases of scenarios/cross-mesh.yaml with the bytes that the device which lacks most
 * lacks, as the catalogue of published cases has them; by hand where it has none: one
 * device of four keeps its quarter and the others get one; of tiles of 128 rows and of
 * ceil(8192 / 60) = 137 the 16th and later ones do not meet.
 */
static const struct {
	struct texts text;
	int64_t recv_bytes;
} catalogue[] = {
	{{"f32[257152,2048]", "m=1", "fsdp=4", 0, "P(None, None)", "P('fsdp', None)"},
         526647296},
	{{"f32[4096,16384]", "data=1,fsdp=64", "d=2", "64-65", "P('fsdp', None)",
          "P('d', None)"},
         134217728},
	{{"bf16[5120,13824]", "fsdp=32", "fsdp=4", "32-35", "P('fsdp', None)",
          "P('fsdp', None)"},
         35389440},
	{{"bf16[32,8192,8,128]", "pp=3", "pp=2,tp=2", "3-6",
          "P('pp', None, None, None)", "P('pp', None, 'tp', None)"},
         134217728},
	{{"bf16[1024,2,16,8,128]", "tp=8,dcp=2", "tp=8", "16-23",
          "P(None, 'dcp', None, 'tp', None)", "P(None, None, None, 'tp', None)"},
         8388608},
	{{"bf16[12288,4096]", "dp_shard=16", "rep=8,tp=2", "16-31",
          "P('dp_shard', None)", "P('tp', None)"},
         50331648},
	{{"bf16[4096,12288]", "dp_shard=16", "rep=8,tp=2", "16-31",
          "P('dp_shard', None)", "P(None, 'tp')"},
         50331648},
	{{"f8e4m3[256,2048,4096]", "ep=4", "rep=4,ep=8", "4-35", "P('ep', None, None)",
          "P('ep', None, None)"},
         268435456},
	{{"f32[1024,1024,512]", "n=2,g=4", "n=2,g=4", "8-15", "P('n', None, None)",
          "P('n', None, None)"},
         1073741824},
	{{"f32[1024,1024,512]", "n=2,g=4", "n=2,g=4", "8-15", "P(None, None, None)",
          "P('n', None, None)"},
         1073741824},
	{{"f32[1024,1024,512]", "n=2,g=4", "n=2,g=4", "8-15", "P(None, 'n', None)",
          "P('n', None, None)"},
         1073741824},
	{{"f32[1024,1024,512]", "n=2,g=4", "n=2,g=4", "8-15",
          "P(None, ('n', 'g'), None)", "P(('n', 'g'), None, None)"},
         268435456},
	{{"f32[1024,1024,512]", "n=2,g=4", "n=2,g=4", "8-15", "P('g', None, None)",
          "P('n', None, None)"},
         1073741824},
	{{"f32[3072,1024,170]", "n=2,g=4", "n=3,g=4", "8-19", "P('n', None, None)",
          "P('n', None, None)"},
         713031680},
	{{"f32[1024,1024,512]", "n=1,g=4", "n=2,g=4", "4-11", "P('g', None, None)",
          "P(None, None, None)"},
         2147483648},
	{{"f32[1024,1024,512]", "n=2,g=4", "n=2,g=4", "8-15", "P(None, 'n', None)",
          "P(None, None, 'n')"},
         1073741824},
	{{"f32[268435456]", "s=1", "n=1,g=4", "1-4", "P(None)", "P(None)"}, 1073741824},
	{{"f32[268435456]", "s=1", "n=2,g=2", "1-4", "P(None)", "P(None)"}, 1073741824},
	{{"f32[268435456]", "s=1", "n=4,g=2", "1-8", "P(None)", "P(None)"}, 1073741824},
	{{"f16[8,1024,2560]", "dp=2", "dp=4", "2-5", "P('dp', None, None)",
          "P('dp', None, None)"},
         10485760},
	{{"f16[8,1024,5120]", "dp=2,mp=4", "dp=2,mp=4", "8-15", "P('dp', None, None)",
          "P('dp', None, None)"},
         41943040},
	{{"f8e4m3[384,2048,7168]", "ep=16", "ep=48", "16-63", "P('ep', None, None)",
          "P('ep', None, None)"},
         117440512},
	{{"f8e4m3[256,2048,7168]", "ep=64", "rep=2,ep=32", "64-127",
          "P('ep', None, None)", "P('ep', None, None)"},
         117440512},
	{{"f32[8192,28672]", "fsdp=32,tp=8", "fsdp=8,tp=8", "256-319",
          "P('fsdp', 'tp')", "P('fsdp', 'tp')"},
         14680064},
	{{"f32[8192,28672]", "fsdp=64", "fsdp=60", 0, "P('fsdp', None)",
          "P('fsdp', None)"},
         15712256},
	{{"bf16[1,2048,12288]", "tp=8", "tp=8", "8-15", "P(None, None, None)",
          "P(None, None, None)"},
         50331648},
	{{"bf16[1,2048,25600]", "tp=8", "tp=8", "8-15", "P(None, None, None)",
          "P(None, None, None)"},
         104857600},
	{{"bf16[8192,1,8192]", "tp=4", "tp=8", "4-11", "P('tp', None, None)",
          "P('tp', None, None)"},
         16777216},
	{{"bf16[80,32768,8,128]", "tp=4", "tp=8", "4-11", "P(None, None, 'tp', None)",
          "P(None, None, 'tp', None)"},
         671088640},
	{{"bf16[80,32768,8,128]", "tp=8", "tp=4", "8-11", "P(None, None, 'tp', None)",
          "P(None, None, 'tp', None)"},
         1342177280},
	{{"bf16[126,8192,8,128]", "tp=8,rep=2", "tp=8", "16-23",
          "P(None, None, 'tp', None)", "P(None, None, 'tp', None)"},
         264241152},
	{{"f8e4m3[256,2048,7168]", "ep=16", "dp=16,tp=8", "16-143",
          "P('ep', None, None)", "P(None, 'tp', None)"},
         469762048},
	{{"f8e4m3[256,7168,2048]", "ep=16", "dp=16,tp=8", "16-143",
          "P('ep', None, None)", "P(None, None, 'tp')"},
         469762048},
	{{"f8e4m3[7168,16384]", "dp=16", "dp=16,tp=8", "16-143", "P(None, None)",
          "P(None, 'tp')"},
         14680064},
	{{"f8e4m3[256,2048,7168]", "ep=16", "dp=4,tp=8", "16-47", "P('ep', None, None)",
          "P(None, 'tp', None)"},
         469762048},
	{{"bf16[128,1536,4096]", "ep=16", "dp=8,tp=8", "16-79", "P('ep', None, None)",
          "P(None, 'tp', None)"},
         201326592},
	{{"bf16[8192,4096]", "dp=4,cp=2,tp=2", "dp=8,tp=8", "16-79", "P('tp', None)",
          "P('tp', None)"},
         8388608},
	{{"bf16[256,4096,7168]", "ep=16", "dp=8,tp=8", "16-79", "P('ep', None, None)",
          "P(None, 'tp', None)"},
         1879048192},
	{{"f32[256,128,64]", "r=1,s=4", "r=1,s=4", "4-7", "P('s', None, None)",
          "P(None, None, 's')"},
         2097152},
};

START_TEST(catalogue_receives_what_is_lacking)
{
	const struct problem *p = problem_of(&catalogue[_i].text);
	const struct plan *plan = direct_plan(arena, p, &prices_bytes);

	ck_assert_int_eq(plan->nsteps, 1);
	ck_assert_int_eq(plan->step[0].op, OP_EXCHANGE);
	ck_assert_int_eq(plan->recv_bytes, catalogue[_i].recv_bytes);
	ck_assert_int_eq(p->recv_bound_bytes, catalogue[_i].recv_bytes);
}
END_TEST

/* --- large ones ------------------------------------------------------------------- */

static const struct texts large[] = {
	{"f32[4096,4096]", "x=64,y=16", 0, 0, "P('x')", "P(None,('x','y'))"},
	{"f32[4097,4095]", "x=16,y=64", 0, 0, "P('x')", "P('y')"},
	{"f32[8192,4096]", "x=64,y=64", 0, 0, "P('x','y')", "P('y','x')"},
	/* 2048 replicas and as many boxes: cut into runs, and still one box each. */
	{"f32[64]", "x=2048", "x=2048", "2048-4095", "P()", "P()"},
};

START_TEST(large_ones_are_planned)
{
	const struct problem *p = problem_of(&large[_i]);
	const struct plan *plan = direct_plan(arena, p, &prices_bytes);

	ck_assert_int_eq(plan->recv_bytes, p->recv_bound_bytes);
	if (_i == 3)
		ck_assert_int_eq(plan->send_bytes, 64 * 4);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("direct");
	TCase *c = tcase_create("direct");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, uneven_tiles_move_by_rows);
	tcase_add_loop_test(c, nothing_travels_that_is_there, 0, COUNT(local));
	tcase_add_test(c, device_lists_are_of_their_mesh);
	tcase_add_loop_test(c, refusals_have_reasons, 0, COUNT(refused));
	tcase_add_loop_test(c, others_refuse_other_devices, 0, 2);
	tcase_add_loop_test(c, catalogue_receives_what_is_lacking, 0, COUNT(catalogue));
	tcase_add_loop_test(c, large_ones_are_planned, 0, COUNT(large));
	suite_add_tcase(suite, c);
	return suite;
}
