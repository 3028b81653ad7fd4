/*
 * Unreduced axes through every planner: plans worked out by hand (the scenarios of
 * scenarios/models.yaml that have them, cases of the tests of Shardy), volumes of the
 * reductions, and random problems on which a planner either has a plan that proves right
 * and keeps the receive bound, or says why not.
 */
#include "plan_random.h"
#include "planner_case.h"
#include "tests/tests.h"

#include "plan/check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const struct planner *planner_of(const char *name)
{
	const struct planner *planner = planner_find(name, strlen(name));

	ck_assert_msg(planner != NULL, "%s", name);
	return planner;
}

/* "op axes/dim axes/from-to; op ...". */
static const char *steps_of(const struct plan *plan)
{
	struct text out = {0};

	for (int i = 0; i < plan->nsteps; i++) {
		const struct step *s = &plan->step[i];

		text_printf(&out, "%s%s", i ? "; " : "", op_name(s->op));
		for (int k = 0; k < s->nmoves; k++) {
			const struct move *m = &s->move[k];

			for (int j = 0; j < m->nparts; j++) {
				text_printf(&out, j ? "," : " ");
				part_print(&out, &plan->problem->mesh, m->parts[j]);
			}
			if (m->from_dim >= 0)
				text_printf(&out, "/%d", m->from_dim);
			if (m->to_dim >= 0)
				text_printf(&out, "%c%d", m->from_dim < 0 ? '/' : '-',
				            m->to_dim);
		}
	}
	return text_take(&out, arena);
}

/* --- worked out by hand --------------------------------------------------------------- */

static const struct {
	const char *mesh, *array, *from, *to;
} problems[] = {
	/* The five of scenarios/models.yaml. */
	{"dp=16,tp=8", "f32[4096]", "P(None, unreduced={'dp', 'tp'})", "P(('dp', 'tp'))"},
	{"dp=8,tp=8", "f32[14336,4096]", "P(None, None, unreduced={'dp', 'tp'})",
         "P(('dp', 'tp'), None)"},
	{"dp=128,tp=8", "bf16[16384,53248]", "P(None, 'tp', unreduced={'dp'})",
         "P('dp', 'tp')"},
	{"rep=4,fsdp=64", "bf16[8192,28672]",
         "P(None, None, unreduced={'rep', 'fsdp'})", "P('fsdp', None)"},
	{"tp=8", "bf16[8192,1,16384]", "P(None, None, None, unreduced={'tp'})",
         "P('tp', None, None)"},
	/* out_unreduced_axes_preserved of Shardy's reshard_to_collectives.mlir. */
	{"x=2,y=2,z=2", "f32[16,8]", "P(('y', 'z'), None, unreduced={'x'})",
         "P(None, 'y', unreduced={'x'})"},
	/* all_reduce_target_unreduced_is_strict_subset_of_source_unreduced. */
	{"x=4,y=2", "f32[4,8]", "P(None, None, unreduced={'x', 'y'})",
         "P(None, None, unreduced={'x'})"},
	/* all_reduce_source_and_target_has_different_shardings_only_source_has_... */
	{"x=4,y=2", "f32[4,8]", "[{\"x\":(1)2}, {}], unreduced={\"y\"}",
         "[{\"x\":(2)2}, {}]"},
	/* implicitly_and_explicitly_replicated_to_unreduced_full_axis and _sub_axis. */
	{"x=2,y=2,z=2", "f32[16,8]", "P(None, None, unreduced={'y'})",
         "P(None, None, unreduced={'x', 'y', 'z'})"},
	{"x=16", "f32[16,8]", "[{\"x\":(1)2}, {}], unreduced={\"x\":(4)2}",
         "[{\"x\":(1)2}, {}], unreduced={\"x\":(2)8}"},
	/* The fusion that canonicalization.cc explains. */
	{"x=2,y=2,z=2,p=2", "f32[8,8]", "P(None, None, unreduced={'x', 'y'})",
         "P(('x', 'z'), ('y', 'p'))"},
	/* The axis to reduce is not in front of what is sliced: no fusion. */
	{"x=3,y=5", "f32[15,7]", "P(None, None, unreduced={'y'})", "P(('x', 'y'), None)"},
	/* Sub-axes on both sides: what is left of x stays unreduced. */
	{"x=6", "f32[6]", "[{}], unreduced={\"x\"}", "[{}], unreduced={\"x\":(1)3}"},
	{"x=3,y=5", "f32[15,7]", "P('x', None, unreduced={'y'})",
         "P('x', None, unreduced={'y'})"},
};

/* Received bytes: 2 M (1 - 1/q) of an all-reduce, M (1 - 1/q) of a reduce-scatter. */
static const struct {
	int problem;
	const char *planner, *steps;
	int64_t received;
} plans[] = {
	{0, "gather", "all-reduce dp,tp; slice dp,tp/0", 2 * 127 * 128},
	{0, "dtensor", "reduce-scatter dp/0; reduce-scatter tp/0", 15 * 1024 + 7 * 128},
	{0, "shardy", "reduce-scatter dp,tp/0", 127 * 128},
	{1, "gather", "all-reduce dp,tp; slice dp,tp/0", 2 * 63 * INT64_C(3670016)},
	{1, "dtensor", "reduce-scatter dp/0; reduce-scatter tp/0", 205520896 + 25690112},
	/* tp lies inside a host: it reduces first, where it is not in the way of dp. */
	{1, "dtensor-mincost",
         "reduce-scatter tp/1; reduce-scatter dp/0; all-to-all tp/1-0",
         205520896 + 25690112 + 7 * 458752},
	{1, "shardy", "reduce-scatter dp,tp/0", 63 * INT64_C(3670016)},
	{2, "gather", "all-reduce dp; all-gather tp/1; slice dp/0 tp/1",
         2 * 127 * INT64_C(1703936) + 7 * INT64_C(218103808)},
	{2, "dtensor", "reduce-scatter dp/0", 127 * INT64_C(1703936)},
	{2, "dtensor-mincost", "reduce-scatter dp/0", 127 * INT64_C(1703936)},
	{2, "shardy", "reduce-scatter dp/0", 127 * INT64_C(1703936)},
	{3, "gather", "all-reduce rep,fsdp; slice fsdp/0", 2 * 255 * INT64_C(1835008)},
	{3, "dtensor", "all-reduce rep; reduce-scatter fsdp/0",
         INT64_C(704643072) + 63 * INT64_C(7340032)},
	{3, "shardy", "all-reduce rep,fsdp; slice fsdp/0", 2 * 255 * INT64_C(1835008)},
	{4, "gather", "all-reduce tp; slice tp/0", 2 * 7 * INT64_C(33554432)},
	{4, "dtensor", "reduce-scatter tp/0", 7 * INT64_C(33554432)},
	{4, "dtensor-mincost", "reduce-scatter tp/0", 7 * INT64_C(33554432)},
	{4, "shardy", "reduce-scatter tp/0", 7 * INT64_C(33554432)},
	{5, "gather", "all-gather y,z/0; slice y/1", 3 * 128},
	{5, "dtensor", "all-gather z/0; all-to-all y/0-1", 128 + 128},
	{5, "shardy", "permute; all-to-all y/0-1; all-gather z/0", 128 + 64 + 128},
	{6, "gather", "all-reduce y", 128},
	{6, "dtensor", "all-reduce y", 128},
	{6, "shardy", "all-reduce y", 128},
	{7, "gather", "all-reduce y; all-gather x:(1)2/0; slice x:(2)2/0", 64 + 64},
	{7, "shardy", "all-reduce y; permute", 64 + 64},
	{8, "dtensor", "partial x; partial z", 0},
	{8, "shardy", "partial x,z", 0},
	{9, "shardy", "partial x:(2)2,x:(8)2", 0},
	{10, "shardy", "reduce-scatter x/0 y/1; slice z/0 p/1", 192},
	{11, "dtensor", "slice x/0; reduce-scatter y/0", 4 * 28},
	{11, "shardy", "all-reduce y; slice x,y/0", 2 * 4 * 84},
	{12, "shardy", "all-reduce x:(3)2", 24},
	{12, "gather", "all-reduce x:(3)2", 24},
	{13, "gather", "", 0},
	{13, "dtensor", "", 0},
	{13, "dtensor-mincost", "", 0},
	{13, "shardy", "", 0},
};

START_TEST(test_worked_out)
{
	int at = plans[_i].problem;
	struct problem *p = case_of_texts(arena, problems[at].mesh, problems[at].array,
	                                  problems[at].from, problems[at].to);
	struct plan *plan = NULL;
	struct text why = {0};
	enum answer answer = planner_run(planner_of(plans[_i].planner), &plan, p,
	                                 &prices_bytes, arena, &why);

	ck_assert_msg(answer == ANSWER_PLAN, "%s", why.s);
	ck_assert_str_eq(steps_of(plan), plans[_i].steps);
	ck_assert_int_eq(plan->recv_bytes, plans[_i].received);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
}
END_TEST

static const struct {
	const char *planner, *mesh, *from, *to, *why;
} refusals[] = {
	/* Replicas a, then b, stand on different sides of w. */
	{"shardy", "a=2,w=2,b=2", "P('a', None, unreduced={'w'})",
         "P('b', None, unreduced={'w'})", "mix the contributions"},
	{"shardy", "x=6", "[{}, {}], unreduced={\"x\":(1)2}",
         "[{}, {}], unreduced={\"x\":(1)3}", "cannot co-exist"},
	{"shardy", "<[\"x\"=2, \"y\"=2]>/<[\"x\"=2, \"y\"=2], device_ids=[3, 2, 1, 0]>",
         "P(None, None, unreduced={'x'})", "P('x', None)",
         "unreduced axes between two meshes"},
	{"dtensor", "x=4,y=2", "P('x', 'y')", "P('x', None, unreduced={'y'})",
         "from Shard(1) to Partial on mesh dimension 'y'"},
	{"gather", "x=4,y=2", "P('x', None)", "P('x', None, unreduced={'y'})",
         "unreduced over 'y', the source is not"},
	{"gather", "x=12", "[{}, {}], unreduced={\"x\":(1)2}",
         "[{}, {}], unreduced={\"x\":(1)6}", "unreduced over 'x:(1)6', the source"},
	{"synth", "x=4,y=2", "P('x', None, unreduced={'y'})", "P('x', None)",
         "unreduced"},
};

START_TEST(test_refusal)
{
	char *mesh = arena_strdup(arena, refusals[_i].mesh), *to_mesh;
	struct problem_text text = {
		.array = "f32[16,8]", .from = refusals[_i].from, .to = refusals[_i].to};
	struct problem p;
	struct plan *plan = NULL;
	struct text why = {0};
	struct error e = {0};

	to_mesh = strchr(mesh, '/');
	if (to_mesh)
		*to_mesh++ = '\0';
	text.mesh = mesh;
	text.to_mesh = to_mesh;
	ck_assert_msg(problem_make(&p, arena, &text, &e) == OK, "%s", e.text);
	ck_assert_int_eq(planner_run(planner_of(refusals[_i].planner), &plan, &p,
	                             &prices_bytes, arena, &why),
	                 ANSWER_NOT_APPLICABLE);
	ck_assert_msg(strstr(why.s, refusals[_i].why), "%s", why.s);
	text_free(&why);
}
END_TEST

/* --- volumes -------------------------------------------------------------------------- */

static int64_t received(const char *mesh, const char *array, const char *from,
                        const char *to)
{
	struct problem *p = case_of_texts(arena, mesh, array, from, to);
	struct plan *plan = NULL;
	struct text why = {0};

	ck_assert_int_eq(planner_run(planner_of("dtensor"), &plan, p, &prices_bytes,
	                             arena, &why),
	                 ANSWER_PLAN);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	ck_assert_int_eq(plan->nsteps, 1);
	ck_assert_int_eq(plan->send_bytes, plan->recv_bytes);
	return plan->recv_bytes;
}

/* An all-reduce is a reduce-scatter and an all-gather. */
START_TEST(test_volumes)
{
	static const int sizes[] = {2, 3, 4, 5, 6, 7, 12};
	int q = sizes[_i];
	int64_t tile = INT64_C(4) * q * 11 * 5;
	const char *mesh = arena_printf(arena, "x=3,y=%d", q);
	const char *array = arena_printf(arena, "f32[33,%d]", q * 5);
	const char *partial = "P('x', None, unreduced={'y'})";
	int64_t all = received(mesh, array, partial, "P('x', None)");
	int64_t scatter = received(mesh, array, partial, "P('x', 'y')");

	ck_assert_int_eq(all * q, 2 * tile * (q - 1));
	ck_assert_int_eq(scatter * q, tile * (q - 1));
	ck_assert_int_eq(
		all, scatter + received(mesh, array, "P('x', 'y')", "P('x', None)"));
	ck_assert_int_eq(received(mesh, array, "P('x', None)", partial), 0);
}
END_TEST

/* --- random problems ------------------------------------------------------------------ */

enum { SEEDS = 8, PER_SEED = 150, PLANNERS_MAX = 32 };

/* Whole axes, or every second time their prime digits, in random order. */
static int random_parts(struct rng *r, const struct mesh *m, struct part *out)
{
	bool whole = rng_below(r, 2);
	int n = 0;

	for (int x = 0; x < m->naxes; x++) {
		struct part part = {x, 1, m->axis[x].size};

		if (whole)
			out[n++] = part;
		else
			n += parts_digits(out + n, &part, 1);
	}
	return n;
}

static void shuffle(struct rng *r, struct part *part, int *where, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int j = (int)rng_below(r, (uint32_t)i + 1), w = where[i];
		struct part p = part[i];

		part[i] = part[j];
		part[j] = p;
		where[i] = where[j];
		where[j] = w;
	}
}

/* Places are dimensions, `rank` for the unreduced set, -1 for replicas. */
static struct layout layout_of_places(struct rng *r, int rank, struct part *part,
                                      int *where, int n)
{
	struct layout l = layout_replicated(rank);

	shuffle(r, part, where, n);
	for (int i = 0; i < n; i++)
		if (where[i] >= 0)
			ck_assert(layout_append(&l, where[i], part[i]));
	layout_normalise(&l);
	return l;
}

/*
 * Half of what is unreduced at the source stays so; in one problem of four the target is
 * unreduced over anything else too.
 */
static struct problem *random_sum(struct rng *r, struct arena *a)
{
	struct mesh *m = arena_alloc(a, 1, sizeof(*m));
	struct part part[LAYOUT_PARTS_MAX], copy[LAYOUT_PARTS_MAX];
	int from[LAYOUT_PARTS_MAX], to[LAYOUT_PARTS_MAX], n;
	int rank = 1 + (int)rng_below(r, 3);
	bool any = rng_below(r, 4) == 0;
	struct shape shape = {.rank = rank};
	struct layout source, target;

	*m = random_mesh(r, 36);
	n = random_parts(r, m, part);
	for (int i = 0; i < n; i++) {
		from[i] = (int)rng_below(r, (uint32_t)rank + 3) - 1;
		if (i == 0 || from[i] > rank)
			from[i] = rank;
		to[i] = (int)rng_below(r, (uint32_t)rank + (any ? 2 : 1)) - 1;
		if (from[i] == rank && rng_below(r, 2))
			to[i] = rank;
	}
	for (int dim = 0; dim < rank; dim++)
		shape.dim[dim] =
			m->ndevices * (2 * dim + 1) - (int)(rng_below(r, 8) == 0);
	memcpy(copy, part, sizeof(copy));
	source = layout_of_places(r, rank, part, from, n);
	target = layout_of_places(r, rank, copy, to, n);
	return case_of_layouts(a, m, &shape, &source, &target);
}

/* True if the planner has a plan; it must be right. */
static bool run(const struct planner *planner, const struct problem *p, struct arena *a)
{
	struct plan *plan = NULL;
	struct text why = {0};
	enum answer answer = planner_run(planner, &plan, p, &prices_bytes, a, &why);

	if (answer == ANSWER_NOT_APPLICABLE) {
		ck_assert_msg(why.length > 0, "%s: no reason", planner->name);
		text_free(&why);
		return false;
	}
	ck_assert_int_eq(answer, ANSWER_PLAN);
	ck_assert_msg(plan_check(plan, &why), "%s: %s: %s", planner->name,
	              case_describe(a, p), why.s);
	ck_assert_msg(plan->recv_bytes >= p->recv_bound_bytes, "%s: %s: %lld < %lld",
	              planner->name, case_describe(a, p), (long long)plan->recv_bytes,
	              (long long)p->recv_bound_bytes);
	return true;
}

START_TEST(test_random)
{
	struct rng *r = rng_new((uint64_t)_i + 107);
	int planned[PLANNERS_MAX] = {0};

	for (int k = 0; k < PER_SEED; k++) {
		struct arena *a = arena_new();
		struct problem *p = random_sum(r, a);

		for (int i = 0; planners[i]; i++)
			planned[i] += run(planners[i], p, a);
		arena_free(a);
	}
	rng_free(r);
	for (int i = 0; planners[i]; i++) {
		const char *name = planners[i]->name;

		ck_assert_int_lt(i, PLANNERS_MAX);
		if (strcmp(name, "gather") == 0 || strncmp(name, "dtensor", 7) == 0 ||
		    strcmp(name, "shardy") == 0)
			ck_assert_msg(planned[i] >= PER_SEED / 8, "%s: %d", name,
			              planned[i]);
		if (_i == 0)
			printf("%s: %d of %d\n", name, planned[i], PER_SEED);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("reduce");
	TCase *tc = tcase_create("reduce");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_worked_out, 0, COUNT(plans));
	tcase_add_loop_test(tc, test_refusal, 0, COUNT(refusals));
	tcase_add_loop_test(tc, test_volumes, 0, 7);
	tcase_add_loop_test(tc, test_random, 0, SEEDS);
	suite_add_tcase(suite, tc);
	return suite;
}
