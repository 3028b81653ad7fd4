/* Plans of every planner are what their text and their JSON say, boxes and tiles too. */
#include "notation/notation.h"
#include "plan/check.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"
#include "plan_random.h"
#include "planner/planner.h"
#include "tests/tests.h"

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

static const struct problem *problem_of(const struct problem_text *t)
{
	struct problem *p = arena_alloc(memory, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, memory, t, &e) == OK, "%s", e.text);
	return p;
}

/* --- every planner ----------------------------------------------------------------- */

static const char *mesh_text(const struct mesh *m)
{
	struct text t = {0};

	mesh_print(&t, m);
	return text_take(&t, memory);
}

static const char *layout_text(const struct layout *l, const struct mesh *m,
                               const struct shape *g)
{
	struct text t = {0};

	layout_print(&t, l, m, g);
	return text_take(&t, memory);
}

/* A layout of one device, of a list, or of axes, some of these unreduced. */
static const char *some_layout(struct rng *r, const struct mesh *m,
                               const struct shape *g, bool sums)
{
	struct layout l = random_layout(r, m, g->rank), parts;
	int n;

	if (rng_below(r, 12) == 0)
		return arena_printf(memory, "{maximal device=%u}",
		                    rng_below(r, (uint32_t)m->ndevices));
	if (!sums || rng_below(r, 3))
		return layout_text(&l, m, g);
	/* Its first dimension's axes become unreduced ones. */
	parts = layout_replicated(g->rank);
	for (int dim = 0; dim < g->rank; dim++) {
		const struct part *part = layout_parts(&l, dim, &n);

		for (int k = 0; k < n; k++)
			layout_append(&parts, dim ? dim : g->rank, part[k]);
	}
	layout_normalise(&parts);
	return layout_text(&parts, m, g);
}

enum kind { UNEVEN, SUMS, TWO_MESHES, KINDS };

static const struct problem *some_problem(struct rng *r, enum kind kind)
{
	struct mesh m = random_mesh(r, 12), other = random_mesh(r, 12);
	struct shape g = {.rank = 1 + (int)rng_below(r, 3)};
	struct problem_text t = {.mesh = mesh_text(&m)};
	struct text array = {0};

	for (int dim = 0; dim < g.rank; dim++) {
		g.dim[dim] = 1 + (int64_t)rng_below(r, 14);
		if (kind == SUMS)
			g.dim[dim] *= m.ndevices;
		text_printf(&array, "%s%lld", dim ? "," : "bf16[",
		            (long long)g.dim[dim]);
	}
	text_printf(&array, "]");
	t.array = text_take(&array, memory);
	t.from = some_layout(r, &m, &g, kind == SUMS);
	if (kind == TWO_MESHES)
		t.to_mesh = mesh_text(&other);
	else
		other = m;
	t.to = some_layout(r, &other, &g, kind == SUMS);
	return problem_of(&t);
}

static void read_back(const struct plan *plan, bool *boxes, bool *tiles)
{
	struct text s = {0}, again = {0}, why = {0};
	struct error e = {0};
	json_t *json = plan_json(plan), *twice;
	struct plan *read;

	plan_print(&s, plan);
	text_printf(&s, "%s", "");
	ck_assert_msg(plan_parse(&read, plan->problem, memory, s.s,
	                         where_option("plan", s.s), &e) == OK,
	              "%s: %s\n%s", plan->planner, e.text, s.s);
	plan_print(&again, read);
	text_printf(&again, "%s", "");
	ck_assert_str_eq(s.s, again.s);
	check_same_plan(plan, read, s.s);
	ck_assert_msg(plan_parse_json(&read, plan->problem, memory, json, "plan", &e) ==
	                      OK,
	              "%s: %s\n%s", plan->planner, e.text, s.s);
	twice = plan_json(read);
	ck_assert_msg(same_plan_json(json, twice), "%s", s.s);
	check_same_plan(plan, read, s.s);
	ck_assert_msg(plan_check(read, &why), "%s\n%s", why.s, s.s);
	*boxes = strstr(s.s, " boxes ") != NULL;
	*tiles = strstr(s.s, " tile ") || strstr(s.s, " starts ");
	json_decref(json);
	json_decref(twice);
	text_free(&s);
	text_free(&again);
}

START_TEST(every_plan_reads_back)
{
	struct rng *r = rng_new(881 + (uint64_t)_i);
	int plans = 0, with_boxes = 0, with_tiles = 0;

	for (int k = 0; k < 300; k++) {
		const struct problem *p = some_problem(r, (enum kind)_i);

		for (int i = 0; planners[i]; i++) {
			struct text why = {0};
			struct plan *plan;
			bool boxes, tiles;

			if (planner_run(planners[i], &plan, p, &prices_bytes, memory,
			                &why) == ANSWER_PLAN) {
				read_back(plan, &boxes, &tiles);
				plans++;
				with_boxes += boxes;
				with_tiles += tiles;
			}
			text_free(&why);
		}
		arena_reset(memory);
	}
	printf("%d plans read back, %d with boxes, %d with tiles of their own\n", plans,
	       with_boxes, with_tiles);
	ck_assert_int_gt(plans, 300);
	if ((enum kind)_i != SUMS)
		ck_assert_int_gt(with_boxes, 100);
	if ((enum kind)_i == UNEVEN)
		ck_assert_int_gt(with_tiles, 30);
	rng_free(r);
}
END_TEST

/* --- by hand ----------------------------------------------------------------------- */

static const struct {
	struct problem_text problem;
	const char *text;
	int64_t recv_bytes;
	const char *wrong; /* what plan_check says */
} by_hand[] = {
	/* Five rows in tiles of two become tiles of three: rows 2 and 4 travel. */
	{{.array = "s8[5]", .mesh = "x=3,y=2", .from = "P('x')", .to = "P('y')"},
         "exchange boxes => P('y')\n"
         "  [2:3] 2->0, 3->4\n"
         "  [0:2] 0->2\n"
         "  [3:4] 2->1, 2->5\n"
         "  [4:5] 4->1, 5->3\n"
         "  [2:3] 2->2\n",
         0,
         "a transfer to oneself"},
	{{.array = "s8[5]", .mesh = "x=3", .from = "P('x')", .to = "P()"},
         "exchange boxes => P(None)\n"
         "  [0:2] 0->1, 0->2\n"
         "  [2:4] 1->0, 1->2\n"
         "  [4:5] 2->0, 2->1\n",
         4,
         NULL},
	{{.array = "s8[5]", .mesh = "x=3", .from = "P('x')", .to = "P()"},
         "exchange boxes => P(None)\n"
         "  [0:2] 0->1, 0->2\n"
         "  [2:4] 1->0, 1->2\n"
         "  [4:5] 2->0\n",
         4,
         "the boxes do not add up"},
	/* The middle of the tiles goes round, then all is put together. */
	{{.array = "s8[6,4]", .mesh = "x=2", .from = "P('x')", .to = "P()"},
         "permute boxes => P('x', None)\n"
         "  [0:3,0:4] 0->1\n"
         "  [3:6,0:2] 1->0\n"
         "  [3:6,2:4] 1->0\n"
         "pad => P(None, None)\n",
         12,
         NULL},
	{{.array = "s8[6,4]", .mesh = "x=2", .from = "P('x')", .to = "P()"},
         "permute pairs {{0,1},{1,0}} part 12 boxes => P('x', None)\n"
         "  [0:3,0:4] 0->1\n"
         "  [3:6,0:3] 1->0\n"
         "pad => P(None, None)\n",
         12,
         "a part of the tile is not there"},
	/* From one device to all: what the others add is zero, 2 M (1 - 1/q) bytes. */
	{{.array = "s8[6]", .mesh = "x=3", .from = "{maximal device=1}", .to = "P()"},
         "all-reduce sums [6] groups {{0,1,2}} => P(None)\n",
         8,
         NULL},
	{{.array = "s8[6]", .mesh = "x=3", .from = "P('x')", .to = "P()"},
         "all-reduce {x}: 0-> sums [6] => P(None)\n",
         8,
         NULL},
	{{.array = "s8[6]",
          .mesh = "x=3",
          .to_mesh = "a=2",
          .from = "P('x')",
          .to = "P('a')"},
         "exchange on target mesh boxes => P('a')\n"
         "  [2:3] 1->0\n"
         "  [3:4] 1->1\n"
         "  [4:6] 2->1\n",
         0,
         "a transfer to oneself"},
	{{.array = "s8[6]",
          .mesh = "x=3",
          .to_mesh = "a=2",
          .from = "P('x')",
          .to = "P('a')"},
         "exchange on target mesh boxes => P('a')\n"
         "  [2:3] 1->0\n"
         "  [4:6] 2->1\n",
         2,
         NULL},
	/* Cut finer than wanted, over four devices, then gathered by their groups. */
	{{.array = "s8[12]",
          .mesh = "x=3",
          .to_mesh = "a=2,b=2",
          .from = "P('x')",
          .to = "P('a')"},
         "exchange on target mesh boxes => P(('a', 'b'))\n"
         "  [3:4] 0->1\n"
         "  [6:8] 1->2\n"
         "  [9:12] 2->3\n"
         "all-gather on target mesh groups {{0,1},{2,3}} => P('a')\n",
         6,
         NULL},
	/* Tiles of two where three would do, from rows 0, 2 and 3. */
	{{.array = "s8[5]", .mesh = "x=3", .from = "P('x')", .to = "P('x')"},
         "pad tile [1] starts {{0},{2},{4}} => P('x')\n"
         "exchange boxes => P('x')\n"
         "  [1:2] 1->0\n"
         "  [3:4] 0->1\n",
         1,
         "a device sends what it does not have"},
};

START_TEST(boxes_are_read_by_hand)
{
	const struct problem *p = problem_of(&by_hand[_i].problem);
	const char *text = by_hand[_i].text;
	struct text why = {0}, again = {0};
	struct error e = {0};
	struct plan *plan;
	bool right;

	ck_assert_msg(plan_parse(&plan, p, memory, text, where_option("plan", text),
	                         &e) == OK,
	              "%u:%u: %s", e.at.line, e.at.col, e.text);
	right = plan_check(plan, &why);
	if (by_hand[_i].wrong)
		ck_assert_msg(!right && strstr(why.s, by_hand[_i].wrong), "%s", why.s);
	else
		ck_assert_msg(right, "%s", why.s);
	if (right)
		ck_assert_int_eq(plan->recv_bytes, by_hand[_i].recv_bytes);
	plan_print(&again, plan);
	ck_assert_str_eq(again.s, text);
	text_free(&why);
	text_free(&again);
}
END_TEST

#define TO_AB "exchange on target mesh boxes => P(('a','b'))\n"

/* From x=3, P('x') to a=2,b=2, P('a'). */
static const struct {
	const char *text, *says;
} bad_meshes[] = {
	{"exchange on target mesh => P('a')", "to the target mesh it needs its boxes"},
	{"all-gather on target mesh groups {{0,1},{2,3}} => P('a')", "to another mesh"},
	{TO_AB "exchange boxes => P('x')", "on the target mesh already"},
	{TO_AB "exchange on target mesh boxes => P('a')", "to another mesh"},
	{TO_AB "slice on target mesh => P(('a','b'))", "has groups and real tiles"},
	{TO_AB "all-gather on target mesh groups {{0,1}} => P('a')",
         "groups do not fit"},
	{TO_AB "all-gather on target mesh groups {{0,1},{2,4}} => P('a')",
         "a device 4"},
	{TO_AB "permute on target mesh pairs {{0,1}} => P(('a','b'))", "real tiles"},
};

START_TEST(bad_steps_on_the_target_mesh)
{
	const struct problem *p =
		problem_of(&(struct problem_text){.array = "s8[12]",
	                                          .mesh = "x=3",
	                                          .to_mesh = "a=2,b=2",
	                                          .from = "P('x')",
	                                          .to = "P('a')"});
	const char *text = bad_meshes[_i].text;
	struct error e = {0};
	struct plan *plan;

	ck_assert_int_ne(
		plan_parse(&plan, p, memory, text, where_option("plan", text), &e), OK);
	ck_assert_msg(strstr(e.text, bad_meshes[_i].says), "%s: %s", text, e.text);
}
END_TEST

/* Members that no writer makes, in steps of s8[6], x=3, P('x') -> P(), ' for ". */
static const struct {
	const char *step, *says;
} bad[] = {
	{"'boxes': 3", "steps[0].boxes: expected an array"},
	{"'boxes': [{'bounds': [], 'pairs': []}]", "bounds for each dimension"},
	{"'boxes': [{'bounds': [[0,7]], 'pairs': []}]", "bounds inside the array"},
	{"'boxes': [{'bounds': [[0]], 'pairs': []}]", "bounds inside the array"},
	{"'boxes': [{'bounds': [[0,1]], 'pairs': [[0,3]]}]", "pairs of devices"},
	{"'boxes': [{'bounds': [[0,1]], 'pairs': [7]}]", "pairs of devices"},
	{"'boxes': [{'bounds': [[1,1]], 'pairs': [[0,1]]}]", "a box is empty"},
	{"'boxes': [], 'part_elements': 0", "part_elements: expected a number"},
	{"'boxes': [], 'part_elements': 5", "only a permute of boxes"},
	{"'boxes': [], 'tile_shape': [1,1]", "tile_shape: expected a number for each"},
	{"'boxes': [], 'tile_shape': [-1]", "tile_shape: expected a number for each"},
	{"'boxes': [], 'tile_starts': [[0],[0]]", "one for each device"},
	{"'boxes': [], 'tile_starts': [[0],[0],['x']]", "a number for each dimension"},
	{"'boxes': [], 'on_target_mesh': true", "to another mesh"},
	{"'boxes': [], 'unpadded': true", "of a padded array"},
	{"'summed_shape': [6]", "this op has no sums"},
};

START_TEST(bad_members_are_named)
{
	const struct problem *p = problem_of(&(struct problem_text){
		.array = "s8[6]", .mesh = "x=3", .from = "P('x')", .to = "P()"});
	char *text = arena_printf(
		memory, "[{'op': 'exchange', %s, 'layout': 'P(None)'}]", bad[_i].step);
	struct error e = {0};
	json_t *json;
	struct plan *plan;

	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(json);
	ck_assert_int_eq(plan_parse_json(&plan, p, memory, json, "plan", &e), E_TYPE);
	ck_assert_msg(strstr(e.text, bad[_i].says), "%s", e.text);
	json_decref(json);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("plan_read");
	TCase *c = tcase_create("plan_read");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, every_plan_reads_back, 0, KINDS);
	tcase_add_loop_test(c, boxes_are_read_by_hand, 0,
	                    sizeof(by_hand) / sizeof(*by_hand));
	tcase_add_loop_test(c, bad_steps_on_the_target_mesh, 0,
	                    sizeof(bad_meshes) / sizeof(*bad_meshes));
	tcase_add_loop_test(c, bad_members_are_named, 0, sizeof(bad) / sizeof(*bad));
	suite_add_tcase(suite, c);
	return suite;
}
