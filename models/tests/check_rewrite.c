/*
 * Rewriting to normal form: on thousands of random instances it ends, has the shape of
 * a valley and keeps the memory bound (models/README.md, "Normal form"), and its plans
 * prove right.
 */
#include "planner_case.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "planner/synth/rewrite.h"

#include <check.h>
#include <string.h>

enum { RANDOM_CASES = 12000, REWRITES_MAX = 2000 };

static enum answer run(struct plan **out, const struct problem *p, struct arena *a)
{
	struct text why = {0};
	enum answer answer = planner_run(planner_find("synth-rewrite", 13), out, p,
	                                 &prices_bytes, a, &why);

	text_free(&why);
	return answer;
}

/* Elements of a tile of the type, by hand: extents over sizes. */
static int64_t tile(const struct problem *p, const struct type *t)
{
	int64_t elements = shape_elements(&p->padded);

	for (int k = type_first(t, t->rank) - 1; k >= 0; k--)
		elements /= p->atoms.atom[t->atom[k]].size;
	return elements;
}

static bool is_flat(const struct rewrite_op *op)
{
	return op->kind != REWRITE_G && op->kind != REWRITE_S;
}

static void check_valley(const struct rewriting *w, const struct problem *p)
{
	int k = 0;
	int64_t from = tile(p, &w->type[0]), to = tile(p, &w->type[w->n]);

	while (k < w->n && w->op[k].kind == REWRITE_S)
		k++;
	while (k < w->n && is_flat(&w->op[k]))
		k++;
	while (k < w->n && w->op[k].kind == REWRITE_G)
		k++;
	ck_assert_int_eq(k, w->n);
	for (k = 0; k <= w->n; k++)
		ck_assert_int_le(tile(p, &w->type[k]), from > to ? from : to);
	for (k = 0; k < w->n; k++)
		ck_assert(rewrite_op_fits(w->s, &w->type[k], w->op[k]));
}

/* A mesh of one to five prime axes and at most 120 devices. */
static struct mesh random_mesh(struct rng *r, struct arena *a)
{
	static const int primes[] = {2, 3, 2, 5, 2, 3};
	int sizes[8] = {0}, devices = 1, n = 1 + (int)rng_below(r, 5);

	for (int i = 0; i < n; i++) {
		sizes[i] = primes[rng_below(r, 6)];
		devices *= sizes[i];
		if (devices > 120)
			sizes[i] = 0;
		if (sizes[i] == 0)
			break;
	}
	return case_mesh(a, sizes);
}

static void run_random(struct rng *r, struct arena *a)
{
	struct mesh mesh = random_mesh(r, a);
	struct atoms atoms = case_atoms(&mesh);
	struct shape extent = {.rank = 1 + (int)rng_below(r, 4)};
	struct type from, to;
	struct problem *p;
	struct synth s;
	struct rewriting w;
	struct text why = {0};
	struct plan *plan;

	/* Some extents run out of factors, so that slices and moves meet l = 1. */
	for (int dim = 0; dim < extent.rank; dim++) {
		extent.dim[dim] = rng_below(r, 2) ? mesh.ndevices : 1;
		for (int i = 0; i < atoms.n; i++)
			if (rng_below(r, 2))
				extent.dim[dim] *= atoms.atom[i].size;
	}
	if (shape_elements(&extent) > 2000000)
		return;
	from = case_random_type(r, &atoms, &extent, 30 + rng_below(r, 70));
	to = case_random_type(r, &atoms, &extent, 30 + rng_below(r, 70));
	p = case_of_types(a, &mesh, &extent, &from, &to);
	ck_assert(synth_begin(&s, p, &prices_bytes, a, &why));
	w = rewriting_easy(&s);
	ck_assert_int_le(rewriting_run(&w), REWRITES_MAX);
	ck_assert(type_equal(&w.type[w.n], &s.to));
	check_valley(&w, p);
	ck_assert_int_eq(rewriting_run(&w), 0);
	rewriting_free(&w);
	ck_assert_int_eq(run(&plan, p, a), ANSWER_PLAN);
	ck_assert_msg(plan_check(plan, &why), "%s: %s", case_describe(a, p), why.s);
	ck_assert_int_le(plan->peak_array_bytes, p->memory_bound_bytes);
	ck_assert_int_ge(plan->recv_bytes, p->recv_bound_bytes);
	text_free(&why);
}

START_TEST(test_random)
{
	struct rng *r = rng_new(17 + (uint64_t)_i);
	struct arena *a = arena_new();

	for (int i = 0; i < RANDOM_CASES / 4; i++) {
		run_random(r, a);
		arena_reset(a);
	}
	arena_free(a);
	rng_free(r);
}
END_TEST

struct example {
	const char *mesh, *array, *from, *to;
	const char *ops;
	int64_t recv_elements, peak_elements;
};

static const struct example examples[] = {
	/* Slice y, permute {x,y} -> {y,x}, gather x; tiles 3, 1, 1, 2. */
	{"x=2,y=3", "f32[6]", "P('x')", "P('y')", "slice permute all-gather", 2, 3},
	/* Why primes: x is split, one digit is permuted away, one gathered. */
	{"x=4,y=2", "f32[4]", "P('x')", "P('y')", "permute all-gather", 2, 2},
	{"x=2,y=2", "f32[8,8]", "P('x', None)", "P(None, 'x')", "all-to-all", 16, 32},
	/* Sizes 3 and 5 cannot swap: x over (10), to the bottom (15), y over (12). */
	{"x=3,y=5", "f32[15,15]", "P('x', 'y')", "P('y', 'x')",
         "all-to-all permute all-to-all", 37, 15},
	{"x=2,y=2", "f32[8,8]", "P('x', 'y')", "P('y', 'x')", "permute", 16, 16},
	{"x=2,y=2", "f32[8,8]", "P(None, None)", "P('y', 'x')", "slice", 0, 64},
	{"x=2,y=2", "f32[8,8]", "P('x', 'y')", "P(None, None)", "all-gather", 48, 64},
	{"x=2,y=3", "f32[6]", "P('x')", "P('x')", "", 0, 3},
};

START_TEST(test_examples)
{
	const struct example *x = &examples[_i];
	struct arena *a = arena_new();
	struct problem *p = case_of_texts(a, x->mesh, x->array, x->from, x->to);
	struct plan *plan;
	struct text ops = {0}, why = {0};

	ck_assert_int_eq(run(&plan, p, a), ANSWER_PLAN);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	for (int i = 0; i < plan->nsteps; i++)
		text_printf(&ops, "%s%s", i ? " " : "", op_name(plan->step[i].op));
	ck_assert_str_eq(text_take(&ops, a), x->ops);
	ck_assert_int_eq(plan->recv_bytes, 4 * x->recv_elements);
	ck_assert_int_eq(plan->peak_array_bytes, 4 * x->peak_elements);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("rewrite");
	TCase *tcase = tcase_create("rewrite");

	tcase_set_timeout(tcase, 200);
	tcase_add_loop_test(tcase, test_examples, 0,
	                    sizeof(examples) / sizeof(examples[0]));
	tcase_add_loop_test(tcase, test_random, 0, 4);
	suite_add_tcase(suite, tcase);
	return suite;
}
