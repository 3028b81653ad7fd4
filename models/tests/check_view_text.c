/* Texts of plans over digits: what is printed reads back, and bad text has a place. */
#include "digit_case.h"
#include "digit_elements.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"
#include "tests/tests.h"

#include <check.h>

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

static void check_same(const struct plan *a, const struct plan *b)
{
	const char *reason;

	ck_assert_str_eq(digit_printed(a, memory), digit_printed(b, memory));
	ck_assert_msg(digit_proven(b, memory, &reason), "%s\n%s", reason,
	              digit_printed(a, memory));
	ck_assert_int_eq(a->nsteps, b->nsteps);
	ck_assert_int_eq(a->recv_bytes, b->recv_bytes);
	ck_assert_int_eq(a->send_bytes, b->send_bytes);
	ck_assert_int_eq(a->peak_array_bytes, b->peak_array_bytes);
	ck_assert_int_eq(a->peak_live_bytes, b->peak_live_bytes);
	for (int i = 0; i < a->nsteps; i++) {
		const struct step *s = &a->step[i], *t = &b->step[i];

		ck_assert_int_eq(s->op, t->op);
		ck_assert_int_eq(s->recv_bytes, t->recv_bytes);
		ck_assert_int_eq(s->padding_bytes, t->padding_bytes);
		ck_assert_int_eq(s->groups.size, t->groups.size);
		if (s->groups.size)
			ck_assert_mem_eq(s->groups.ids, t->groups.ids,
			                 (size_t)(s->groups.size * s->groups.ngroups) *
			                         sizeof(int32_t));
		ck_assert_int_eq(s->ntransfers, t->ntransfers);
		for (int64_t k = 0; k < s->ntransfers; k++) {
			ck_assert_int_eq(s->transfers[k].src, t->transfers[k].src);
			ck_assert_int_eq(s->transfers[k].elements,
			                 t->transfers[k].elements);
		}
	}
}

START_TEST(digit_plans_read_back)
{
	struct rng *r = rng_new(19 + (uint64_t)_i);
	int plans = 0;

	for (int k = 0; k < 500; k++) {
		struct plan *p = digit_random_plan(r, memory, _i % 2), *q = NULL;
		struct error e = {0};
		const char *text;
		json_t *json;

		if (p) {
			text = digit_printed(p, memory);
			ck_assert_msg(plan_parse(&q, p->problem, memory, text,
			                         where_option("plan", text), &e) == OK,
			              "%u:%u: %s\n%s", e.at.line, e.at.col, e.text,
			              text);
			check_same(p, q);
			json = plan_json(p);
			ck_assert_msg(plan_parse_json(&q, p->problem, memory, json,
			                              "plan.json", &e) == OK,
			              "%s\n%s", e.text, text);
			check_same(p, q);
			json_decref(json);
			plans++;
		}
		arena_reset(memory);
	}
	ck_assert_int_gt(plans, 150);
	rng_free(r);
}
END_TEST

#define TO_ALL "all-to-all {y}: 0->1 => "
#define STRIDED TO_ALL "[8,8]->[2,4,8] P(None, 'x', 'y')\n"
#define GATHER "all-gather {x}: 0-> => P(None, 'y')\n"

/* Plans of f32[8,8], x=2,y=2, from P(('y','x')) to P(None,'y'), as people write them. */
static const struct {
	const char *text, *printed;
} good[] = {
	{STRIDED GATHER, STRIDED GATHER},
	/* More digits than are needed, other spellings. */
	{TO_ALL "[8,8]->[2,2,2,2,4] P(None, 'x', None, 'y')\n" GATHER, STRIDED GATHER},
	{TO_ALL " [ 8, 8 ] -> [2,4,8] [{}, {\"x\"}, {\"y\"}]\n" GATHER, STRIDED GATHER},
	/* Two moves of one dimension, without a strided layout. */
	{"all-gather {y}: 0->, {x}: 0-> => P()\nslice {y}: ->1 => P(None,'y')",
         "all-gather {y}: 0->, {x}: 0-> => P(None, None)\nslice {y}: ->1 => P(None, "
         "'y')\n"},
	/* Two steps; what moves between them are digits of their own. */
	{"all-gather {y}: 0-> => [8,8]->[2,4,8] P(None, 'x')\n"
         "slice {y}: ->1 => [8,8]->[2,4,8] P(None, 'x', 'y')\n" GATHER,
         "all-gather {y}: 0-> => [8,8]->[2,4,8] P(None, 'x', None)\n"
         "slice {y}: ->1 => [8,8]->[2,4,8] P(None, 'x', 'y')\n" GATHER},
	/* The exchange that the layouts imply, also to a strided one. */
	{"exchange => [8,8]->[2,4,8] P(None, 'x', 'y')\n" GATHER,
         "exchange => [8,8]->[2,4,8] P(None, 'x', 'y')\n" GATHER},
	{STRIDED "permute => [8,8]->[2,2,2,8] P(None, 'y', None, 'x')\n"
                 "permute => [8,8]->[2,4,8] P(None, 'x', 'y')\n" GATHER,
         STRIDED "permute => [8,8]->[2,4,8] P(None, 'y', 'x')\n"
                 "permute => [8,8]->[2,4,8] P(None, 'x', 'y')\n" GATHER},
};

START_TEST(people_write_strided_layouts)
{
	struct problem *p = digit_texts(memory, "f32[8,8]", "x=2,y=2", "P(('y','x'))",
	                                "P(None,'y')");
	struct plan *plan = NULL;
	struct error e = {0};
	const char *reason;

	ck_assert_msg(plan_parse(&plan, p, memory, good[_i].text,
	                         where_option("plan", good[_i].text), &e) == OK,
	              "%u:%u: %s", e.at.line, e.at.col, e.text);
	ck_assert_str_eq(digit_printed(plan, memory), good[_i].printed);
	ck_assert_msg(digit_proven(plan, memory, &reason), "%s", reason);
	ck_assert(elements_prove(plan, memory));
}
END_TEST

static const struct {
	const char *text;
	enum status code;
	unsigned line, col;
	const char *says;
} bad[] = {
	{TO_ALL "[8,8]->[2,4,4] P(None,'x','y')", E_SYNTAX, 1, 38, "expected ','"},
	{TO_ALL "[8,8]->[2,3,8] P(None,'x','y')", E_TYPE, 1, 36, "multiply to 8"},
	{TO_ALL "[8,6]->[2,4,8] P(None,'x','y')", E_RANGE, 1, 28, "padded extent"},
	{TO_ALL "[8,8] [2,4,8] P(None,'x','y')", E_SYNTAX, 1, 27, "expected"},
	{TO_ALL "[8,8]->[2,4,8] P(None,'w','y')", E_TYPE, 1, 48, "'w'"},
	{TO_ALL "[8,8]->[2,4,8] P(None,'x','y',None)", E_TYPE, 1, 55, "too many"},
	{TO_ALL "[8,8]->[2,4,8] P('y','x')", E_TYPE, 1, 1, "do not lead"},
	{STRIDED "all-gather {x}: 0-> => P('y')", E_TYPE, 2, 1, "do not lead"},
	{STRIDED "all-gather {x}: 1-> => P(None,'y')", E_TYPE, 2, 1, "do not lead"},
	{STRIDED "all-gather {x}: ->1 => P(None,'y')", E_TYPE, 2, 1, "do not fit the op"},
	{STRIDED "slice {x}: ->0 => P(None,'y')", E_TYPE, 2, 1, "do not lead"},
	{STRIDED "permute => P('x','y')", E_TYPE, 2, 1, "keeps the local shape"},
	{STRIDED "gather {x}: 0-> => P(None,'y')", E_SYNTAX, 2, 1, "unknown step"},
	{STRIDED "exchange {x}: 0-> => P(None,'y')", E_TYPE, 2, 1, ""},
};

START_TEST(bad_strided_text_has_a_place)
{
	struct problem *p = digit_texts(memory, "f32[8,8]", "x=2,y=2", "P(('y','x'))",
	                                "P(None,'y')");
	struct plan *plan = NULL;
	struct error e = {0};

	ck_assert_int_ne(plan_parse(&plan, p, memory, bad[_i].text,
	                            where_option("plan", bad[_i].text), &e),
	                 OK);
	ck_assert_msg(strstr(e.text, bad[_i].says) && e.code == bad[_i].code &&
	                      e.at.line == bad[_i].line && e.at.col == bad[_i].col,
	              "%d %u:%u: %s", e.code, e.at.line, e.at.col, e.text);
}
END_TEST

/* Radices that do not line up: 3 then 4 after 2 then 6. */
START_TEST(digits_of_lines_must_line_up)
{
	struct problem *p =
		digit_texts(memory, "f32[12,6]", "x=2,y=3", "P('x')", "P('x','y')");
	const char *text = "slice {y}: ->1 => P('x','y')\n"
			   "permute => [12,6]->[3,4,2,3] P(None,'x',None,'y')\n";
	struct plan *plan = NULL;
	struct error e = {0};
	json_t *json = json_pack("[{s:s, s:[], s:s}]", "op", "permute", "moves",
	                         "layout", "[12,6]->[3,4,6] P(None,'x')");

	ck_assert_int_eq(
		plan_parse(&plan, p, memory, text, where_option("plan", text), &e),
		E_TYPE);
	ck_assert_msg(strstr(e.text, "do not line up") && e.at.line == 2, "%s", e.text);
	e = (struct error){0};
	ck_assert_int_eq(plan_parse_json(&plan, p, memory, json, "plan.json", &e),
	                 E_TYPE);
	ck_assert_msg(strstr(e.text, "steps[0].op") && strstr(e.text, "line up"), "%s",
	              e.text);
	json_decref(json);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("view_text");
	TCase *c = tcase_create("view_text");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, digit_plans_read_back, 0, 4);
	tcase_add_loop_test(c, people_write_strided_layouts, 0, COUNT(good));
	tcase_add_loop_test(c, bad_strided_text_has_a_place, 0, COUNT(bad));
	tcase_add_test(c, digits_of_lines_must_line_up);
	suite_add_tcase(suite, c);
	return suite;
}
