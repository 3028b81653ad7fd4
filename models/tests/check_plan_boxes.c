/*
 * Plans whose boxes are changed in one place, and sums that count a contribution twice
 * or not at all: plan_check must say of each what an interpreter says that moves and
 * adds up the elements one by one.
 */
#include "plan/check.h"
#include "tests/tests.h"

#include "plan_interpret.h"
#include "plan_random.h"
#include "planner/planner.h"

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

/* True where both say right; they must agree. */
static bool verdict(const struct plan *p, const char *name)
{
	struct text why = {0};
	int step;
	bool right = plan_interpret(p, memory, &step), said = plan_check(p, &why);

	ck_assert_msg(right == said, "%s: interpreter says %s at step %d, check: %s",
	              name, right ? "right" : "wrong", step + 1,
	              why.s ? why.s : "right");
	text_free(&why);
	return right;
}

/* --- boxes -------------------------------------------------------------------------- */

/* The transfers of an exchange to change, with room for one more; n counts them. */
typedef bool change(struct rng *r, struct transfer *t, int64_t *n,
                    const struct problem *p);

static struct transfer *any(struct rng *r, struct transfer *t, int64_t n)
{
	return &t[rng_below(r, (uint32_t)n)];
}

static bool nothing(struct rng *r, struct transfer *t, int64_t *n,
                    const struct problem *p)
{
	(void)r;
	(void)t;
	(void)n;
	(void)p;
	return true;
}

static bool drop(struct rng *r, struct transfer *t, int64_t *n, const struct problem *p)
{
	(void)p;
	*any(r, t, *n) = t[*n - 1];
	--*n;
	return true;
}

static bool duplicate(struct rng *r, struct transfer *t, int64_t *n,
                      const struct problem *p)
{
	(void)p;
	t[*n] = *any(r, t, *n);
	++*n;
	return true;
}

static bool other_sender(struct rng *r, struct transfer *t, int64_t *n,
                         const struct problem *p)
{
	any(r, t, *n)->src = (int32_t)rng_below(r, (uint32_t)p->ndevices + 1);
	return true;
}

static bool other_receiver(struct rng *r, struct transfer *t, int64_t *n,
                           const struct problem *p)
{
	any(r, t, *n)->dst = (int32_t)rng_below(r, (uint32_t)p->ndevices + 1);
	return true;
}

static bool shift(struct rng *r, struct transfer *t, int64_t *n, const struct problem *p)
{
	struct transfer *x = any(r, t, *n);
	int dim = (int)rng_below(r, (uint32_t)p->padded.rank);
	int64_t by = rng_below(r, 2) ? 1 : -1;
	int64_t *b =
		arena_dup(memory, x->bounds, 2 * (size_t)p->padded.rank, sizeof(*b));

	b[2 * dim] += by;
	b[2 * dim + 1] += by;
	x->bounds = b;
	return true;
}

static bool claim_less(struct rng *r, struct transfer *t, int64_t *n,
                       const struct problem *p)
{
	(void)p;
	any(r, t, *n)->elements--;
	return true;
}

/* A box in two: the same plan. */
static bool split(struct rng *r, struct transfer *t, int64_t *n, const struct problem *p)
{
	struct transfer *x = any(r, t, *n);
	size_t count = 2 * (size_t)p->padded.rank;
	int64_t *a = arena_dup(memory, x->bounds, count, sizeof(*a));
	int64_t *b = arena_dup(memory, x->bounds, count, sizeof(*b));
	int64_t extent = a[1] - a[0];

	if (extent < 2)
		return false;
	a[1] = b[0] = a[0] + 1;
	t[*n] = *x;
	t[*n].bounds = b;
	t[*n].elements = x->elements / extent * (extent - 1);
	x->bounds = a;
	x->elements /= extent;
	++*n;
	return true;
}

enum { RIGHT = 1, WRONG = 2, BOTH = 3 };

static const struct {
	const char *name;
	change *make;
	int verdicts;
} changes[] = {
	{"nothing", nothing, RIGHT},
	{"drop", drop, WRONG},
	{"duplicate", duplicate, WRONG},
	{"other sender", other_sender, BOTH},
	{"other receiver", other_receiver, BOTH},
	{"shift", shift, WRONG},
	{"claim less", claim_less, WRONG},
	{"split", split, RIGHT},
};

/* Of `direct`, the one exchange. NULL where the plan has none. */
static struct plan *exchange_plan(struct rng *r, int k)
{
	struct problem *q = k % 3 ? random_problem(r, memory, 16)
	                          : random_listed_problem(r, memory, 12);
	const struct planner *direct = planner_find("direct", strlen("direct"));
	struct text why = {0};
	struct plan *p = NULL;

	if (planner_run(direct, &p, q, &prices_bytes, memory, &why) != ANSWER_PLAN ||
	    p->nsteps != 1 || p->step[0].ntransfers == 0)
		p = NULL;
	text_free(&why);
	return p;
}

START_TEST(changed_boxes_are_judged_as_the_interpreter_does)
{
	struct rng *r = rng_new(9203 + (uint64_t)_i);
	int found = 0;

	for (int done = 0, k = 0; done < 150; k++) {
		struct plan *p = exchange_plan(r, k);
		struct transfer *t;
		int64_t n;

		if (!p) {
			arena_reset(memory);
			continue;
		}
		n = p->step[0].ntransfers;
		t = arena_alloc(memory, (size_t)n + 1, sizeof(*t));
		memcpy(t, p->step[0].transfers, (size_t)n * sizeof(*t));
		if (changes[_i].make(r, t, &n, p->problem)) {
			p->step[0].transfers = t;
			p->step[0].ntransfers = n;
			found |= verdict(p, changes[_i].name) ? RIGHT : WRONG;
			done++;
		}
		arena_reset(memory);
	}
	ck_assert_msg(found == changes[_i].verdicts, "%s: verdicts %d, expected %d",
	              changes[_i].name, found, changes[_i].verdicts);
	rng_free(r);
}
END_TEST

/* --- boxes beside tiles ------------------------------------------------------------- */

/*
 * f32[6] on x=2: each device gets the other's nearest element or all of them beside its
 * tile, then pads to the whole array.
 */
static const int64_t near_boxes[][2] = {{3, 4}, {2, 3}, {3, 6}, {0, 3}};

static const struct {
	int first, second; /* boxes sent to devices 0 and 1 beside their tiles */
	bool right;
} halos[] = {
	{2, 3, true},
	{0, 1, false},
	{2, 1, false},
};

START_TEST(boxes_are_held_until_they_are_taken_in)
{
	struct problem *p = arena_alloc(memory, 1, sizeof(*p));
	struct problem_text t = {
		.array = "f32[6]", .mesh = "x=2", .from = "P('x')", .to = "P()"};
	const struct transfer beside[2] = {
		{1, 0, near_boxes[halos[_i].first][1] - near_boxes[halos[_i].first][0],
	         near_boxes[halos[_i].first]},
		{0, 1, near_boxes[halos[_i].second][1] - near_boxes[halos[_i].second][0],
	         near_boxes[halos[_i].second]}};
	struct error e = {0};
	struct plan *plan;

	ck_assert_int_eq(problem_make(p, memory, &t, &e), OK);
	plan = plan_new(memory, p, "halo");
	plan_permute_parts(plan, beside, 2);
	plan_pad(plan, &p->to, NULL);
	plan_finish(plan);
	ck_assert_int_eq(verdict(plan, "halo"), halos[_i].right);
	ck_assert_int_eq(plan->recv_bytes, 4 * (beside[0].elements > beside[1].elements
	                                                ? beside[0].elements
	                                                : beside[1].elements));
}
END_TEST

/* --- sums --------------------------------------------------------------------------- */

static const struct part X = {0, 1, 2}, Y = {1, 1, 3};

/* On x=2, y=3; steps by op, part and to_dim; `groups` changed after they are built. */
static const struct {
	const char *from, *to;
	int n;
	struct {
		enum op op;
		const struct part *part;
		int to_dim;
	} step[3];
	int swap[2]; /* places of two ids of the last step that change places */
	bool right;
} sums[] = {
	{"P(unreduced={'x'})", "P()", 1, {{OP_ALL_REDUCE, &X, -1}}, {0, 0}, true},
	{"P(unreduced={'y'})", "P('y')", 1, {{OP_REDUCE_SCATTER, &Y, 0}}, {0, 0}, true},
	{"P(unreduced={'x','y'})",
         "P('y', unreduced={'x'})",
         1,
         {{OP_REDUCE_SCATTER, &Y, 0}},
         {0, 0},
         true},
	{"P(unreduced={'x','y'})",
         "P('x')",
         2,
         {{OP_ALL_REDUCE, &Y, -1}, {OP_REDUCE_SCATTER, &X, 0}},
         {0, 0},
         true},
	{"P()", "P(unreduced={'y'})", 1, {{OP_PARTIAL, &Y, -1}}, {0, 0}, true},
	{"P('x')",
         "P('x')",
         2,
         {{OP_PARTIAL, &Y, -1}, {OP_ALL_REDUCE, &Y, -1}},
         {0, 0},
         true},
	/* a contribution is missing: nobody reduced, or over one of two axes only */
	{"P(unreduced={'x'})", "P()", 0, {{OP_SLICE, NULL, 0}}, {0, 0}, false},
	{"P(unreduced={'x','y'})", "P()", 1, {{OP_ALL_REDUCE, &X, -1}}, {0, 0}, false},
	{"P(unreduced={'x'})", "P('y')", 1, {{OP_SLICE, &Y, 0}}, {0, 0}, false},
	{"P(unreduced={'x'})", "P(unreduced={'y'})", 0, {{OP_SLICE, NULL, 0}}, {0, 0}, false},
	{"P()", "P(unreduced={'x'})", 0, {{OP_SLICE, NULL, 0}}, {0, 0}, false},
	/* the groups along x are 0 3, 1 4, 2 5: 0 4 and 1 3 are as good, blocks are not */
	{"P(unreduced={'x'})", "P()", 1, {{OP_ALL_REDUCE, &X, -1}}, {1, 3}, true},
	{"P(unreduced={'x'})", "P()", 1, {{OP_ALL_REDUCE, &X, -1}}, {1, 2}, false},
	{"P(unreduced={'x'})", "P('x')", 1, {{OP_REDUCE_SCATTER, &X, 0}}, {0, 1}, false},
	{"P(unreduced={'y'})", "P('y')", 1, {{OP_REDUCE_SCATTER, &Y, 0}}, {0, 3}, true},
	{"P(unreduced={'y'})", "P('y')", 1, {{OP_REDUCE_SCATTER, &Y, 0}}, {0, 4}, false},
};

static struct plan *sum_plan(int i)
{
	struct problem *p = arena_alloc(memory, 1, sizeof(*p));
	struct problem_text t = {.array = "f32[18]",
	                         .mesh = "x=2,y=3",
	                         .from = sums[i].from,
	                         .to = sums[i].to};
	struct error e = {0};
	struct plan *plan;

	ck_assert_msg(problem_make(p, memory, &t, &e) == OK, "%s", e.text);
	plan = plan_new(memory, p, "sum");
	for (int k = 0; k < sums[i].n; k++) {
		struct move m = {.from_dim = -1,
		                 .to_dim = sums[i].step[k].to_dim,
		                 .factor = sums[i].step[k].part->size,
		                 .nparts = 1,
		                 .parts = sums[i].step[k].part};

		plan_axes_step(plan, sums[i].step[k].op, &m, 1);
	}
	if (sums[i].swap[0] != sums[i].swap[1]) {
		int32_t *ids = (int32_t *)plan->step[sums[i].n - 1].groups.ids;
		int32_t id = ids[sums[i].swap[0]];

		ids[sums[i].swap[0]] = ids[sums[i].swap[1]];
		ids[sums[i].swap[1]] = id;
	}
	plan_finish(plan);
	return plan;
}

START_TEST(sums_have_every_contribution_once)
{
	ck_assert_int_eq(verdict(sum_plan(_i), "sum"), sums[_i].right);
}
END_TEST

/* To be summed twice is as wrong as not at all. */
START_TEST(double_counting_is_found)
{
	struct plan *p = sum_plan(0), *twice = plan_new(memory, p->problem, "twice");

	twice->nsteps = 2;
	twice->step = arena_alloc(memory, 2, sizeof(*twice->step));
	twice->step[0] = twice->step[1] = p->step[0];
	ck_assert(!verdict(twice, "twice"));
}
END_TEST

/* Boxes of a sum that is not finished neither travel nor stay. */
START_TEST(unfinished_sums_are_not_exchanged)
{
	struct problem *p = arena_alloc(memory, 1, sizeof(*p));
	struct problem_text t = {.array = "f32[18]",
	                         .mesh = "x=2,y=3",
	                         .from = _i ? "P(unreduced={'x'})"
	                                    : "P('y', unreduced={'x'})",
	                         .to = "P('y')"};
	static const int64_t box[2] = {0, 6};
	const struct transfer send = {0, 3, 6, box};
	struct error e = {0};
	struct plan *plan;

	ck_assert_msg(problem_make(p, memory, &t, &e) == OK, "%s", e.text);
	plan = plan_new(memory, p, "unfinished");
	plan_exchange(plan, &p->to, &p->mesh, &send, _i == 2);
	ck_assert(!verdict(plan, "exchange"));
	plan = plan_new(memory, p, "unfinished");
	plan_pad(plan, &p->to, NULL);
	ck_assert(!verdict(plan, "pad"));
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("plan_boxes");
	TCase *c = tcase_create("plan_boxes");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_add_loop_test(c, changed_boxes_are_judged_as_the_interpreter_does, 0,
	                    COUNT(changes));
	tcase_add_loop_test(c, boxes_are_held_until_they_are_taken_in, 0, COUNT(halos));
	tcase_add_loop_test(c, sums_have_every_contribution_once, 0, COUNT(sums));
	tcase_add_test(c, double_counting_is_found);
	tcase_add_loop_test(c, unfinished_sums_are_not_exchanged, 0, 3);
	suite_add_tcase(suite, c);
	return suite;
}
