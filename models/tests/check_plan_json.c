/* Problems and plans as JSON: what is written, read back, and bad JSON refused. */
#include "plan/plan_json.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "plan/plan_text.h"
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

static struct problem *problem_of(struct problem_text t)
{
	struct problem *p = arena_alloc(memory, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, memory, &t, &e) == OK, "%s", e.text);
	return p;
}

static struct plan *read_plan(const struct problem *p, const json_t *steps,
                              const char *text)
{
	struct plan *plan = NULL;
	struct error e = {0};

	ck_assert_msg(plan_parse_json(&plan, p, memory, steps, "plan.json", &e) == OK,
	              "%s\n%s", e.text, text);
	return plan;
}

/* JSON with ' for ", as the tables have it. */
static json_t *load(const char *text)
{
	char *copy = arena_strdup(memory, text);
	json_error_t e;
	json_t *json;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_loads(copy, JSON_DECODE_ANY, &e);
	ck_assert_msg(json != NULL, "%s: %s", e.text, copy);
	return json;
}

START_TEST(plans_read_back_as_they_are_written)
{
	struct rng *r = rng_new(1409 + (uint64_t)_i);

	for (int k = 0; k < 300; k++) {
		struct plan *p = plan_of_any_kind(r, memory, k);
		json_t *first = plan_json(p), *second;
		char *text = json_dumps(first, 0);

		second = plan_json(read_plan(p->problem, first, text));
		ck_assert_msg(same_plan_json(first, second), "%s", text);
		check_same_plan(p, read_plan(p->problem, first, text), text);
		ck_assert_uint_eq(json_array_size(first), (size_t)p->nsteps);
		json_decref(first);
		json_decref(second);
		free(text);
		arena_reset(memory);
	}
	rng_free(r);
}
END_TEST

static void check_json(json_t *found, const char *wanted)
{
	json_t *want = load(wanted);
	char *text = json_dumps(found, 0);

	ck_assert_msg(json_equal(found, want), "%s", text);
	free(text);
	json_decref(found);
	json_decref(want);
}

/* Figures by hand: tile 4x6 = 24 elements of 2 bytes; half of it moves. */
START_TEST(steps_have_the_members_of_the_contract)
{
	struct problem *p =
		problem_of((struct problem_text){.array = "bf16[16,6]",
	                                         .mesh = "x=4,y=2",
	                                         .from = "P('x', None)",
	                                         .to = "[{\"x\":(1)2}, {\"x\":(2)2}]",
	                                         .memory_limit = "48KiB"});
	struct part x2 = {0, 2, 2};
	struct move move = {0, 1, 2, 1, &x2};
	struct plan *plan = plan_new(memory, p, "test");
	json_t *json;

	plan_axes_step(plan, OP_ALL_TO_ALL, &move, 1);
	plan_finish(plan);
	check_json(
		plan_json(plan),
		"[{'op': 'all-to-all', 'moves': [{'axes': ['x:(2)2'], 'from_dim': 0, "
		"'to_dim': 1}], 'blocks': [{'factor': 2, 'from_dim': 0, 'to_dim': 1}], "
		"'replica_groups': [[0,2],[1,3],[4,6],[5,7]], "
		"'source_target_pairs': null, 'operand_shape': [4,6], 'layout': "
		"'[{\\'x\\':(1)2}, {\\'x\\':(2)2}]', 'local_shape': [8,3], "
		"'recv_bytes': 24, 'send_bytes': 24, 'padding_bytes': 0, 'algorithm': "
		"null, 'time_s': {}}]");
	p->device_memory_bytes = 80000000000;
	p->vocabulary = VOCABULARY_PORTABLE;
	json = problem_json(p);
	check_json(json,
	           "{'array': 'bf16[16,6]', 'mesh': [['x',4],['y',2]], 'to_mesh': "
	           "null, 'from': 'P(\\u0027x\\u0027, None)', 'to': "
	           "'[{\\'x\\':(1)2}, {\\'x\\':(2)2}]', 'devices': 8, "
	           "'mesh_order': null, 'to_mesh_order': null, "
	           "'from_devices': null, 'to_devices': null, 'padded_shape': "
	           "[16,6], 'memory_limit_bytes': 49152, 'device_memory_bytes': "
	           "80000000000, 'vocabulary': 'portable', 'recv_bound_bytes': 24, "
	           "'memory_bound_bytes': 48}");
}
END_TEST

START_TEST(a_second_mesh_and_padding_are_told)
{
	struct problem *p = problem_of((struct problem_text){.array = "s8[11]",
	                                                     .mesh = "x=4,y=3",
	                                                     .to_mesh = "u=3,v=4",
	                                                     .from = "P('x')",
	                                                     .to = "P('u')"});

	check_json(
		problem_json(p),
		"{'array': 's8[11]', 'mesh': [['x',4],['y',3]], 'to_mesh': "
		"[['u',3],['v',4]], 'from': 'P(\\u0027x\\u0027)', 'to': "
		"'P(\\u0027u\\u0027)', 'devices': 12, 'mesh_order': null, "
		"'to_mesh_order': null, 'from_devices': null, "
		"'to_devices': null, 'padded_shape': [12], 'memory_limit_bytes': null, "
		"'device_memory_bytes': null, 'vocabulary': 'any', "
		"'recv_bound_bytes': 3, 'memory_bound_bytes': 4}");
}
END_TEST

#define LAYOUT "'layout': 'P(\\u0027x\\u0027)'"
#define GATHER                                                                         \
	"{'op': 'all-gather', 'moves': [{'axes': ['y'], 'from_dim': 0}], " LAYOUT "}"

/* Plans of f32[24,24], x=4,y=2, from P(('x','y')) to P('y','x'). */
static const struct {
	const char *json, *says;
} bad[] = {
	{"{}", "expected an array of steps"},
	{"null", "expected an array of steps"},
	{"[5]", "steps[0].op: expected an op"},
	{"[" GATHER ", {}]", "steps[1].op: expected an op"},
	{"[{'op': 7}]", "steps[0].op: expected an op"},
	{"[{'op': 'gather'}]", "steps[0].op: expected an op"},
	{"[{'op': 'all-gather', 'moves': 'y', " LAYOUT "}]",
         "steps[0].moves: expected an array"},
	{"[{'op': 'all-gather', 'moves': [[]], " LAYOUT "}]",
         "steps[0].moves: expected axes"},
	{"[{'op': 'all-gather', 'moves': [{'axes': []}], " LAYOUT "}]",
         "steps[0].moves: expected axes"},
	{"[{'op': 'all-gather', 'moves': [{'axes': [3]}], " LAYOUT "}]",
         "steps[0].moves: expected axis names"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['w']}], " LAYOUT "}]",
         "steps[0].moves: unknown axis"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['w:(1)2']}], " LAYOUT "}]",
         "steps[0].moves: unknown axis"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['x:(3)2']}], " LAYOUT "}]",
         "steps[0].moves: expected a sub-axis"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['x:(2)2)']}], " LAYOUT "}]",
         "steps[0].moves: expected a sub-axis"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['x:(0)2']}], " LAYOUT "}]",
         "steps[0].moves: expected a sub-axis"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['x:2']}], " LAYOUT "}]",
         "steps[0].moves: expected a sub-axis"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['x', 'x']}], " LAYOUT "}]",
         "steps[0].moves: an axis is used twice"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['y'], 'from_dim': 2}], " LAYOUT
         "}]",
         "steps[0].moves: expected a dimension"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['y'], 'from_dim': -1}], " LAYOUT
         "}]",
         "steps[0].moves: expected a dimension"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['y'], 'from_dim': 0.5}], " LAYOUT
         "}]",
         "steps[0].moves: expected a dimension"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['y'], 'from_dim': '0'}], " LAYOUT
         "}]",
         "steps[0].moves: expected a dimension"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['y']}], " LAYOUT "}]",
         "steps[0].op: a move's dimensions do not fit the op"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['x'], 'from_dim': 0}], " LAYOUT
         "}]",
         "steps[0].op: the axes are not the minor-most"},
	{"[" GATHER ", " GATHER "]", "steps[1].op: the axes are not the minor-most"},
	{"[{'op': 'all-gather', 'moves': [{'axes': ['y'], 'from_dim': 0}]}]",
         "steps[0].layout: expected a layout"},
	{"[{'op': 'all-gather', 'layout': 'P(\\u0027w\\u0027)'}]",
         "steps[0].layout: unknown axis 'w'"},
	{"[{'op': 'all-gather', 'layout': 'sharded'}]", "steps[0].layout: "},
	{"[{'op': 'all-gather', 'moves': [], " LAYOUT "}]", "steps[0].op: the groups"},
	{"[{'op': 'all-gather', 'replica_groups': 3, " LAYOUT "}]",
         "steps[0].replica_groups: expected lists"},
	{"[{'op': 'all-gather', 'replica_groups': [], " LAYOUT "}]",
         "steps[0].replica_groups: expected lists"},
	{"[{'op': 'all-gather', 'replica_groups': [[]], " LAYOUT "}]",
         "steps[0].replica_groups: expected lists"},
	{"[{'op': 'all-gather', 'replica_groups': [[0,1],[2]], " LAYOUT "}]",
         "steps[0].replica_groups: expected lists of equal length"},
	{"[{'op': 'all-gather', 'replica_groups': [[0,8]], " LAYOUT "}]",
         "steps[0].replica_groups: expected device numbers"},
	{"[{'op': 'all-gather', 'replica_groups': [[0,'1']], " LAYOUT "}]",
         "steps[0].replica_groups: expected device numbers"},
	{"[{'op': 'all-gather', 'replica_groups': "
         "[[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]], " LAYOUT "}]",
         "steps[0].replica_groups: expected lists"},
	{"[{'op': 'all-gather', 'replica_groups': [[0,1]], " LAYOUT "}]",
         "steps[0].op: the groups do not fit"},
	{"[{'op': 'permute', 'source_target_pairs': [[0,1,2]], 'layout': "
         "'[{\\'y\\',\\'x\\'},{}]'}]",
         "steps[0].source_target_pairs: expected pairs"},
	{"[{'op': 'permute', 'source_target_pairs': [[0,-1]], 'layout': "
         "'[{\\'y\\',\\'x\\'},{}]'}]",
         "source_target_pairs: expected device numbers"},
	{"[{'op': 'permute', 'replica_groups': [[0,1]], 'layout': "
         "'[{\\'y\\',\\'x\\'},{}]'}]",
         "steps[0].op: a permute has pairs"},
	{"[{'op': 'permute', " LAYOUT "}]", "steps[0].op: a permute keeps"},
	{"[{'op': 'all-reduce', " LAYOUT "}]",
         "steps[0].op: this op needs an unreduced"},
};

START_TEST(bad_json_names_the_member)
{
	struct problem *p = problem_of((struct problem_text){.array = "f32[24,24]",
	                                                     .mesh = "x=4,y=2",
	                                                     .from = "P(('x','y'))",
	                                                     .to = "P('y','x')"});
	struct plan *plan = NULL;
	struct error e = {0};
	json_t *json = load(bad[_i].json);

	ck_assert_int_eq(plan_parse_json(&plan, p, memory, json, "plan.json", &e),
	                 E_TYPE);
	ck_assert_msg(strstr(e.text, bad[_i].says), "%s: %s", bad[_i].json, e.text);
	ck_assert_str_eq(e.at.file, "plan.json");
	ck_assert_uint_eq(e.at.line, 0);
	json_decref(json);
}
END_TEST

/* Members that may be left out: pairs and groups that follow, null dimensions. */
START_TEST(a_short_plan_is_enough)
{
	struct problem *p = problem_of((struct problem_text){.array = "f32[24,24]",
	                                                     .mesh = "x=4,y=2",
	                                                     .from = "P(('x','y'))",
	                                                     .to = "P(None,'x')"});
	json_t *json =
		load("[" GATHER ", {'op': 'all-to-all', 'moves': [{'axes': ['x'], "
	             "'from_dim': 0, 'to_dim': 1}], 'layout': '[{}, {\\'x\\'}]'}]");
	struct plan *plan = read_plan(p, json, "");

	ck_assert_int_eq(plan->nsteps, 2);
	ck_assert(plan_check(plan, NULL));
	ck_assert_int_eq(plan->recv_bytes, 4 * (72 + 108));
	json_decref(json);
	json = load("[]");
	ck_assert_int_eq(read_plan(p, json, "")->nsteps, 0);
	json_decref(json);
}
END_TEST

/* The members of a group are in the order of the moves as the file has them. */
START_TEST(moves_keep_their_order)
{
	struct problem *p = problem_of((struct problem_text){.array = "f32[6,6]",
	                                                     .mesh = "x=2,y=3",
	                                                     .from = "P('x','y')",
	                                                     .to = "P()"});
	json_t *json =
		load("[{'op': 'all-gather', 'moves': [{'axes': ['y'], 'from_dim': "
	             "1}, {'axes': ['x'], 'from_dim': 0}], 'replica_groups': "
	             "[[0,3,1,4,2,5]], 'layout': 'P()'}]");
	struct plan *plan = read_plan(p, json, "");
	struct text why = {0};

	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	ck_assert_int_eq(plan->step[0].move[0].from_dim, 1);
	json_decref(json);
}
END_TEST

/* Bytes of a plan's JSON changed: no JSON, an error, or a plan; nothing else. */
START_TEST(changed_bytes_do_no_harm)
{
	static const char bytes[] = "{}[],:0123456789xyz\"-> ().PnulatrS";
	struct rng *r = rng_new(7703 + (uint64_t)_i);
	int loaded = 0, read = 0;

	for (int k = 0; k < 500; k++) {
		struct plan *p = plan_of_any_kind(r, memory, k);
		json_t *steps = plan_json(p);
		char *text = json_dumps(steps, JSON_COMPACT);

		for (int round = 0; round < 20; round++) {
			char *copy = arena_strdup(memory, text);
			struct plan *q = NULL;
			struct error e = {0};
			struct text why = {0};
			json_t *json;

			copy[rng_below(r, (uint32_t)strlen(text))] =
				bytes[rng_below(r, sizeof(bytes) - 1)];
			json = json_loads(copy, JSON_DECODE_ANY, NULL);
			if (!json)
				continue;
			loaded++;
			if (plan_parse_json(&q, p->problem, memory, json, "f", &e) ==
			    OK) {
				plan_check(q, &why);
				read++;
			} else {
				ck_assert_uint_gt(strlen(e.text), 0);
			}
			text_free(&why);
			json_decref(json);
		}
		json_decref(steps);
		free(text);
		arena_reset(memory);
	}
	ck_assert_int_gt(loaded, 1000);
	ck_assert_int_gt(read, 100);
	ck_assert_int_lt(read, loaded);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("plan_json");
	TCase *c = tcase_create("plan_json");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_add_loop_test(c, plans_read_back_as_they_are_written, 0, 5);
	tcase_add_test(c, steps_have_the_members_of_the_contract);
	tcase_add_test(c, a_second_mesh_and_padding_are_told);
	tcase_add_loop_test(c, bad_json_names_the_member, 0, sizeof(bad) / sizeof(*bad));
	tcase_add_test(c, a_short_plan_is_enough);
	tcase_add_test(c, moves_keep_their_order);
	tcase_add_loop_test(c, changed_bytes_do_no_harm, 0, 5);
	suite_add_tcase(suite, c);
	return suite;
}
