/* Plans as text: what is printed reads back, and bad text is told where it is bad. */
#include "plan/plan_text.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "plan_interpret.h"
#include "plan_random.h"

#include <check.h>

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

static struct problem *problem_of(const char *array, const char *mesh, const char *from,
                                  const char *to)
{
	struct problem *p = arena_alloc(memory, 1, sizeof(*p));
	struct error e = {0};
	struct problem_text t = {.array = array, .mesh = mesh, .from = from, .to = to};

	ck_assert_msg(problem_make(p, memory, &t, &e) == OK, "%s", e.text);
	return p;
}

static struct plan *read_plan(const struct problem *p, const char *text)
{
	struct plan *plan = NULL;
	struct error e = {0};

	ck_assert_msg(plan_parse(&plan, p, memory, text, where_option("plan", text),
	                         &e) == OK,
	              "%u:%u: %s\n%s", e.at.line, e.at.col, e.text, text);
	return plan;
}

/* --- round trips ------------------------------------------------------------------- */

START_TEST(plans_read_back_as_they_print)
{
	struct rng *r = rng_new(2203 + (uint64_t)_i);
	int steps = 0, boxes = 0;

	for (int k = 0; k < 300; k++) {
		struct plan *p = plan_of_any_kind(r, memory, k), *q;
		struct text first = {0}, second = {0};

		plan_print(&first, p);
		q = read_plan(p->problem, first.s ? first.s : "");
		plan_print(&second, q);
		ck_assert_str_eq(first.s ? first.s : "", second.s ? second.s : "");
		check_same_plan(p, q, first.s);
		steps += p->nsteps;
		boxes += !plan_implies_boxes(p);
		text_free(&first);
		text_free(&second);
		arena_reset(memory);
	}
	ck_assert_int_gt(steps, 300);
	ck_assert_int_gt(boxes, 10);
	rng_free(r);
}
END_TEST

/* Texts as people write them, and as they are printed. */
static const struct {
	const char *array, *mesh, *from, *to, *text, *printed, *line;
} good[] = {
	{"f32[6]", "x=2,y=3", "P('x')", "P('x')", " \n ", "", "nothing"},
	{"f32[6,6]", "x=2,y=3", "P('x')", "P('x','y')", "slice {y}: ->1 => P('x', 'y')",
         "slice {y}: ->1 => P('x', 'y')\n", "slice {y}: ->1"},
	{"f32[24,24]", "x=4,y=2", "P(('x','y'))", "P('y', 'x')",
         "all-gather{\"y\"} : 0-> => P('x')\n\n"
         "all-to-all {x} :0->1=>[{},{\"x\"}]\n slice {y}: -> 0 => P('y','x')",
         "all-gather {y}: 0-> => P('x', None)\n"
         "all-to-all {x}: 0->1 => P(None, 'x')\n"
         "slice {y}: ->0 => P('y', 'x')\n",
         "all-gather {y}: 0->; all-to-all {x}: 0->1; slice {y}: ->0"},
	{"f32[24,24]", "x=4,y=2", "P('x')", "P()",
         "all-to-all {x:(2)2}: 0->1 => [{\"x\":(1)2}, {\"x\":(2)2}]\n"
         "all-gather {x:(1)2}: 0->, {x:(2)2}: 1-> => P()",
         "all-to-all {x:(2)2}: 0->1 => [{\"x\":(1)2}, {\"x\":(2)2}]\n"
         "all-gather {x:(1)2}: 0->, {x:(2)2}: 1-> => P(None, None)\n",
         "all-to-all {x:(2)2}: 0->1; all-gather {x:(1)2}: 0->, {x:(2)2}: 1->"},
	{"f32[6]", "x=2,y=3", "P(('x','y'),)", "P(('y','x'),)",
         "permute => P(('y','x'),)", "permute => P(('y', 'x'))\n", "permute"},
	{"f32[6]", "x=2,y=3", "P(('x','y'),)", "P(('y','x'),)",
         "permute pairs {{0,0},{1,3},{2,1},{3,4},{4,2},{5,5}} => P(('y','x'),)",
         "permute => P(('y', 'x'))\n", "permute"},
	{"f32[6]", "x=2,y=3", "P('x')", "P('x')",
         "permute pairs {{0,1}, {1,2}, {2,0}, {3,3}, {4,4}, {5,5}} => P('x')",
         "permute pairs {{0,1},{1,2},{2,0},{3,3},{4,4},{5,5}} => P('x')\n", "permute"},
	{"f32[6]", "x=2,y=3", "P('x')", "P()",
         "all-gather groups {{1,4},{0,3},{2,5}} => P()",
         "all-gather {x}: 0-> groups {{1,4},{0,3},{2,5}} => P(None)\n",
         "all-gather {x}: 0->"},
	{"f32[6]", "x=2,y=3", "P('x')", "P()",
         "all-gather {x}: 0-> groups {{0,3},{1,4},{2,5}} => P()",
         "all-gather {x}: 0-> => P(None)\n", "all-gather {x}: 0->"},
	/* Members by the moves as they stand: y is the major one of the group. */
	{"f32[6,6]", "x=2,y=3", "P('x','y')", "P()",
         "all-gather {y}: 1->, {x}: 0-> groups {{0,3,1,4,2,5}} => P()",
         "all-gather {y}: 1->, {x}: 0-> groups {{0,3,1,4,2,5}} => P(None, None)\n",
         "all-gather {y}: 1->, {x}: 0->"},
	{"f32[6,6]", "x=2,y=3", "P('x','y')", "P()",
         "all-gather {y}: 1->, {x}: 0-> => P()",
         "all-gather {x}: 0->, {y}: 1-> => P(None, None)\n",
         "all-gather {x}: 0->, {y}: 1->"},
	{"f32[4]", "x=4", "{devices=[4]0,3,1,2}", "{replicated}",
         "all-gather groups {{0,3,1,2}} => P()",
         "all-gather groups {{0,3,1,2}} => P(None)\n", "all-gather"},
	{"f32[4,4]", "x=4", "{devices=[4,1]0,3,1,2}", "{devices=[1,4]0,3,1,2}",
         "all-to-all groups {{0,3,1,2}} => {devices=[1,4]0,3,1,2}",
         "all-to-all groups {{0,3,1,2}} => {devices=[1,4]0,3,1,2}\n", "all-to-all"},
	{"f32[4]", "x=4", "{replicated}", "{devices=[4]0,3,1,2}",
         "slice => {devices=[4]0,3,1,2}", "slice => {devices=[4]0,3,1,2}\n", "slice"},
	{"f32[4]", "x=4", "{maximal device=1}", "{maximal device=2}",
         "permute pairs {{1,2}} => {maximal device=2}",
         "permute pairs {{1,2}} => {maximal device=2}\n", "permute"},
	{"f32[24,24]", "x=4,y=2", "P('y', unreduced={'x'})", "P(('y','x'))",
         "reduce-scatter {x}: ->0 => P(('y','x'))",
         "reduce-scatter {x}: ->0 => P(('y', 'x'), None)\n", "reduce-scatter {x}: ->0"},
	{"f32[24]", "x=4,y=2", "P(None, unreduced={'x','y'})", "P('x')",
         "all-reduce {y}: -> => P(None, unreduced={'x'})\n"
         "reduce-scatter {x}: ->0 => P('x')",
         "all-reduce {y}: -> => P(None, unreduced={'x'})\n"
         "reduce-scatter {x}: ->0 => P('x')\n",
         "all-reduce {y}: ->; reduce-scatter {x}: ->0"},
	{"f32[24]", "x=4,y=2", "P('x')", "P('x', unreduced={'y'})",
         "partial{y}:-> => P('x', unreduced={'y'})",
         "partial {y}: -> => P('x', unreduced={'y'})\n", "partial {y}: ->"},
	{"f32[6]", "x=2,y=3", "P('x')", "P('y')", "exchange=>P('y')",
         "exchange => P('y')\n", "exchange"},
	{"f32[6]", "<[\"a b\"=2, \"y\"=3]>", "[{\"a b\"}]", "P()",
         "all-gather {\"a b\"}: 0-> => P()", "all-gather {\"a b\"}: 0-> => P(None)\n",
         "all-gather {\"a b\"}: 0->"},
};

START_TEST(people_write_plans)
{
	struct problem *p =
		problem_of(good[_i].array, good[_i].mesh, good[_i].from, good[_i].to);
	struct plan *plan = read_plan(p, good[_i].text);
	struct text t = {0}, why = {0};

	text_printf(&t, "%s", "");
	plan_print(&t, plan);
	ck_assert_str_eq(t.s, good[_i].printed);
	check_same_plan(plan, read_plan(p, t.s), t.s);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	text_free(&t);
	plan_print_line(&t, plan);
	ck_assert_str_eq(t.s, good[_i].line);
	text_free(&t);
}
END_TEST

/* --- bad text ---------------------------------------------------------------------- */

#define GATHER "all-gather {y}: 0-> => P('x')\n"

/* Plans of f32[24,24], x=4,y=2, from P(('x','y')) to P('y','x'). */
static const struct {
	const char *text;
	enum status code;
	unsigned line, col;
	const char *says;
} bad[] = {
	{"{y}: 0->", E_SYNTAX, 1, 1, "expected a step such as all-gather"},
	{"gather {y}: 0-> => P('x')", E_SYNTAX, 1, 1, "unknown step 'gather'"},
	{GATHER "  all-together => P()", E_SYNTAX, 2, 3, "unknown step 'all-together'"},
	{"all-gather {}: 0-> => P('x')", E_SYNTAX, 1, 13, "expected an axis"},
	{"all-gather {\"y}: 0-> => P('x')", E_SYNTAX, 1, 13, "not closed"},
	{"all-gather {w}: 0-> => P('x')", E_TYPE, 1, 13, "unknown axis 'w'"},
	{"all-gather {y,y}: 0-> => P('x')", E_TYPE, 1, 1, "minor-most"},
	{"all-gather {x,x}: 0-> => P('x')", E_TYPE, 1, 16, "used twice"},
	{"all-gather {y: 0-> => P('x')", E_SYNTAX, 1, 14, "expected '}'"},
	{"all-gather {y} 0-> => P('x')", E_SYNTAX, 1, 16, "expected ':'"},
	{"all-gather {y}: 0 => P('x')", E_SYNTAX, 1, 19, "expected '->'"},
	{"all-gather {y}: 2-> => P('x')", E_RANGE, 1, 17,
         "a dimension 2 is out of range"},
	{"all-gather {x:(3)2}: 0-> => P('x')", E_TYPE, 1, 13, "does not divide"},
	{"all-gather {x:(0)2}: 0-> => P('x')", E_RANGE, 1, 16, "out of range"},
	{"all-gather {x:(2}: 0-> => P('x')", E_SYNTAX, 1, 17, "expected ')'"},
	{"all-gather {x:(2)}: 0-> => P('x')", E_SYNTAX, 1, 18, "whole number"},
	{"all-gather {y}: 0->, => P('x')", E_SYNTAX, 1, 22, "expected '{'"},
	{"all-gather {y}: 0-> = P('x')", E_SYNTAX, 1, 21, "expected '=>'"},
	{"all-gather {y}: 0-> => P('w')", E_TYPE, 1, 27, "'w'"},
	{"all-gather {y}: 0-> =>", E_SYNTAX, 1, 23, ""},
	{GATHER "\nslice {y}: ->1 => P('x', ", E_SYNTAX, 3, 0, ""},
	{"all-gather {y}: 0-> => P('y')", E_TYPE, 1, 1, "do not lead to this layout"},
	{"all-gather {x}: 0-> => P('y')", E_TYPE, 1, 1, "minor-most"},
	{"all-gather {y}: ->0 => P('x')", E_TYPE, 1, 1, "dimensions do not fit the op"},
	{"all-gather {y}: 0->1 => P('x')", E_TYPE, 1, 1, "dimensions do not fit the op"},
	{"all-gather {y}: 1-> => P('x')", E_TYPE, 1, 1, "minor-most"},
	{"all-gather {y:(1)1}: 0-> => P('x')", E_TYPE, 1, 1, "dimensions do not fit"},
	{"slice {y}: ->1 => P(('x','y'),'y')", E_TYPE, 1, 32, "twice"},
	{"slice {y}: ->1 => P('x','y')", E_TYPE, 1, 1, "used twice"},
	{GATHER "slice {y}: 0->1 => P('x','y')", E_TYPE, 2, 1, "dimensions do not fit"},
	{GATHER "all-to-all {x}: 0->0 => P('x')", E_TYPE, 2, 1, "used by two moves"},
	{"all-to-all {y}: 0->1, {x}: 0->1 => P()", E_TYPE, 1, 1, "used by two moves"},
	{"all-reduce => P()", E_TYPE, 1, 1, "needs an unreduced array"},
	{"reduce-scatter {y}: ->1 => P()", E_TYPE, 1, 1, "needs an unreduced array"},
	{"pad {x}: 0-> => P()", E_TYPE, 1, 1, "has no axes or groups"},
	{"pad boxes => P()", E_TYPE, 1, 1, "has no boxes"},
	{"all-gather {y}: 0-> boxes => P('x')", E_TYPE, 1, 1, "has no boxes"},
	{"exchange boxes => P('y','x')\n[0:25,0:1] 0->1", E_RANGE, 2, 4,
         "where a box ends 25"},
	{"exchange boxes => P('y','x')\n[3:3,0:1] 0->1", E_TYPE, 1, 1, "a box is empty"},
	{"exchange boxes => P('y','x')\n[3:2,0:1] 0->1", E_TYPE, 1, 1, "a box is empty"},
	{"exchange boxes => P('y','x')\n[0:1] 0->1", E_SYNTAX, 2, 5, "expected ','"},
	{"exchange boxes => P('y','x')\n[0:1,0:1,0:1] 0->1", E_SYNTAX, 2, 9,
         "expected ']'"},
	{"exchange boxes => P('y','x')\n[0:1,0:1] 0->8", E_RANGE, 2, 14, "a device 8"},
	{"exchange boxes => P('y','x')\n[0:1,0:1] 0->1,", E_SYNTAX, 2, 16, "a device"},
	{"exchange boxes => P('y','x')\n[0:1,0:1]", E_SYNTAX, 2, 10, "a device"},
	{"exchange => P('y','x')\n[0:1,0:1] 0->1", E_SYNTAX, 2, 1, "expected a step"},
	{"exchange on mesh => P('y','x')", E_SYNTAX, 1, 13, "on target mesh"},
	{"exchange on target mesh => P('y','x')", E_TYPE, 1, 1, "to another mesh"},
	{"exchange unpadded => P('y','x')", E_TYPE, 1, 1, "of a padded array"},
	{GATHER "permute boxes => P('y')", E_TYPE, 2, 1, "keeps the layout"},
	{GATHER "permute pairs {{0,1}} boxes => P('x')", E_TYPE, 2, 1,
         "have their elements"},
	{GATHER "permute part 6 boxes => P('x')", E_TYPE, 2, 1, "have their elements"},
	{GATHER "permute pairs {{0,1}} part 6 => P('x')", E_TYPE, 2, 1,
         "only a permute of boxes"},
	{GATHER "permute pairs {{0,1}} part 0 boxes => P('x')", E_RANGE, 2, 28,
         "the elements of a part 0"},
	{GATHER "permute pairs {{0,1}} part 4611686018427387904 boxes => P('x')",
         E_TYPE, 2, 1, "a part has too many elements"},
	{"pad tile [3] => P()", E_SYNTAX, 1, 12, "expected ','"},
	{"pad tile [4611686018427387904,1] => P()", E_TYPE, 1, 1, "tiles are too large"},
	{"pad tile [99999999999,99999999999] => P()", E_TYPE, 1, 1,
         "tiles are too large"},
	{"pad starts {{0,0}} => P()", E_SYNTAX, 1, 18, "expected ','"},
	{"pad starts {{0,-1}} => P()", E_SYNTAX, 1, 16, "a start"},
	{"all-gather {y}: 0-> sums [24,24] => P('x')", E_TYPE, 1, 1,
         "only an all-reduce adds up"},
	{"all-reduce {y}: 0-> sums [4611686018427387904,9] => P('x')", E_TYPE, 1, 1,
         "it adds up are too large"},
	{"all-reduce sums [24,24] => P('x')", E_TYPE, 1, 1, "needs its groups"},
	{"all-reduce {x}: 0-> sums [24,24] => P('x')", E_TYPE, 1, 1, "minor-most"},
	{"all-reduce {y}: 0-> sums [24,24] groups {{0,1}} => P('x')", E_TYPE, 1, 1,
         "groups do not fit"},
	{"exchange {x}: 0->1 => P('y','x')", E_TYPE, 1, 1, "has no axes or groups"},
	{"exchange groups {{0,1}} => P('y','x')", E_TYPE, 1, 1, "has no axes or groups"},
	{"exchange => {maximal device=0}", E_TYPE, 1, 1, "needs layouts of axes"},
	{"exchange => P('y',unreduced={'x'})", E_TYPE, 1, 1, "none unreduced"},
	{"partial => P()", E_TYPE, 1, 1, "needs its axes"},
	{GATHER "partial {y}: ->, {y}: -> => P()", E_TYPE, 2, 1, "one move"},
	{GATHER "partial {y}: ->0 => P()", E_TYPE, 2, 1, "do not fit the op"},
	{GATHER "partial {x}: -> => P()", E_TYPE, 2, 1, "twice"},
	{GATHER "partial {y}: -> => P('x')", E_TYPE, 2, 1, "do not lead to"},
	{"permute => P('x')", E_TYPE, 1, 1, "keeps the local shape"},
	{"permute {y}: 0->1 => P(('y','x'))", E_TYPE, 1, 1, "a permute has pairs"},
	{"permute groups {{0,1}} => P(('y','x'))", E_TYPE, 1, 1, "a permute has pairs"},
	{"all-gather pairs {{0,1}} => P('x')", E_TYPE, 1, 1, "a permute has pairs"},
	{"permute pairs {{0,8}} => P(('y','x'))", E_RANGE, 1, 19, "a device 8"},
	{"permute pairs {{0,1,2}} => P(('y','x'))", E_SYNTAX, 1, 25, "{source,target}"},
	{"permute pairs {{0,1},{2}} => P(('y','x'))", E_SYNTAX, 1, 24, "equal length"},
	{"permute pairs {} => P(('y','x'))", E_SYNTAX, 1, 16, "expected '{'"},
	{"permute pairs {{0,1} => P(('y','x'))", E_SYNTAX, 1, 22, "expected '}'"},
	{"permute pairs {{0,0},{0,0},{0,0},{0,0},{0,0},{0,0},{0,0},{0,0},{0,0}} => P()",
         E_RANGE, 1, 65, "too many devices"},
	{"all-gather groups {{0,1}} => P('x')", E_TYPE, 1, 1, "groups do not fit"},
	{"all-gather {y}: 0-> groups {{0,1}} => P('x')", E_TYPE, 1, 1,
         "groups do not fit"},
	{"all-gather => P('x')", E_TYPE, 1, 1, "groups do not fit"},
	{"all-gather groups {{0,1}} => P(('x','y'),)", E_TYPE, 1, 1,
         "do not fit this op"},
	{"slice groups {{0,1}} => P(('x','y'))", E_TYPE, 1, 1, "do not fit this op"},
	{GATHER "slice groups {{0,1}} => P(('x','y'))", E_TYPE, 2, 1, "has no groups"},
	{GATHER "slice {y}: ->1 groups {{0,1}} => P('x','y')", E_TYPE, 2, 1,
         "has no groups"},
	{"all-to-all groups {{0,1}} => P('x')", E_TYPE, 1, 1, "do not fit this op"},
	{"all-to-all groups {{0,1}} => P(None,'y')", E_TYPE, 1, 1, "do not fit this op"},
	{"permute => {maximal device=0}", E_TYPE, 1, 1, "keeps the local shape"},
	{"all-gather {x,y}: 0-> => P()\npermute => {maximal device=0}", E_TYPE, 2, 1,
         "needs its pairs"},
	{GATHER "all-gather {x}: 0-> => {maximal device=0}", E_TYPE, 2, 1, "do not lead"},
};

START_TEST(bad_text_is_told_where_it_is_bad)
{
	struct problem *p =
		problem_of("f32[24,24]", "x=4,y=2", "P(('x','y'))", "P('y','x')");
	struct plan *plan = NULL;
	struct error e = {0};
	struct where at = where_option("plan.txt", bad[_i].text);

	ck_assert_int_eq(plan_parse(&plan, p, memory, bad[_i].text, at, &e),
	                 bad[_i].code);
	ck_assert_msg(strstr(e.text, bad[_i].says), "%s: %s", bad[_i].text, e.text);
	ck_assert_msg(e.at.line == bad[_i].line, "line %u: %s", e.at.line, e.text);
	/* Column 0 in the table: what the layout's reader says. */
	if (bad[_i].col)
		ck_assert_msg(e.at.col == bad[_i].col, "col %u: %s", e.at.col, e.text);
	ck_assert_str_eq(e.at.file, "plan.txt");
}
END_TEST

/* Sums: plans of f32[24,24], x=4,y=2, from P('y', unreduced={'x'}). */
static const struct {
	const char *text, *says;
} bad_sums[] = {
	{"all-reduce {y}: -> => P('y')", "not unreduced ones"},
	{"all-reduce {x}: 0-> => P('y')", "do not fit the op"},
	{"all-reduce {x:(1)2}: ->, {x:(1)2}: -> => P('y')", "not unreduced ones"},
	{"all-reduce {x:(1)2}: -> => P('y')", "do not lead to"},
	{"all-reduce => P('y')", "needs its axes"},
	{"all-reduce groups {{0,1}} => P('y')", "needs its axes"},
	{"all-reduce {x}: -> groups {{0,1}} => P('y')", "groups do not fit"},
	{"reduce-scatter {x}: -> => P('y')", "do not fit the op"},
	{"reduce-scatter {x}: ->1 => P('y')", "do not lead to"},
	{"reduce-scatter {x,x}: ->1 => P('y')", "used twice"},
	{"exchange => P(('x','y'))", "none unreduced"},
};

START_TEST(sums_are_held_to_their_axes)
{
	struct problem *p = problem_of("f32[24,24]", "x=4,y=2",
	                               "P('y', unreduced={'x'})", "P('y')");
	struct plan *plan = NULL;
	struct error e = {0};
	struct where at = where_option("plan.txt", bad_sums[_i].text);

	ck_assert_int_eq(plan_parse(&plan, p, memory, bad_sums[_i].text, at, &e),
	                 E_TYPE);
	ck_assert_msg(strstr(e.text, bad_sums[_i].says), "%s: %s", bad_sums[_i].text,
	              e.text);
	ck_assert_uint_eq(e.at.line, 1);
}
END_TEST

/* plan_check says what moving the elements one by one says. */
static void check_verdict(const struct plan *p)
{
	struct text why = {0}, t = {0};
	int step;

	plan_print(&t, p);
	ck_assert_msg(plan_check(p, &why) == plan_interpret(p, memory, &step), "%s\n%s",
	              why.s ? why.s : "right", t.s ? t.s : "");
	text_free(&why);
	text_free(&t);
}

/* Changed bytes may give a plan or an error, never a crash or a false "right". */
START_TEST(changed_bytes_do_no_harm)
{
	static const char bytes[] = "{}()[]:,->=0123456789xyzPN' \"\n<agTlpsu\x01\xff";
	struct rng *r = rng_new(6101 + (uint64_t)_i);
	int read = 0;

	for (int k = 0; k < 1000; k++) {
		struct plan *p = plan_of_any_kind(r, memory, k);
		struct text t = {0};

		plan_print(&t, p);
		for (int round = 0; t.length && round < 10; round++) {
			char *text = arena_strndup(memory, t.s, t.length);
			struct plan *q = NULL;
			struct error e = {0};

			for (uint32_t n = 1 + rng_below(r, 3); n > 0; n--)
				text[rng_below(r, (uint32_t)t.length)] =
					bytes[rng_below(r, sizeof(bytes))];
			if (plan_parse(&q, p->problem, memory, text,
			               where_option("plan", text), &e) == OK) {
				check_verdict(q);
				read++;
			} else {
				ck_assert_uint_gt(strlen(e.text), 0);
				ck_assert_uint_ge(e.at.line, 1);
			}
		}
		text_free(&t);
		arena_reset(memory);
	}
	ck_assert_int_gt(read, 50);
	rng_free(r);
}
END_TEST

START_TEST(ops_are_found_by_name)
{
	for (int op = 0; op < OPS; op++)
		ck_assert_int_eq(op_find(op_name(op), strlen(op_name(op))), op);
	ck_assert_int_eq(op_find("all-gathe", 9), OPS);
	ck_assert_int_eq(op_find("", 0), OPS);
	ck_assert(!op_communicates(OP_SLICE) && op_communicates(OP_PERMUTE));
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("plan_text");
	TCase *c = tcase_create("plan_text");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_add_loop_test(c, plans_read_back_as_they_print, 0, 5);
	tcase_add_loop_test(c, people_write_plans, 0, sizeof(good) / sizeof(*good));
	tcase_add_loop_test(c, bad_text_is_told_where_it_is_bad, 0,
	                    sizeof(bad) / sizeof(*bad));
	tcase_add_loop_test(c, sums_are_held_to_their_axes, 0,
	                    sizeof(bad_sums) / sizeof(*bad_sums));
	tcase_add_loop_test(c, changed_bytes_do_no_harm, 0, 5);
	tcase_add_test(c, ops_are_found_by_name);
	suite_add_tcase(suite, c);
	return suite;
}
