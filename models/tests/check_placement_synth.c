#include "placement/program.h"
#include "placement_plain.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

/* Groups, rules and the search: against tables, pictures and plain enumeration. */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;
static struct error error;
static const struct where at = {.file = "--program", .line = 1, .col = 1};

static void setup(void)
{
	arena = arena_new();
	error = (struct error){0};
}

static void teardown(void)
{
	arena_free(arena);
}

/* A tree of these sizes ended by 0, with a root, levels named a, b, c, ... */
static struct hierarchy tree_of(const int32_t *sizes)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
	struct hierarchy tree = {0};

	hierarchy_add(&tree, "root", 1);
	for (int j = 0; sizes[j]; j++)
		hierarchy_add(&tree, names[j], sizes[j]);
	return tree;
}

/*
 * Table 2 of the paper on [(rack,1),(server,2),(CPU,2),(GPU,4)]: A0..A3 are devices
 * 0..3, B0.. 4.., C0.. 8.., D0.. 12..
 */
static const struct {
	struct slice slice;
	int32_t ngroups, size;
	int32_t ids[16];
} slice_table[] = {
	{{2, 2, FORM_INSIDE},
         4,
         4,
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
	{{2, 1, FORM_PARALLEL},
         8,
         2,
         {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15}},
	{{2, 0, FORM_PARALLEL},
         4,
         4,
         {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}},
	{{2, 0, FORM_MASTER}, 1, 4, {0, 4, 8, 12}},
	{{2, 1, FORM_MASTER}, 2, 2, {0, 4, 8, 12}},
	{{1, 1, FORM_INSIDE},
         2,
         8,
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
	{{1, 0, FORM_PARALLEL},
         8,
         2,
         {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15}},
	{{1, 0, FORM_MASTER}, 1, 2, {0, 8}},
	{{0, 0, FORM_INSIDE},
         1,
         16,
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
};

START_TEST(groups_of_table_2)
{
	struct hierarchy tree = tree_of((int32_t[]){2, 2, 4, 0});
	struct groups g = slice_groups(&tree, slice_table[_i].slice, arena);

	ck_assert_int_eq(g.ngroups, slice_table[_i].ngroups);
	ck_assert_int_eq(g.size, slice_table[_i].size);
	ck_assert_int_eq(slice_size(&tree, slice_table[_i].slice), g.size);
	for (int32_t i = 0; i < g.ngroups * g.size; i++)
		ck_assert_int_eq(g.ids[i], slice_table[_i].ids[i]);
}
END_TEST

static const int32_t trees[][7] = {
	{2, 0},          {7, 0},
	{2, 2, 0},       {3, 2, 0},
	{2, 3, 0},       {3, 5, 0},
	{4, 16, 0},      {16, 4, 0},
	{2, 2, 2, 0},    {3, 2, 5, 0},
	{2, 7, 2, 0},    {2, 2, 2, 2, 0},
	{3, 2, 3, 2, 0}, {2, 2, 2, 2, 2, 0},
};

START_TEST(slices_are_runs_of_levels)
{
	struct hierarchy tree = tree_of(trees[_i]);
	int levels = tree.nlevels - 1, n, masters = 0;
	struct slice *slice;

	n = slices_of(&slice, arena, &tree);
	for (int i = 0; i < n; i++) {
		ck_assert_int_ge(slice_size(&tree, slice[i]), 2);
		masters += slice[i].form == FORM_MASTER;
	}
	ck_assert_int_eq(masters, levels * (levels - 1) / 2);
	ck_assert_int_eq(n - masters, levels * (levels + 1) / 2);
}
END_TEST

/*
 * Rules, on four devices: rows of a state as one word of 16 bits per device, 4 per
 * chunk, chunk 0 leftmost, and in it device 0 rightmost. Groups are {0,1},{2,3} or
 * {0,2},{1,3}.
 */
enum { NEAR, FAR, ALL };
static const int32_t members[][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 2, 3}};
static const struct {
	int groups;
	enum op op;
	uint16_t before[4], after[4]; /* after[0] 0: breaks the rule */
} rule_table[] = {
	{NEAR,
         OP_ALL_REDUCE,
         {0x1111, 0x2222, 0x4444, 0x8888},
         {0x3333, 0x3333, 0xcccc, 0xcccc}},
	{NEAR,
         OP_REDUCE_SCATTER,
         {0x1111, 0x2222, 0x4444, 0x8888},
         {0x3300, 0x0033, 0xcc00, 0x00cc}},
	{ALL,
         OP_REDUCE_SCATTER,
         {0x1111, 0x2222, 0x4444, 0x8888},
         {0xf000, 0x0f00, 0x00f0, 0x000f}},
	{NEAR, OP_REDUCE, {0x1111, 0x2222, 0x4444, 0x8888}, {0x3333, 0, 0xcccc, 0}},
	{FAR,
         OP_ALL_REDUCE,
         {0x3300, 0x0033, 0xcc00, 0x00cc},
         {0xff00, 0x00ff, 0xff00, 0x00ff}},
	{FAR,
         OP_REDUCE_SCATTER,
         {0x3300, 0x0033, 0xcc00, 0x00cc},
         {0xf000, 0x00f0, 0x0f00, 0x000f}},
	{NEAR,
         OP_ALL_GATHER,
         {0xf000, 0x00f0, 0x0f00, 0x000f},
         {0xf0f0, 0xf0f0, 0x0f0f, 0x0f0f}},
	{ALL,
         OP_ALL_GATHER,
         {0xf000, 0x00f0, 0x0f00, 0x000f},
         {0xffff, 0xffff, 0xffff, 0xffff}},
	{NEAR, OP_BROADCAST, {0x3333, 0, 0xcccc, 0}, {0x3333, 0x3333, 0xcccc, 0xcccc}},
	{NEAR,
         OP_BROADCAST,
         {0xffff, 0x3333, 0xffff, 0xcccc},
         {0xffff, 0xffff, 0xffff, 0xffff}},
	/* Figure 4: different chunks are summed; the same contribution twice. */
	{NEAR, OP_ALL_REDUCE, {0x3300, 0x0033, 0xcc00, 0x00cc}, {0}},
	{FAR, OP_ALL_REDUCE, {0x3333, 0x2222, 0x3333, 0x8888}, {0}},
	{FAR, OP_REDUCE, {0x5555, 0xaaaa, 0x4444, 0x8888}, {0}},
	/* Nothing there: one group without data spoils the instruction. */
	{FAR, OP_ALL_REDUCE, {0x3333, 0, 0xcccc, 0}, {0}},
	{FAR, OP_REDUCE_SCATTER, {0x3333, 0, 0xcccc, 0}, {0}},
	{FAR, OP_ALL_GATHER, {0xff00, 0, 0x00ff, 0}, {0}},
	{NEAR, OP_ALL_REDUCE, {0x3333, 0, 0xcccc, 0}, {0}},
	/* One chunk for two; unequal shares; the same chunk twice. */
	{NEAR, OP_REDUCE_SCATTER, {0x1000, 0x2000, 0x4000, 0x8000}, {0}},
	{NEAR, OP_ALL_GATHER, {0xff00, 0x00f0, 0xff00, 0x000f}, {0}},
	{NEAR, OP_ALL_GATHER, {0xff00, 0x0ff0, 0xff00, 0x00ff}, {0}},
	/* No news; more than the root has; a root with nothing. */
	{NEAR, OP_BROADCAST, {0x3333, 0x3333, 0xcccc, 0xcccc}, {0}},
	{NEAR, OP_BROADCAST, {0x3333, 0x3333, 0xcccc, 0}, {0}},
	{NEAR, OP_BROADCAST, {0x3333, 0x4000, 0xcccc, 0}, {0}},
	{NEAR, OP_BROADCAST, {0, 0x3333, 0xcccc, 0}, {0}},
	{NEAR, OP_BROADCAST, {0, 0, 0xcccc, 0}, {0}},
};

START_TEST(rules)
{
	bool all = rule_table[_i].groups == ALL;
	struct groups g = {all ? 1 : 2, all ? 4 : 2, members[rule_table[_i].groups]};
	uint64_t row[16];
	bool legal;

	for (int d = 0; d < 4; d++)
		for (int r = 0; r < 4; r++)
			row[4 * d + r] = rule_table[_i].before[d] >> (12 - 4 * r) & 0xf;
	legal = sums_step(row, 4, rule_table[_i].op, &g);
	ck_assert_int_eq(legal, rule_table[_i].after[0] != 0);
	for (int d = 0; d < 4 && legal; d++)
		for (int r = 0; r < 4; r++)
			ck_assert_uint_eq(row[4 * d + r],
			                  rule_table[_i].after[d] >> (12 - 4 * r) & 0xf);
}
END_TEST

START_TEST(rules_of_one_and_of_three)
{
	const int32_t one[] = {0, 1, 2}, two[] = {0, 1};
	uint64_t row[9];

	sums_start(row, 3);
	ck_assert(!sums_step(row, 3, OP_ALL_REDUCE, &(struct groups){3, 1, one}));
	/* Three chunks for two devices. */
	ck_assert(!sums_step(row, 3, OP_REDUCE_SCATTER, &(struct groups){1, 2, two}));
	ck_assert(!sums_are_goal(row, 3, (int32_t[]){0, 0, 1}));
	ck_assert(sums_are_goal(row, 3, (int32_t[]){5, 7, 6}));
	ck_assert(sums_step(row, 3, OP_ALL_REDUCE, &(struct groups){1, 2, two}));
	ck_assert(sums_are_goal(row, 3, (int32_t[]){0, 0, 1}));
	ck_assert(!sums_are_goal(row, 3, (int32_t[]){0, 0, 0}));
}
END_TEST

static int64_t programs_of(const int32_t *sizes, int limit)
{
	struct hierarchy tree = tree_of(sizes);
	struct synthesis s;

	ck_assert_int_eq(synth_run(&s, arena, &tree, NULL, limit, at, &error), OK);
	return s.programs;
}

/* Figures of the paper and its appendix A, whatever the sizes of the levels. */
static const struct {
	int32_t sizes[6];
	int limit;
	int64_t programs;
} count_table[] = {
	{{2}, 5, 3},         {{3}, 5, 3},         {{16}, 5, 3},
	{{37}, 5, 3},        {{2, 2}, 5, 47},     {{2, 3}, 5, 47},
	{{3, 2}, 5, 47},     {{5, 7}, 5, 47},     {{4, 16}, 5, 47},
	{{16, 4}, 5, 47},    {{2, 31}, 5, 47},    {{2, 2}, 8, 47},
	{{2, 2, 2}, 3, 57},  {{2, 2, 2}, 4, 262}, {{2, 2, 2}, 5, 825},
	{{2, 2, 4}, 3, 57},  {{2, 2, 4}, 4, 262}, {{2, 2, 4}, 5, 825},
	{{3, 5, 2}, 5, 825}, {{3, 3, 3}, 5, 825}, {{0}, 5, 1},
	{{2}, 1, 1},         {{2}, 2, 3},
};

START_TEST(counts_of_programs)
{
	ck_assert_int_eq(programs_of(count_table[_i].sizes, count_table[_i].limit),
	                 count_table[_i].programs);
}
END_TEST

/* Against enumeration without any of our rules, groups or memory. */
static const struct {
	int32_t sizes[5];
	int limit;
	bool all_masters;
	int64_t published; /* 0: none */
} plain_table[] = {
	{{2}, 5, false, 3},         {{5}, 5, false, 3},
	{{2, 2}, 5, false, 47},     {{2, 2}, 5, true, 93},
	{{3, 2}, 5, false, 47},     {{2, 3}, 5, false, 47},
	{{3, 4}, 4, false, 0},      {{2, 2, 2}, 3, false, 57},
	{{2, 2, 2}, 4, false, 262}, {{2, 2, 2}, 5, false, 825},
	{{2, 3, 2}, 3, false, 57},  {{6, 2}, 4, false, 0},
};

START_TEST(plain_enumeration_counts_as_much)
{
	struct hierarchy tree = tree_of(plain_table[_i].sizes);
	bool all_masters = plain_table[_i].all_masters;
	int64_t found = plain_programs(&tree, plain_table[_i].limit, all_masters);

	if (plain_table[_i].published)
		ck_assert_int_eq(found, plain_table[_i].published);
	if (!all_masters)
		ck_assert_int_eq(found, programs_of(plain_table[_i].sizes,
		                                    plain_table[_i].limit));
}
END_TEST

/*
 * A program followed step by step on the real sizes; the share each step starts with.
 */
static void follow(const struct hierarchy *tree, const struct program *p,
                   const double *share)
{
	int32_t k = tree->ndevices, goal[64] = {0};
	uint64_t row[64 * 64];

	sums_start(row, k);
	for (int i = 0; i < p->n; i++) {
		struct groups g = slice_groups(tree, p->step[i].slice, arena);

		for (int32_t j = 0; j < g.ngroups; j++) {
			int held = 0;

			for (int32_t r = 0; r < k; r++)
				held += row[g.ids[j * g.size] * k + r] != 0;
			ck_assert_double_eq_tol(share[i] * k, held, 1e-9);
		}
		ck_assert(sums_step(row, k, p->step[i].op, &g));
	}
	ck_assert(sums_are_goal(row, k, goal));
}

/*
 * What was found with sizes of 2 is meaningful with any, and holds the stated shares.
 */
START_TEST(programs_hold_on_real_sizes)
{
	struct hierarchy tree = tree_of(trees[_i]);
	struct synth_cache cache = {.arena = arena};
	const struct synthesis *s, *again;
	struct synth_walk walk;
	struct program last = {0};
	int limit = tree.nlevels > 4 ? 4 : 5;
	int64_t n = 0;

	if (tree.ndevices > 64)
		return;
	ck_assert_int_eq(synth_cached(&s, &cache, &tree, limit, at, &error), OK);
	ck_assert_int_eq(synth_cached(&again, &cache, &tree, limit, at, &error), OK);
	ck_assert_ptr_eq(s, again);
	walk = (struct synth_walk){.s = s};
	for (; synth_next(&walk); n++) {
		double share[PROGRAM_STEPS_MAX];

		for (int i = 0; i < walk.program.n; i++)
			share[i] = step_share(&s->kind[walk.kind[i]], &tree);
		if (s->programs < 1000 || n % 17 == 0)
			follow(&tree, &walk.program, share);
		ck_assert(synth_has(s, &walk.program));
		ck_assert_int_ge(walk.program.n, last.n);
		ck_assert(memcmp(&last, &walk.program, sizeof(last)) != 0);
		last = walk.program;
	}
	ck_assert_int_eq(n, s->programs);
}
END_TEST

START_TEST(programs_read_back)
{
	struct hierarchy tree = tree_of((int32_t[]){2, 3, 2, 0});
	struct synthesis s;
	struct synth_walk walk = {.s = &s};

	ck_assert_int_eq(synth_run(&s, arena, &tree, NULL, 4, at, &error), OK);
	while (synth_next(&walk)) {
		struct text t = {0};
		struct program p;

		program_print(&t, &walk.program, &tree);
		ck_assert_int_eq(
			program_parse(&p, text_take(&t, arena), &tree, at, &error), OK);
		ck_assert_mem_eq(p.step, walk.program.step,
		                 sizeof(*p.step) * (size_t)p.n);
		ck_assert_int_eq(p.n, walk.program.n);
	}
}
END_TEST

/* On a 2, b 3. Equal groups have one name. */
static const struct {
	const char *text, *canonical; /* NULL: an error that says `says` */
	const char *says;
	bool meaningful;
} program_table[] = {
	{"", "", NULL, false},
	{" ( root,InsideGroup , AllReduce )", "(root, InsideGroup, AllReduce)", NULL,
         true},
	{"(b, Parallel(root), AllReduce)", "(root, InsideGroup, AllReduce)", NULL, true},
	{"(b, Master(a), Reduce); (b, Parallel(a), Broadcast)",
         "(a, InsideGroup, Reduce); (a, InsideGroup, Broadcast)", NULL, false},
	{"(a, InsideGroup, Reduce); (a, Master(root), AllReduce); (b, Parallel(a), "
         "Broadcast)",
         "(a, InsideGroup, Reduce); (a, Master(root), AllReduce); (a, InsideGroup, "
         "Broadcast)",
         NULL, true},
	{"(a, Master(root), Broadcast)", "(a, Master(root), Broadcast)", NULL, false},
	{"(c, InsideGroup, AllReduce)", NULL, "no level 'c'", false},
	{"(b, InsideGroup, AllReduce)", NULL, "groups of one device", false},
	{"(a, Parallel(a), AllReduce)", NULL, "'a' is no level above 'a'", false},
	{"(a, Parallel(b), AllReduce)", NULL, "'b' is no level above 'a'", false},
	{"(a, Parallel, AllReduce)", NULL, "'('", false},
	{"(a, Sideways, AllReduce)", NULL, "InsideGroup, Parallel or Master", false},
	{"(a, InsideGroup, AllToAll)", NULL, "AllReduce, ReduceScatter", false},
	{"(a, InsideGroup, AllReduce", NULL, "')'", false},
	{"(a, InsideGroup, AllReduce) x", NULL, "the end", false},
	{"(a, InsideGroup, AllReduce);", NULL, "'('", false},
	{"(a InsideGroup, AllReduce)", NULL, "','", false},
	{"(, InsideGroup, AllReduce)", NULL, "a level", false},
	{"(a,InsideGroup,Reduce);(a,InsideGroup,Reduce);(a,InsideGroup,Reduce);"
         "(a,InsideGroup,Reduce);(a,InsideGroup,Reduce);(a,InsideGroup,Reduce);"
         "(a,InsideGroup,Reduce);(a,InsideGroup,Reduce);(a,InsideGroup,Reduce)",
         NULL, "more than 8 steps", false},
};

START_TEST(program_texts)
{
	struct hierarchy tree = tree_of((int32_t[]){2, 3, 0});
	struct synthesis s;
	struct program p;
	struct text t = {0};
	enum status code = program_parse(&p, program_table[_i].text, &tree, at, &error);

	if (!program_table[_i].canonical) {
		ck_assert_int_ne(code, OK);
		ck_assert_msg(strstr(error.text, program_table[_i].says), "%s",
		              error.text);
		return;
	}
	ck_assert_int_eq(code, OK);
	program_print(&t, &p, &tree);
	ck_assert_str_eq(text_take(&t, arena), program_table[_i].canonical);
	ck_assert_int_eq(synth_run(&s, arena, &tree, NULL, 5, at, &error), OK);
	ck_assert_int_eq(synth_has(&s, &p), program_table[_i].meaningful);
}
END_TEST

START_TEST(too_much_is_refused)
{
	struct hierarchy tree = tree_of((int32_t[]){5, 13, 0});
	struct synth_cache cache = {.arena = arena};
	const struct synthesis *cached;
	struct synthesis s;

	ck_assert_int_eq(synth_run(&s, arena, &tree, NULL, 5, at, &error), E_RANGE);
	ck_assert_msg(strstr(error.text, "65 devices, at most 64"), "%s", error.text);
	error = (struct error){0};
	ck_assert_int_eq(synth_cached(&cached, &cache, &tree, 5, at, &error), OK);
	ck_assert_int_eq(cached->programs, 47);
	tree = tree_of((int32_t[]){2, 2, 2, 2, 2, 2, 0});
	hierarchy_add(&tree, "g", 2);
	ck_assert_int_eq(synth_cached(&cached, &cache, &tree, 5, at, &error), E_RANGE);
	ck_assert_msg(strstr(error.text, "7 levels, at most 6"), "%s", error.text);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("placement_synth");
	TCase *t = tcase_create("placement_synth");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, groups_of_table_2, 0, COUNT(slice_table));
	tcase_add_loop_test(t, slices_are_runs_of_levels, 0, COUNT(trees));
	tcase_add_loop_test(t, rules, 0, COUNT(rule_table));
	tcase_add_test(t, rules_of_one_and_of_three);
	tcase_add_loop_test(t, counts_of_programs, 0, COUNT(count_table));
	tcase_add_loop_test(t, plain_enumeration_counts_as_much, 0, COUNT(plain_table));
	tcase_add_loop_test(t, programs_hold_on_real_sizes, 0, COUNT(trees));
	tcase_add_test(t, programs_read_back);
	tcase_add_loop_test(t, program_texts, 0, COUNT(program_table));
	tcase_add_test(t, too_much_is_refused);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return s;
}
