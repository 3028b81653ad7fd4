/*
 * The planner shardy against the cases of Shardy's own tests (check_shardy.txt), cases
 * worked by hand, and what it refuses.
 */
#include "planner_case.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "planner/shardy/shardy.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 7, MESHES = 32 };

struct table {
	int nmeshes, ncases;
	char *mesh[MESHES][2];
};

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static char *trimmed(char *s)
{
	char *end = s + strlen(s);

	while (end > s && strchr(" \n", end[-1]))
		*--end = 0;
	return s + strspn(s, " ");
}

static int split(char *field[FIELDS], char *line)
{
	int n = 0;

	for (char *s = line; s && n < FIELDS; n++) {
		char *bar = strstr(s, " | ");

		if (bar)
			*bar = 0;
		field[n] = trimmed(s);
		s = bar ? bar + 3 : NULL;
	}
	return n;
}

/* "{x,y:(2)2} {}" as Shardy writes it: "[{"x", "y":(2)2}, {}]". */
static const char *shardy_text(const char *layout)
{
	struct text t = {0};
	bool name = false;

	text_printf(&t, "[");
	for (const char *s = layout; *s; s++) {
		bool letter = *s >= 'a' && *s <= 'z';

		if (letter != name)
			text_printf(&t, "\"");
		name = letter;
		text_printf(&t, *s == ' ' ? ", " : "%c", *s);
	}
	text_printf(&t, "]");
	return text_take(&t, arena);
}

static const char *mesh_named(const struct table *t, const char *name)
{
	for (int i = 0; i < t->nmeshes; i++)
		if (strcmp(t->mesh[i][0], name) == 0)
			return t->mesh[i][1];
	ck_abort_msg("no mesh named %s", name);
}

/* A problem of the table's texts; "a/b": from a layout on mesh a to one on mesh b. */
static struct problem *problem_of(const struct table *t, char *meshes,
                                  const char *shape, const char *from, const char *to)
{
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	char *slash = strchr(meshes, '/');
	struct problem_text text = {0};
	struct error e = {0};

	if (slash) {
		*slash = 0;
		text.to_mesh = mesh_named(t, slash + 1);
	}
	text.mesh = mesh_named(t, meshes);
	text.array = arena_printf(arena, "f32[%s]", shape);
	text.from = shardy_text(from);
	text.to = shardy_text(to);
	ck_assert_msg(problem_make(p, arena, &text, &e) == OK, "%s", e.text);
	return p;
}

/* --- Steps as the table writes them --- */

static void print_parts(struct text *t, const struct mesh *m, const struct part *part,
                        int n)
{
	for (int k = 0; k < n; k++) {
		text_printf(t, "%s", k ? "," : "");
		part_print(t, m, part[k]);
	}
}

static void print_layout(struct text *t, const struct mesh *m, const struct layout *l)
{
	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		text_printf(t, "%s{", dim ? " " : "");
		print_parts(t, m, part, n);
		text_printf(t, "}");
	}
}

static void print_moves(struct text *t, const struct mesh *m, enum op op,
                        const struct move *move, int nmoves, int rank)
{
	static const char letter[OPS] = {'S', 'G', 'A', 'P', '?', '?'};
	int next = 0;

	text_printf(t, "%c ", letter[op]);
	if (op == OP_ALL_TO_ALL) {
		ck_assert_int_eq(nmoves, 1);
		print_parts(t, m, move[0].parts, move[0].nparts);
		text_printf(t, " %d %d ", move[0].from_dim, move[0].to_dim);
	}
	for (int dim = 0; dim < rank && (op == OP_SLICE || op == OP_ALL_GATHER); dim++) {
		const struct move *here = next < nmoves ? &move[next] : NULL;

		if (here && (op == OP_SLICE ? here->to_dim : here->from_dim) != dim)
			here = NULL;
		text_printf(t, "{");
		if (here)
			print_parts(t, m, here->parts, here->nparts);
		text_printf(t, "} ");
		next += here != NULL;
	}
	if (op != OP_ALL_TO_ALL)
		ck_assert_int_eq(next, nmoves);
}

static const char *program_text(const struct problem *p)
{
	bool replicated = true;
	struct shardy_program program;
	struct text t = {0};

	for (int dim = 0; dim < p->to.rank; dim++)
		replicated = replicated && p->to.nparts[dim] == 0;
	program = shardy_reshard(&p->array.shape, &p->from, &p->to,
	                         p->two_meshes && !replicated, arena);
	ck_assert_int_eq(program.end, SHARDY_DONE);
	for (int k = 0; k < program.nops; k++) {
		const struct shardy_op *o = &program.op[k];

		text_printf(&t, "%s", k ? "; " : "");
		print_moves(&t, &p->mesh, o->op, o->move, o->nmoves, p->from.rank);
		text_printf(&t, "> ");
		print_layout(&t, &p->mesh, &o->after);
	}
	return program.nops ? text_take(&t, arena) : "nothing";
}

static bool pads(const struct plan *plan)
{
	for (int k = 0; k < plan->nsteps; k++)
		if (plan->step[k].op == OP_PAD)
			return true;
	return false;
}

/* Without the pads. */
static const char *plan_text(const struct plan *plan)
{
	const struct mesh *m = &plan->problem->mesh;
	struct text t = {0};

	for (int k = 0; k < plan->nsteps; k++) {
		const struct step *s = &plan->step[k];

		if (s->op == OP_PAD)
			continue;
		text_printf(&t, "%s", t.length ? "; " : "");
		print_moves(&t, m, s->op, s->move, s->nmoves, plan->problem->from.rank);
		text_printf(&t, "> ");
		print_layout(&t, m, &s->after);
	}
	return plan->nsteps ? text_take(&t, arena) : "nothing";
}

/* --- The table --- */

static struct plan *checked(const struct problem *p, const char **reason)
{
	struct plan *plan = NULL;
	struct text why = {0};
	enum answer answer =
		planner_run(&planner_shardy, &plan, p, &prices_bytes, arena, &why);

	if (answer == ANSWER_PLAN) {
		ck_assert_msg(plan_check(plan, &why), "%s: %s", case_describe(arena, p),
		              why.s);
		if (!pads(plan))
			ck_assert_int_le(plan->peak_array_bytes, p->memory_bound_bytes);
	} else {
		ck_assert_int_eq(answer, ANSWER_NOT_APPLICABLE);
		ck_assert_ptr_null(plan);
	}
	*reason = text_take(&why, arena);
	return plan;
}

static void check_case(const struct table *t, char *field[FIELDS], int n)
{
	struct problem *p = problem_of(t, field[1], field[2], field[3], field[4]);
	const char *reason;
	struct plan *plan = checked(p, &reason);

	if (strcmp(field[5], "refused") != 0)
		ck_assert_msg(strcmp(program_text(p), field[5]) == 0,
		              "%s: expected\n%s, got\n%s", field[0], field[5],
		              program_text(p));
	if (n == FIELDS) {
		ck_assert_msg(!plan && strstr(reason, field[6]), "%s: %s", field[0],
		              reason);
		return;
	}
	ck_assert_msg(plan != NULL, "%s: %s", field[0], reason);
	if (!p->two_meshes)
		ck_assert_str_eq(plan_text(plan), field[5]);
}

START_TEST(test_table)
{
	FILE *f = fopen("models/tests/check_shardy.txt", "r");
	struct table t = {0};
	char line[2000];

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		char *field[FIELDS];
		int n;

		if (line[0] == '#' || line[0] == '\n')
			continue;
		n = split(field, line);
		if (strcmp(field[0], "mesh") == 0) {
			ck_assert(n == 3 && t.nmeshes < MESHES);
			for (int i = 0; i < 2; i++)
				t.mesh[t.nmeshes][i] = arena_strdup(arena, field[1 + i]);
			t.nmeshes++;
			continue;
		}
		ck_assert_int_ge(n, FIELDS - 1);
		check_case(&t, field, n);
		t.ncases++;
	}
	fclose(f);
	ck_assert_int_eq(t.ncases, 93);
}
END_TEST

/* --- Pairs: Shardy's own lowering tests --- */

static const struct {
	const char *mesh, *to_mesh, *array, *from, *to;
	int32_t to_of[16]; /* the device that gets the tile of device i */
} pairs[] = {
	{"x=2,y=4",
         NULL,
         "f32[4,8]",
         "[{\"x\"}, {\"y\":(2)2}]",
         "[{\"y\":(2)2}, {\"x\"}]",
         {0, 4, 2, 6, 1, 5, 3, 7}},
	{"x=2,y=4",
         NULL,
         "f32[4,8]",
         "[{}, {\"x\", \"y\"}]",
         "[{}, {\"y\", \"x\"}]",
         {0, 4, 1, 5, 2, 6, 3, 7}},
	{"x=2,y=4,z=2",
         NULL,
         "f32[8,4]",
         "[{\"x\", \"z\"}, {\"y\"}]",
         "[{\"y\":(2)2, \"x\"}, {\"z\", \"y\":(1)2}]",
         {0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15}},
	{"x=4",
         "<[\"x\"=4], device_ids=[1, 2, 3, 0]>",
         "s32[4]",
         "[{\"x\"}]",
         "[{\"x\"}]",
         {1, 2, 3, 0}},
	{"<[\"x\"=4], device_ids=[1, 2, 3, 0]>",
         "x=4",
         "s32[4]",
         "[{\"x\"}]",
         "[{\"x\"}]",
         {3, 0, 1, 2}},
};

START_TEST(test_pairs)
{
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct problem_text text = {.mesh = pairs[_i].mesh,
	                            .to_mesh = pairs[_i].to_mesh,
	                            .array = pairs[_i].array,
	                            .from = pairs[_i].from,
	                            .to = pairs[_i].to};
	struct error e = {0};
	const struct step *s;
	const char *reason;

	ck_assert_msg(problem_make(p, arena, &text, &e) == OK, "%s", e.text);
	s = checked(p, &reason)->step;
	ck_assert_int_eq(s->op, OP_PERMUTE);
	ck_assert_int_eq(s->npairs, p->mesh.ndevices);
	for (int32_t i = 0; i < s->npairs; i++) {
		ck_assert_int_eq(s->pairs[i].src, i);
		ck_assert_int_eq(s->pairs[i].dst, pairs[_i].to_of[i]);
	}
}
END_TEST

/* --- Groups and layouts in another order of devices, by hand --- */

START_TEST(test_other_order)
{
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct problem_text text = {
		.mesh = "x=2,y=2",
		.to_mesh = "<[\"x\"=2, \"y\"=2], device_ids=[3, 2, 1, 0]>",
		.array = "f32[16,8]",
		.from = "P('x', 'y')",
		.to = "P('x', None)",
	};
	static const struct pair reversed[] = {{0, 3}, {1, 2}, {2, 1}, {3, 0}};
	static const int32_t groups[] = {3, 2, 1, 0};
	struct error e = {0};
	struct plan *plan;
	const char *reason;

	ck_assert_msg(problem_make(p, arena, &text, &e) == OK, "%s", e.text);
	plan = checked(p, &reason);
	ck_assert_int_eq(plan->nsteps, 2);
	ck_assert_int_eq(plan->step[0].op, OP_PERMUTE);
	ck_assert_mem_eq(plan->step[0].pairs, reversed, sizeof(reversed));
	ck_assert_int_eq(plan->step[1].op, OP_ALL_GATHER);
	ck_assert_int_eq(plan->step[1].groups.size, 2);
	ck_assert_mem_eq(plan->step[1].groups.ids, groups, sizeof(groups));
	/* A tile of 32 elements travels, then the other half of 64 arrives. */
	ck_assert_int_eq(plan->recv_bytes, 4 * (32 + 32));
}
END_TEST

/* --- Examples, by hand --- */

/* Ops as in `letter`; elements that the busiest device receives, with padding. */
static const struct {
	const char *mesh, *array, *from, *to, *ops;
	int64_t received;
} examples[] = {
	/* Tiles of 16: a permute of all, and an all-to-all of half. */
	{"x=4,y=2", "f32[16,8]", "P('x', 'y')", "P('y', 'x')", "P A", 24},
	{"x=4,y=4", "f32[16,8]", "P('x', 'y')", "P('y', 'x')", "P", 8},
	/* 4: tiles of 16; permute 16, all-to-all 8, all-gather 16. */
	{"x=2,y=2", "f32[8,8]", "P(('y', 'x'), None)", "P(None, 'y')", "P A G", 40},
	{"x=4,y=4", "f32[32]", "P(('x', 'y'))", "P(('y', 'x'))", "P", 2},
	{"x=2,y=2", "f32[8,8]", "P('x', None)", "P('x', 'y')", "S", 0},
	{"x=4,y=2", "f32[8,8]", "P('x', 'y')", "P(None, None)", "G", 56},
	/* reshard_to_collectives, out_unreduced_axes_preserved: 32 + 16 + 32. */
	{"x=2,y=2,z=2", "f32[16,8]", "P(('y', 'z'), unreduced={'x'})",
         "P(None, 'y', unreduced={'x'})", "P A G", 80},
	/* export_pipeline_explicit_collectives, all_to_all_fusion: 3 of 4 parts of tiles of
         * 32 x 8 x 8 x 8. */
	{"x=2,y=2,z=2", "f32[64,16,8,8]", "P('x', 'y')", "P(None, None, 'x', 'y')", "A",
         3 * 4096},
	/* Dimensions that do not divide. */
	/* 13 rows in tiles of 4: 3 of them of 12 elements arrive, then 16 rows become 13. */
	{"x=4", "f32[13,3]", "P('x')", "P()", "G D", 36},
	{"x=4", "f32[13,3]", "P()", "P('x')", "D S", 0},
	/* Tiles 2 x 5, padded to 2 x 8: 3 of 4 parts of 2 x 2 arrive; 8 rows become 5. */
	{"x=4", "f32[5,5]", "P('x', None)", "P(None, 'x')", "D A D", 12},
	{"x=2", "f32[3,8]", "P('x', None)", "P(None, 'x')", "A D", 8},
	/* The permute takes tiles of 2 x 6 as they are. */
	{"x=2,y=2", "f32[5,6]", "P(('x', 'y'))", "P(('y', 'x'))", "P", 12},
	/* 13 rows would be 2 of 7, then 4 of 4: padded to 16 from the first slice on. */
	{"x=2,y=2", "f32[13,6]", "P(None, unreduced={'x'})", "P(('x', 'y'))", "D R S",
         48},
	/* y comes before x: no reduce-scatter; 2 * 60 / 2 elements. */
	{"x=2,y=2", "f32[10,6]", "P(None, unreduced={'x'})", "P(('y', 'x'))", "+ D S",
         60},
	/* cannot_slice_on_src_dim_axes_out_of_order: 4 x 10 as 8 x 12. Tiles of 4 x 3
         * travel, then 3 of 4 parts of them. */
	{"x=2,y=2,z=2", "f32[4,10]", "P(None, ('x', 'z'))", "P(('x', 'y', 'z'))",
         "D S P A D", 21},
};

START_TEST(test_example)
{
	static const char letter[OPS] = {
		[OP_SLICE] = 'S',   [OP_ALL_GATHER] = 'G',     [OP_ALL_TO_ALL] = 'A',
		[OP_PERMUTE] = 'P', [OP_REDUCE_SCATTER] = 'R', [OP_ALL_REDUCE] = '+',
		[OP_PAD] = 'D'};
	struct problem *p = case_of_texts(arena, examples[_i].mesh, examples[_i].array,
	                                  examples[_i].from, examples[_i].to);
	struct text ops = {0};
	const char *reason;
	struct plan *plan = checked(p, &reason);

	ck_assert_msg(plan != NULL, "%s", reason);
	for (int k = 0; k < plan->nsteps; k++)
		text_printf(&ops, "%s%c", k ? " " : "", letter[plan->step[k].op]);
	ck_assert_str_eq(text_take(&ops, arena), examples[_i].ops);
	ck_assert_int_eq(plan->recv_bytes, 4 * examples[_i].received);
}
END_TEST

/* --- Refusals --- */

static const struct {
	const char *mesh, *array, *from, *to, *why;
} refusals[] = {
	{"a=2,b=4,c=5", "f32[40,40,40]", "P(None, ('a', 'c'), 'b')",
         "P(None, 'b', 'a')", "a permute that would change the shape of the tiles"},
	{"x=2,y=2", "f32[8,8]", "P('x', 'y')", "P(None, None, unreduced={'y'})",
         "turn sharded axes into unreduced ones and reshard besides"},
	{"x=2,y=8", "f32[16,8]", "[{\"y\"}, {\"x\"}]",
         "[{\"y\":(1)4}, {}], unreduced={\"y\":(4)2}",
         "turn sharded axes into unreduced ones and reshard besides"},
	{"x=2,y=2", "f32[8,8]", "{maximal device=1}", "P('y', None)",
         "the whole array lies on one device"},
	{"x=2,y=2", "f32[8,8]", "{devices=[4,1]0,1,3,2}", "P('y', None)",
         "a device list that no mesh axes can say"},
	{"x=6", "f32[6,6]", "[{\"x\":(1)2}, {}]", "[{}, {\"x\":(1)3}]",
         "sub-axes that cannot co-exist"},
	{"x=2,y=3", "f32[6,2]", "P('x', 'y')", "P('y', 'x')",
         "dimension 1 of 2 elements in 3 tiles of 1 would have to be cut anew into "
         "tiles of 2, across devices; Shardy's resharder emits all-to-all {x} 0->1, "
         "permute, all-to-all {y} 1->0, and its pads come later"},
	{"x=2,y=4", "f32[4,4]", "P('x', 'y')", "P(('x', 'y'))",
         "Shardy's resharder emits all-to-all {y} 1->0, and its pads come later"},
	{"x=4,y=6", "f32[12,12]", "P('x', 'y')", "P('y', 'x')",
         "dimension 1 of 12 elements in 6 tiles of 2 would have to be cut anew into"},
	{"x=2,y=2", "f32[5,6]", "P(('x', 'y'))", "P('y', 'x')", "across devices"},
};

START_TEST(test_refusal)
{
	struct problem *p = case_of_texts(arena, refusals[_i].mesh, refusals[_i].array,
	                                  refusals[_i].from, refusals[_i].to);
	const char *reason;

	ck_assert_ptr_null(checked(p, &reason));
	ck_assert_msg(strstr(reason, refusals[_i].why), "%s", reason);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("shardy");
	TCase *tc = tcase_create("shardy");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_table);
	tcase_add_loop_test(tc, test_pairs, 0, COUNT(pairs));
	tcase_add_test(tc, test_other_order);
	tcase_add_loop_test(tc, test_example, 0, COUNT(examples));
	tcase_add_loop_test(tc, test_refusal, 0, COUNT(refusals));
	suite_add_tcase(suite, tc);
	return suite;
}
