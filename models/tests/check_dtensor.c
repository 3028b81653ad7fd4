/*
 * The DTensor planners against what PyTorch's own tests expect: traces of states, numbers
 * of collectives, and the refusals. `trace` rows: test_redistribute.py (ordered
 * redistribution, min-cost against greedy), test_debug_mode.py and the comments beside
 * the collective counts of test_redistribute.py.
 */
#include "planner/dtensor/dtensor.h"
#include "tests/tests.h"

#include "planner_case.h"

#include "notation/notation.h"
#include "plan/check.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

extern const struct planner planner_dtensor, planner_dtensor_mincost;

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

enum choice { GREEDY = 1, MIN_COST = 2, BOTH = 3 };

static const struct {
	enum choice planner;
	const char *array, *mesh, *trace;
} traces[] = {
	/* Ordered redistribution on (2, 2, 2); rows 0 and 3 were asked for by search. */
	{BOTH, "f32[8,8,8]", "a=2,b=2,c=2",
         "S(0)[0]S(0)[1]S(0)[2]->S(0)[0]S(0)[1]R->S(0)RR->RRR->RS(0)R->"
         "RS(0)[0]S(0)[1]"},
	{BOTH, "f32[8,8,8]", "a=2,b=2,c=2",
         "S(0)[1]S(0)[0]S(0)[2]->S(0)[1]S(0)[0]R->RS(0)R->RS(0)[0]S(0)[1]"},
	{BOTH, "f32[8,8,8]", "a=2,b=2,c=2",
         "S(0)[1]S(0)[0]S(0)[2]->S(0)[1]S(0)[0]R->RS(0)R->RRR->S(0)RR->"
         "S(0)[0]S(0)[1]R"},
	{MIN_COST, "f32[8,8,8]", "a=2,b=2,c=2",
         "S(0)[0]S(0)[1]R->S(0)RR->S(0)S(1)R->RS(1)R->RS(1)S(0)"},
	/* Three gathers and local chunks are cheaper for it than any all-to-all. */
	{MIN_COST, "f32[8,8,8]", "a=2,b=2,c=2",
         "S(0)[0]S(0)[1]S(0)[2]->S(0)[0]S(0)[1]R->S(0)RR->RRR->S(1)RR->"
         "S(1)[0]S(1)[1]R->S(1)[0]S(1)[1]S(1)[2]"},
	{GREEDY, "f32[8,8,8]", "a=2,b=2,c=2",
         "S(0)[0]S(0)[1]S(0)[2]->S(0)[0]S(0)[1]R->S(0)RR->S(1)RR->S(1)[0]S(1)[1]R->"
         "S(1)[0]S(1)[1]S(1)[2]"},
	/* Two mesh dimensions: inputs of a matrix product, and back to replicated. */
	{BOTH, "f32[128,8]", "a=4,b=2", "S(0)[0]S(0)[1]->S(0)R"},
	{GREEDY, "f32[8,128]", "a=4,b=2", "S(1)[0]S(1)[1]->S(1)R->RR->RS(1)"},
	{BOTH, "f32[8,8]", "a=4,b=2", "S(0)[0]S(0)[1]->S(0)R->RR"},
	{BOTH, "f32[8,8]", "a=2,b=4", "S(0)[1]S(0)[0]->RS(0)->RR"},
	{BOTH, "f32[8,32]", "a=8", "S(0)->R"},
	/* Changes of the sharded dimension, (2, 2) and (2, 2, 2). */
	{GREEDY, "f32[8,8]", "a=4", "S(0)->S(1)"},
	{GREEDY, "f32[8,8]", "a=2,b=2", "S(0)S(1)->S(0)[0]S(0)[1]"},
	{GREEDY, "f32[8,8]", "a=2,b=2", "S(0)S(1)->S(0)R->S(1)R->S(1)S(0)"},
	{GREEDY, "f32[8,8]", "a=2,b=2", "S(0)[0]S(0)[1]->S(0)R->S(1)R->S(1)[0]S(1)[1]"},
	{GREEDY, "f32[8,8,8]", "a=2,b=2", "S(0)S(2)->S(0)R->S(1)R->S(1)S(0)"},
	{GREEDY, "f32[8,8,8]", "a=2,b=2", "S(1)[0]S(1)[1]->S(1)S(2)"},
	{GREEDY, "f32[8,8,8]", "a=2,b=2,c=2",
         "S(0)[0]S(1)S(0)[1]->S(0)S(1)R->S(0)RR->S(1)RR->S(1)S(0)R->"
         "S(1)S(0)[0]S(0)[1]"},
	{GREEDY, "f32[8,8,8]", "a=2,b=2,c=2",
         "S(0)S(1)S(2)->S(0)S(1)R->S(2)S(1)R->S(2)S(1)S(0)"},
	{GREEDY, "f32[8,8,8]", "a=2,b=2,c=2", "S(1)S(0)[0]S(0)[1]->RS(0)[0]S(0)[1]"},
	{GREEDY, "f32[8,8,8]", "a=2,b=2,c=2",
         "S(1)RS(0)->S(1)RR->S(1)S(0)R->RS(0)R->RS(0)[0]S(0)[1]"},
	{GREEDY, "f32[8,8,8]", "a=2,b=2,c=2",
         "S(0)[0]S(0)[1]S(1)->S(0)[0]S(0)[1]S(2)->S(0)S(1)S(2)"},
	/* Partial. */
	{GREEDY, "f32[16,16,16]", "a=4,b=2", "PP->RP->RR"},
	{GREEDY, "f32[16,16,16]", "a=4,b=2", "PP->S(0)P->S(0)[0]S(0)[1]"},
	{GREEDY, "f32[16,16,16]", "a=4,b=2", "PP->S(0)P->S(0)S(1)"},
	{GREEDY, "f32[16,16,16]", "a=2,b=2,c=2",
         "PPS(0)->PPR->PRR->S(0)RR->S(0)[0]S(0)[1]R->S(0)[0]S(0)[1]S(0)[2]"},
	{GREEDY, "f32[16,16,16]", "a=2,b=2,c=2", "PPP->RPP->RRP->RRR"},
	{GREEDY, "f32[16,16,16]", "a=2,b=2,c=2", "PS(0)P->PS(0)R->PRR->RRR"},
	{GREEDY, "f32[16,16,16]", "a=2,b=2,c=2", "PRP->RRP->RRR"},
	{GREEDY, "f32[16,16,16]", "a=2,b=2,c=2", "PPR->S(0)PR->S(0)S(1)R"},
	{GREEDY, "f32[16,16,16]", "a=2,b=2,c=2",
         "PPP->S(0)PP->S(0)[0]S(0)[1]P->S(0)[0]S(0)[1]S(1)"},
	{BOTH, "f32[12,3]", "a=4", "P->R"},
	{BOTH, "f32[12,3]", "a=4", "P->S(0)"},
	{BOTH, "f32[12,3]", "a=4", "R->P"},
	{GREEDY, "f32[12,8]", "a=2,b=2", "PS(0)->PS(1)"},
	{BOTH, "f32[12,8]", "a=2,b=2", "S(0)P->RP"},
	{BOTH, "f32[12,8]", "a=2,b=2", "RR->PR->PP"},
	/* Uneven: to and from replicated, changes of the sharded dimension. */
	{BOTH, "f32[13,3]", "a=4", "S(0)->R"},
	{BOTH, "f32[3,14]", "a=4", "S(1)->R"},
	{BOTH, "f32[13,3]", "a=4", "R->S(0)"},
	{BOTH, "f32[3,14]", "a=4", "R->S(1)"},
	{BOTH, "f32[14,3]", "a=4", "P->S(0)"},
	{BOTH, "f32[3,13]", "a=4", "P->S(1)"},
	{BOTH, "f32[2,8]", "a=4", "S(0)->R"},
	{GREEDY, "f32[2,8]", "a=4", "S(0)->S(1)"},
	{GREEDY, "f32[8,5]", "a=4", "S(0)->S(1)"},
	{GREEDY, "f32[5,8]", "a=4", "S(0)->S(1)"},
	{GREEDY, "f32[5,5]", "a=4", "S(1)->S(0)"},
	{GREEDY, "f32[8,5]", "a=2,b=2", "S(0)S(1)->S(0)[0]S(0)[1]"},
	{GREEDY, "f32[5,8]", "a=2,b=2", "S(0)S(1)->S(0)R->S(1)R->S(1)S(0)"},
	{GREEDY, "f32[5,5]", "a=2,b=2", "S(0)S(1)->S(0)R->S(1)R->S(1)S(0)"},
	{GREEDY, "f32[9,5]", "a=2,b=2", "S(0)S(1)->S(0)R->RR"},
	{GREEDY, "f32[3,5]", "a=2,b=2", "S(0)[0]S(0)[1]->S(0)R->RR"},
	{GREEDY, "f32[3,5]", "a=2,b=2", "S(0)S(1)->S(0)R->RR"},
	{GREEDY, "f32[1,3]", "a=2,b=2", "S(0)[0]S(0)[1]->S(0)R->RR"},
	{GREEDY, "f32[1,3]", "a=2,b=2", "S(0)S(1)->S(0)R->RR"},
};

enum { STATES_MAX = 16 };

/* The states of a row; their number. */
static int split(char **state, const char *trace)
{
	char *s = arena_strdup(arena, trace);
	int n = 0;

	for (char *arrow; (arrow = strstr(s, "->")); s = arrow + 2) {
		*arrow = '\0';
		state[n++] = s;
	}
	state[n++] = s;
	ck_assert_int_le(n, STATES_MAX);
	return n;
}

/* A list of mesh dimensions per tensor dimension, outermost first. */
struct lists {
	int n[3], axis[3][4], placement[4];
};

static struct lists lists_of(const struct layout *l, int naxes)
{
	struct lists out = {.n = {0}};

	for (int i = 0; i < naxes; i++)
		out.placement[i] = DTENSOR_REPLICATE;
	for (int dim = 0; dim <= l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++) {
			out.placement[part[k].axis] =
				dim < l->rank ? dim : DTENSOR_PARTIAL;
			if (dim < l->rank)
				out.axis[dim][out.n[dim]++] = part[k].axis;
		}
	}
	return out;
}

static void print_state(struct text *out, const struct lists *s, int naxes)
{
	for (int i = 0; i < naxes; i++) {
		int dim = s->placement[i];

		if (dim < 0)
			text_printf(out, "%s", dim == DTENSOR_PARTIAL ? "P" : "R");
		else
			text_printf(out, "S(%d)", dim);
		for (int k = 0; dim >= 0 && s->n[dim] > 1 && k < s->n[dim]; k++)
			if (s->axis[dim][k] == i)
				text_printf(out, "[%d]", k);
	}
}

/* The trace as PyTorch's debug mode prints it, from the transforms alone. */
static const char *trace_of(const struct dtensor_transforms *t, const struct problem *p)
{
	int naxes = p->mesh.naxes;
	struct lists s = lists_of(&p->from, naxes);
	struct text out = {0};

	print_state(&out, &s, naxes);
	for (int i = 0; i < t->n; i++) {
		struct dtensor_transform x = t->step[i];

		ck_assert_int_eq(s.placement[x.mesh_dim], x.from);
		if (x.from >= 0)
			ck_assert_int_eq(s.axis[x.from][--s.n[x.from]], x.mesh_dim);
		if (x.to >= 0)
			s.axis[x.to][s.n[x.to]++] = x.mesh_dim;
		s.placement[x.mesh_dim] = x.to;
		text_printf(&out, "->");
		print_state(&out, &s, naxes);
	}
	return text_take(&out, arena);
}

static bool non_default(const char *state)
{
	return strstr(state, "[1]") && strstr(state, "[0]") &&
	       strstr(state, "[1]") < strstr(state, "[0]");
}

static void check_transforms(const struct problem *p, enum choice planner,
                             const char *trace)
{
	struct dtensor_state from, to;
	struct dtensor_transforms t;
	struct text why = {0};

	ck_assert(dtensor_state_of(&from, &p->from, &p->mesh, &why));
	ck_assert(dtensor_state_of(&to, &p->to, &p->mesh, &why));
	if (planner & MIN_COST) {
		ck_assert(dtensor_search(&t, &from, &to, &p->array, &p->mesh,
		                         DTENSOR_STATES_MAX, arena, &why));
		ck_assert_str_eq(trace_of(&t, p), trace);
	}
	if ((planner & GREEDY) && !non_default(trace)) {
		t = dtensor_greedy(&from, &to, &p->mesh, arena);
		ck_assert_str_eq(trace_of(&t, p), trace);
	}
}

/* The op of a step between two states that differ in one placement. */
static enum op op_between(const struct lists *a, const struct lists *b, int *axis)
{
	for (*axis = 0; a->placement[*axis] == b->placement[*axis];)
		++*axis;
	if (b->placement[*axis] == DTENSOR_PARTIAL)
		return OP_PARTIAL;
	if (a->placement[*axis] == DTENSOR_PARTIAL)
		return b->placement[*axis] < 0 ? OP_ALL_REDUCE : OP_REDUCE_SCATTER;
	return a->placement[*axis] < 0   ? OP_SLICE
	       : b->placement[*axis] < 0 ? OP_ALL_GATHER
	                                 : OP_ALL_TO_ALL;
}

static void check_plan_steps(const struct problem *p, const struct planner *planner,
                             char **state, int nstates)
{
	struct plan *plan = NULL;
	struct text why = {0};
	struct layout before = p->from, after;
	struct error e = {0};
	int axis, at = 0;

	ck_assert_int_eq(planner_run(planner, &plan, p, &prices_bytes, arena, &why),
	                 ANSWER_PLAN);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	ck_assert_str_eq(plan->planner, planner->name);
	for (int i = 0; i < plan->nsteps; i++) {
		const struct step *s = &plan->step[i];
		struct lists a = lists_of(&before, p->mesh.naxes), b;

		if (s->op == OP_PAD)
			continue;
		ck_assert_int_lt(++at, nstates);
		ck_assert_int_eq(layout_parse(&after, &p->mesh, &p->array.shape, arena,
		                              state[at], (struct where){0}, &e),
		                 OK);
		b = lists_of(&after, p->mesh.naxes);
		ck_assert_mem_eq(&s->after, &after, sizeof(after));
		ck_assert_int_eq(s->op, op_between(&a, &b, &axis));
		ck_assert_int_eq(s->nmoves, 1);
		ck_assert_int_eq(s->move->nparts, 1);
		ck_assert_int_eq(s->move->parts->axis, axis);
		before = after;
	}
	ck_assert_int_eq(at, nstates - 1);
}

START_TEST(traces_are_those_of_pytorch)
{
	const char *trace = traces[_i].trace;
	char *state[STATES_MAX];
	int n = split(state, trace);
	struct problem p = *case_of_texts(arena, traces[_i].mesh, traces[_i].array,
	                                  state[0], state[n - 1]);

	check_transforms(&p, traces[_i].planner, trace);
	if (traces[_i].planner & GREEDY)
		check_plan_steps(&p, &planner_dtensor, state, n);
	if (traces[_i].planner & MIN_COST)
		check_plan_steps(&p, &planner_dtensor_mincost, state, n);
}
END_TEST

START_TEST(groups_lie_along_one_mesh_dimension)
{
	static const int32_t along_b[] = {0, 2, 1, 3, 4, 6, 5, 7};
	struct problem p =
		*case_of_texts(arena, "a=2,b=2,c=2", "f32[8,8,8]", "RS(1)R", "RS(0)R");
	struct plan *plan;
	struct text why = {0};

	ck_assert_int_eq(
		planner_run(&planner_dtensor, &plan, &p, &prices_bytes, arena, &why),
		ANSWER_PLAN);
	ck_assert_int_eq(plan->nsteps, 1);
	ck_assert_int_eq(plan->step[0].op, OP_ALL_TO_ALL);
	ck_assert_int_eq(plan->step[0].move->from_dim, 1);
	ck_assert_int_eq(plan->step[0].move->to_dim, 0);
	ck_assert_int_eq(plan->step[0].groups.ngroups, 4);
	ck_assert_mem_eq(plan->step[0].groups.ids, along_b, sizeof(along_b));
}
END_TEST

/* 512 floats: tiles of 256 bytes at both ends; greedy holds half, the search all. */
START_TEST(peak_passes_both_tiles)
{
	struct problem p = *case_of_texts(arena, "a=2,b=2,c=2", "f32[8,8,8]",
	                                  "S(0)S(0)S(0)", "S(1)S(1)S(1)");
	struct plan *plan = NULL;
	struct text why = {0};

	ck_assert_int_eq(p.memory_bound_bytes, 256);
	ck_assert_int_eq(
		planner_run(&planner_dtensor, &plan, &p, &prices_bytes, arena, &why),
		ANSWER_PLAN);
	ck_assert_int_eq(plan->peak_array_bytes, 1024);
	ck_assert_int_eq(planner_run(&planner_dtensor_mincost, &plan, &p, &prices_bytes,
	                             arena, &why),
	                 ANSWER_PLAN);
	ck_assert_int_eq(plan->peak_array_bytes, 2048);
	p.memory_limit_bytes = 256;
	ck_assert_int_eq(
		planner_run(&planner_dtensor, &plan, &p, &prices_bytes, arena, &why),
		ANSWER_OVER_MEMORY);
	ck_assert_str_eq(why.s,
	                 "needs a memory limit of at least 1024 bytes, that is 1 KiB");
	text_free(&why);
}
END_TEST

/* --- refusals ---------------------------------------------------------------------- */

static const struct {
	const char *array, *mesh, *from, *to, *why;
} refusals[] = {
	{"f32[8,8]", "x=4,y=2", "P('x')", "[{\"x\":(1)2}, {\"x\":(2)2}]",
         "DTensor places whole mesh dimensions, and x:(1)2 is a part of one"},
	{"f32[8,8]", "x=4,y=2", "{maximal device=0}", "P('x')",
         "the whole array lies on one device"},
	{"f32[8,8]", "x=4,y=2", "P('x')", "{devices=[8,1]0,3,1,2,5,4,6,7}",
         "DTensor places mesh dimensions, and no axes say the layout"},
	{"f32[8,8]", "x=4,y=2", "[{}, {}], unreduced={\"x\":(2)2}", "RR",
         "DTensor places whole mesh dimensions, and x:(2)2 is a part of one"},
	{"f32[8,8]", "x=4,y=2", "RR", "[{\"y\"}, {}], unreduced={\"x\":(1)2}",
         "DTensor places whole mesh dimensions, and x:(1)2 is a part of one"},
	/* 10 in halves of 5, each of 3 and 2: not the 3, 3, 3, 1 of one cut in four. */
	{"f32[10]", "x=2,y=2", "S(0)S(0)", "S(0)[1]S(0)[0]",
         "DTensor would chunk dimension 0 of 10 elements unevenly into 4, mesh "
         "dimension by mesh dimension"},
	/* On the way: x and y go through dimension 1 of 5, in chunks of 3 and 2, and of 2,
         * 1, 1 and 1, not the 2, 2 and 1 of one cut in four. */
	{"f32[8,5]", "x=2,y=2", "S(0)S(0)", "S(1)S(1)",
         "DTensor would chunk dimension 1 of 5 elements unevenly into 4, mesh "
         "dimension by mesh dimension"},
};

START_TEST(refusals_say_why)
{
	static const struct planner *const planner[] = {&planner_dtensor,
	                                                &planner_dtensor_mincost};
	struct problem p = *case_of_texts(arena, refusals[_i].mesh, refusals[_i].array,
	                                  refusals[_i].from, refusals[_i].to);

	for (int k = 0; k < 2; k++) {
		struct plan *plan = NULL;
		struct text why = {0};
		enum answer answer =
			planner_run(planner[k], &plan, &p, &prices_bytes, arena, &why);

		ck_assert_int_eq(answer, ANSWER_NOT_APPLICABLE);
		ck_assert_msg(strstr(why.s, refusals[_i].why) == why.s, "%s", why.s);
		text_free(&why);
	}
}
END_TEST

START_TEST(pads_stand_where_chunks_are_uneven)
{
	static const enum op ops[] = {OP_PAD, OP_ALL_TO_ALL, OP_PAD};
	struct problem p = *case_of_texts(arena, "x=2", "f32[3,5]", "S(0)", "S(1)");
	struct plan *plan = NULL;
	struct text why = {0};

	ck_assert_int_eq(
		planner_run(&planner_dtensor, &plan, &p, &prices_bytes, arena, &why),
		ANSWER_PLAN);
	ck_assert_int_eq(plan->nsteps, 3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(plan->step[i].op, ops[i]);
	/* Tiles of 2 x 5 become 2 x 6, of which half goes; 4 x 3 is cut to 3 x 3. */
	ck_assert_int_eq(plan->step[0].local.dim[1], 6);
	ck_assert_int_eq(plan->step[1].local.dim[0], 4);
	ck_assert_int_eq(plan->step[1].recv_bytes, 4 * 6);
	ck_assert_int_eq(plan->step[2].local.dim[0], 3);
}
END_TEST

/* PyTorch plans S->P and raises an error when it runs it; its search goes through R. */
START_TEST(shard_to_partial_is_refused_by_greedy_alone)
{
	struct problem p =
		*case_of_texts(arena, "x=4,y=2", "f32[8,8]", "S(1)S(0)", "PS(0)");
	char *state[] = {"S(1)S(0)", "RS(0)", "PS(0)"};
	struct plan *plan = NULL;
	struct text why = {0};

	ck_assert_int_eq(
		planner_run(&planner_dtensor, &plan, &p, &prices_bytes, arena, &why),
		ANSWER_NOT_APPLICABLE);
	ck_assert_str_eq(why.s,
	                 "DTensor's greedy planner goes from Shard(1) to Partial "
	                 "on mesh dimension 'x', which it does not support");
	text_free(&why);
	check_plan_steps(&p, &planner_dtensor_mincost, state, 3);
}
END_TEST

START_TEST(another_mesh_is_refused)
{
	struct problem p;
	struct error e = {0};
	struct problem_text t = {.array = "f32[8,8]",
	                         .mesh = "x=4,y=2",
	                         .to_mesh = "u=2,v=4",
	                         .from = "P('x')",
	                         .to = "P('u')"};
	struct plan *plan;
	struct text why = {0};

	ck_assert_int_eq(problem_make(&p, arena, &t, &e), OK);
	ck_assert_int_eq(
		planner_run(&planner_dtensor, &plan, &p, &prices_bytes, arena, &why),
		ANSWER_NOT_APPLICABLE);
	ck_assert_str_eq(why.s, "DTensor redistributes within one mesh only");
	text_free(&why);
}
END_TEST

/* Uneven, but chunk by chunk the same tiles: these have plans. */
static const struct {
	const char *array, *mesh, *from, *to;
} uneven[] = {
	{"f32[10,16]", "x=4,y=4", "S(0)R", "RS(0)"},
	{"f32[7]", "x=2,y=2", "S(0)S(0)", "S(0)[1]S(0)[0]"},
	{"bf16[5,3]", "x=2,y=3", "S(0)[1]S(0)[0]", "S(0)S(0)"},
	{"u8[9,5]", "x=2,y=2,z=5", "S(0)RS(1)", "RS(0)S(1)"},
};

START_TEST(uneven_chunks_that_agree_have_plans)
{
	static const struct planner *const planner[] = {&planner_dtensor,
	                                                &planner_dtensor_mincost};
	struct problem p = *case_of_texts(arena, uneven[_i].mesh, uneven[_i].array,
	                                  uneven[_i].from, uneven[_i].to);

	ck_assert(!problem_even(&p));
	for (int k = 0; k < 2; k++) {
		struct plan *plan = NULL;
		struct text why = {0};

		ck_assert_msg(planner_run(planner[k], &plan, &p, &prices_bytes, arena,
		                          &why) == ANSWER_PLAN,
		              "%s", why.s);
		ck_assert_msg(plan_check(plan, &why), "%s", why.s);
		ck_assert_int_gt(plan->nsteps, 0);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("dtensor");
	TCase *t = tcase_create("planners");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, traces_are_those_of_pytorch, 0, COUNT(traces));
	tcase_add_test(t, groups_lie_along_one_mesh_dimension);
	tcase_add_test(t, peak_passes_both_tiles);
	tcase_add_loop_test(t, refusals_say_why, 0, COUNT(refusals));
	tcase_add_test(t, pads_stand_where_chunks_are_uneven);
	tcase_add_test(t, shard_to_partial_is_refused_by_greedy_alone);
	tcase_add_test(t, another_mesh_is_refused);
	tcase_add_loop_test(t, uneven_chunks_that_agree_have_plans, 0, COUNT(uneven));
	suite_add_tcase(s, t);
	return s;
}
