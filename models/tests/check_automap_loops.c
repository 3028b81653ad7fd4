/* Programs with loops and branches, and with shardings that their texts give. */
#include "automap/given.h"
#include "tests/automap_help.h"
#include "tests/program_help.h"
#include "tests/tests.h"

#include <check.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* x times w, so many turns in a loop. */
static const char *loop(int trips)
{
	return arena_printf(
		arena,
		"HloModule m\n"
		"body {\n%%t = (s32[], f32[64,64], f32[64,64]) parameter(0)\n"
		"%%i = s32[] get-tuple-element(%%t), index=0\n"
		"%%x = f32[64,64] get-tuple-element(%%t), index=1\n"
		"%%w = f32[64,64] get-tuple-element(%%t), index=2\n"
		"%%one = s32[] constant(1)\n%%j = s32[] add(%%i, %%one)\n"
		"%%y = f32[64,64] dot(%%x, %%w), lhs_contracting_dims={1}, "
		"rhs_contracting_dims={0}\n"
		"ROOT %%r = (s32[], f32[64,64], f32[64,64]) tuple(%%j, %%y, %%w)\n}\n"
		"cond {\n%%t = (s32[], f32[64,64], f32[64,64]) parameter(0)\n"
		"%%i = s32[] get-tuple-element(%%t), index=0\n"
		"%%n = s32[] constant(%d)\n"
		"ROOT %%c = pred[] compare(%%i, %%n), direction=LT\n}\n"
		"ENTRY e {\n%%x = f32[64,64] parameter(0)\n%%w = f32[64,64] "
		"parameter(1)\n"
		"%%z = s32[] constant(0)\n"
		"%%t = (s32[], f32[64,64], f32[64,64]) tuple(%%z, %%x, %%w)\n"
		"%%l = (s32[], f32[64,64], f32[64,64]) while(%%t), condition=cond, "
		"body=body\n"
		"ROOT %%y = f32[64,64] get-tuple-element(%%l), index=1\n}\n",
		trips);
}

/* The same without a loop. */
static const char *unrolled(int trips)
{
	struct text t = {0};

	text_printf(&t, "HloModule m\nENTRY e {\n%%x = f32[64,64] parameter(0)\n"
	                "%%w = f32[64,64] parameter(1)\n");
	for (int i = 1; i <= trips; i++) {
		text_printf(&t, "%s%%x%d = f32[64,64] dot(%%x",
		            i == trips ? "ROOT " : "", i);
		if (i > 1)
			text_printf(&t, "%d", i - 1);
		text_printf(&t, ", %%w), lhs_contracting_dims={1}, "
		                "rhs_contracting_dims={0}\n");
	}
	text_printf(&t, "}\n");
	return text_take(&t, arena);
}

static struct evaluation priced(const char *text, const char *name)
{
	static struct plain_machine machine = {{100e9}, 1e-6, 100e12, 1e12, {4}};
	const struct graph *g = automap_graph(arena, text, false);
	struct cutting *c = automap_cutting(arena, g, 1, machine.size);
	struct cut_prices prices = automap_tariff(&machine);
	struct evaluator e;

	automap_cut(c, name, 0, 0);
	evaluator_start(&e, arena, g, &prices);
	return evaluate(&e, c);
}

/*
 * A loop costs what as many copies of its body do. With the rows of x cut nothing moves. With those
 * of w every product is summed over, and scattered, as x is cut by columns; the last one, too, which
 * the loop hands on as all others and which the copies leave whole.
 */
START_TEST(a_loop_is_its_turns)
{
	static const struct {
		const char *name;
		double scatter;
	} of[] = {{"x", 0}, {"w", 5}};
	struct evaluation a = priced(loop(5), of[_i].name);
	struct evaluation b = priced(unrolled(5), of[_i].name);

	ck_assert_double_eq(a.count[COUNT_SCATTER], of[_i].scatter);
	ck_assert_double_eq(a.count[COUNT_REDUCE] + a.count[COUNT_GATHER], 0);
	ck_assert_double_eq(b.count[COUNT_SCATTER] + b.count[COUNT_REDUCE],
	                    of[_i].scatter);
	ck_assert_double_eq_tol(a.compute_s, b.compute_s, 1e-12);
	ck_assert_double_eq_tol(priced(loop(1), of[_i].name).compute_s * 5, a.compute_s,
	                        1e-12);
}
END_TEST

/* A loop without turns is nothing. */
START_TEST(no_turns_are_nothing)
{
	ck_assert_double_eq(priced(loop(0), "x").compute_s, 0);
}
END_TEST

/* Of branches the costliest one runs: the one with a product of 2 x 64^3 flops. */
START_TEST(the_costliest_branch_runs)
{
	const char *text =
		"HloModule m\n"
		"small {\n%x = f32[64,64] parameter(0)\n"
		"ROOT %y = f32[64,64] negate(%x)\n}\n"
		"large {\n%x = f32[64,64] parameter(0)\n"
		"ROOT %y = f32[64,64] dot(%x, %x), lhs_contracting_dims={1}, "
		"rhs_contracting_dims={0}\n}\n"
		"ENTRY e {\n%p = s32[] parameter(0)\n%a = f32[64,64] parameter(1)\n"
		"%b = f32[64,64] parameter(2)\n"
		"ROOT %r = f32[64,64] conditional(%p, %a, %b), "
		"branch_computations={small, large}\n}\n";
	const struct graph *g = automap_graph(arena, text, false);
	struct cutting *c = automap_cutting(arena, g, 1, (const int32_t[]){4});

	ck_assert_int_eq(g->kernel.n, 1);
	ck_assert_double_eq(g->kernel.at[0].ask.flops, 2. * 64 * 64 * 64);
	automap_cut(c, "b", 0, 0);
	ck_assert_int_eq(cuts_at(&c->value[g->op.at[0].first_tensor], 0), -1);
	ck_assert_str_eq(automap_counts(arena, c), "1 0 0 0");
}
END_TEST

static const char *counts_as_given(const char *file, const int32_t *size)
{
	struct program *p = arena_alloc(arena, 1, sizeof(*p));
	struct shardings s;
	struct graph *g = arena_alloc(arena, 1, sizeof(*g));
	struct error e = {0};
	const int axis[] = {0, 1};
	struct cutting *c;
	int lost = -1;

	*p = program_sample(arena, file);
	shardings_start(&s, arena, p);
	ck_assert(shardings_read(&s, arena, p, &e) == OK);
	ck_assert(graph_make(g, arena, p, true, NULL, 0, &e) == OK);
	c = automap_cutting(arena, g, s.mesh.naxes, size);
	ck_assert_int_gt(given_cut(c, &s, axis, &lost), 0);
	ck_assert_int_eq(lost, 0);
	return automap_counts(arena, c);
}

/*
 * What texts give is cut so. Four layers in two loops: each of two weights is gathered in either
 * loop, each gradient scattered (fsdp-loop.mlir). Two layers (mlp-sharded.mlir): two gradients and
 * the loss are summed over the batch, and the second product over the model's axis.
 */
START_TEST(texts_give_shardings)
{
	ck_assert_str_eq(counts_as_given("fsdp-loop.mlir", (const int32_t[]){8}),
	                 "16 0 8 0");
	ck_assert_str_eq(counts_as_given("mlp-sharded.mlir", (const int32_t[]){4, 2}),
	                 "0 4 0 0");
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap loops");
	TCase *t = tcase_create("loops");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_loop_is_its_turns, 0, 2);
	tcase_add_test(t, no_turns_are_nothing);
	tcase_add_test(t, the_costliest_branch_runs);
	tcase_add_test(t, texts_give_shardings);
	suite_add_tcase(s, t);
	return s;
}
