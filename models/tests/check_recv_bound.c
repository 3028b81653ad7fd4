/*
 * The receive bound of unreduced arrays: worked out by hand, counted element by element,
 * and kept by every plan of up to three steps between any two layouts of small meshes.
 */
#include "plan/check.h"
#include "plan/plan.h"
#include "plan/plan_text.h"
#include "planner_case.h"
#include "tests/tests.h"

#include <check.h>

#include <stdio.h>
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

/* --- by hand ----------------------------------------------------------------------- */

static const struct {
	const char *mesh, *array, *from, *to;
	int64_t recv_bytes;
} cases[] = {
	/* Each pair along x holds two of four contributions: 8 elements must come to it. */
	{"x=2,y=2", "f32[8]", "P(unreduced={'x','y'})", "P(unreduced={'x'})", 4 * 4},
	{"x=2,y=2", "f32[8]", "P(unreduced={'x','y'})", "P(unreduced={'x','y'})", 0},
	/* Both contributions to half the array are there, the other half is not. */
	{"x=2,y=2", "f32[8]", "P('x',unreduced={'y'})", "P(unreduced={'y'})", 2 * 4},
	/* An odd number of elements over two devices: one receives two. */
	{"x=3,y=2", "s8[3]", "P('x',unreduced={'y'})", "P(unreduced={'y'})", 1},
	{"x=3,y=2", "s8[9]", "P('x',unreduced={'y'})", "P(unreduced={'y'})", 3},
	/* What one has the others need not: their contributions are zeros. */
	{"x=2,y=2", "f32[8]", "P()", "P(unreduced={'x'})", 0},
	{"x=2,y=2", "f32[8]", "P('x')", "P(unreduced={'x'})", 0},
	{"x=2,y=2", "f32[8]", "P('y')", "P(unreduced={'x'})", 2 * 4},
	/* Sums: all that is wanted. */
	{"x=2,y=2", "f32[8]", "P(unreduced={'x'})", "P('x')", 4 * 4},
	{"x=2,y=2", "f32[8]", "P(unreduced={'x'})", "P()", 8 * 4},
	/* Three of six contributions, for six elements, at three devices. */
	{"x=6", "f32[6]", "P(unreduced={'x'})", "[{}],unreduced={\"x\":(1)3}", 2 * 4},
	/* Devices 0, 2 and 4 hold both halves' sums, 1, 3 and 5 too. */
	{"x=6", "f32[6]", "[{}],unreduced={\"x\":(1)2}", "[{}],unreduced={\"x\":(1)3}",
         0},
};

START_TEST(bounds_are_as_worked_out)
{
	struct problem *p = case_of_texts(memory, cases[_i].mesh, cases[_i].array,
	                                  cases[_i].from, cases[_i].to);

	ck_assert_int_eq(p->recv_bound_bytes, cases[_i].recv_bytes);
}
END_TEST

/* --- all short plans --------------------------------------------------------------- */

/* A mesh axis or half of one, and where it may be: a dimension, the sums, or unused. */
struct walk {
	struct plan *plan;
	struct problem problem;
	const struct part *part;
	int nparts;
	int64_t plans, tight;
};

static bool has_part(const struct layout *l, int dim, struct part p)
{
	struct part list[LAYOUT_PARTS_MAX];
	int n;
	const struct part *part = layout_parts(l, dim, &n);

	memcpy(list, part, (size_t)n * sizeof(*part));
	return parts_take(list, &n, p);
}

/* The minor-most part of a dimension, or the end of it. */
static bool is_last(const struct layout *l, int dim, struct part p)
{
	int n;
	const struct part *part = layout_parts(l, dim, &n), *last = part + n - 1;

	return n > 0 && last->axis == p.axis &&
	       last->pre * last->size == p.pre * p.size && last->size % p.size == 0;
}

/* Every legal step that moves one part. */
static bool step_is_legal(const struct plan *p, enum op op, const struct move *m)
{
	const struct layout *l = plan_layout(p);
	struct shape local = plan_local(p);
	struct part part = m->parts[0];
	bool sums = has_part(l, l->rank, part), used = sums;

	for (int dim = 0; dim < l->rank; dim++)
		used = used || has_part(l, dim, part);
	if (m->to_dim >= 0 && local.dim[m->to_dim] % part.size != 0)
		return false;
	switch (op) {
	case OP_SLICE:
	case OP_PARTIAL:
		return !used;
	case OP_ALL_GATHER:
	case OP_ALL_TO_ALL:
		return is_last(l, m->from_dim, part) && m->from_dim != m->to_dim;
	default:
		return sums;
	}
}

static void visit(struct walk *w, int depth)
{
	struct plan *p = w->plan;
	int n = p->nsteps;

	w->problem.to = *plan_layout(p);
	problem_finish(&w->problem);
	p->to = w->problem.to;
	plan_finish(p);
	if (p->recv_bytes < w->problem.recv_bound_bytes) {
		struct text t = {0};

		plan_print(&t, p);
		ck_abort_msg("%s: %lld under %lld\n%s",
		             case_describe(memory, &w->problem),
		             (long long)p->recv_bytes,
		             (long long)w->problem.recv_bound_bytes, t.s);
	}
	w->plans++;
	w->tight += p->recv_bytes == w->problem.recv_bound_bytes && p->recv_bytes > 0;
	for (enum op op = 0; op < OPS && depth > 0; op++) {
		bool from = op == OP_ALL_GATHER || op == OP_ALL_TO_ALL;
		bool to = op == OP_SLICE || op == OP_ALL_TO_ALL ||
		          op == OP_REDUCE_SCATTER;
		int rank = p->shape.rank;

		if (op == OP_PERMUTE || op == OP_EXCHANGE || op == OP_PAD)
			continue;
		for (int k = 0; k < w->nparts * rank * rank; k++) {
			struct move m = {.from_dim = from ? k % rank : -1,
			                 .to_dim = to ? k / rank % rank : -1,
			                 .factor = w->part[k / rank / rank].size,
			                 .nparts = 1,
			                 .parts = &w->part[k / rank / rank]};

			if ((!from && k % rank) || (!to && k / rank % rank) ||
			    !step_is_legal(p, op, &m))
				continue;
			plan_axes_step(p, op, &m, 1);
			visit(w, depth - 1);
			p->nsteps = n;
		}
	}
}

/* Start from every layout of single parts, in any order of them in a dimension. */
static void start_everywhere(struct walk *w, struct layout l, unsigned left)
{
	struct problem *p = &w->problem;

	p->from = p->to = l;
	problem_finish(p);
	w->plan = plan_new(memory, p, "any");
	visit(w, 3);
	for (int k = 0; k < w->nparts; k++)
		for (int dim = 0; dim <= l.rank && (left >> k & 1); dim++) {
			struct layout more = l;

			layout_append(&more, dim, w->part[k]);
			start_everywhere(w, more, left & ~(1u << k));
		}
}

static const struct {
	const char *mesh, *array;
	int nparts;
	struct part part[3];
} meshes[] = {
	{"x=2,y=3", "s8[36]", 2, {{0, 1, 2}, {1, 1, 3}}},
	{"x=2,y=2", "s8[8,4]", 2, {{0, 1, 2}, {1, 1, 2}}},
	{"x=6", "s8[36]", 2, {{0, 1, 2}, {0, 2, 3}}},
	{"x=6", "s8[36]", 2, {{0, 1, 3}, {0, 3, 2}}},
	{"x=2,y=2,z=2", "s8[32]", 3, {{0, 1, 2}, {1, 1, 2}, {2, 1, 2}}},
};

START_TEST(no_short_plan_receives_less)
{
	struct walk w = {.part = meshes[_i].part, .nparts = meshes[_i].nparts};
	struct problem *p = case_of_texts(memory, meshes[_i].mesh, meshes[_i].array,
	                                  "{replicated}", "{replicated}");

	w.problem = *p;
	start_everywhere(&w, layout_replicated(p->array.shape.rank),
	                 (1u << w.nparts) - 1);
	printf("%s %s: %lld plans, %lld receive just the bound\n", meshes[_i].mesh,
	       meshes[_i].array, (long long)w.plans, (long long)w.tight);
	ck_assert_int_gt(w.plans, 100);
	ck_assert_int_gt(w.tight, 20);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("recv_bound");
	TCase *c = tcase_create("recv_bound");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, bounds_are_as_worked_out, 0,
	                    sizeof(cases) / sizeof(*cases));
	tcase_add_loop_test(c, no_short_plan_receives_less, 0,
	                    sizeof(meshes) / sizeof(*meshes));
	suite_add_tcase(suite, c);
	return suite;
}
