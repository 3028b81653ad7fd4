/* XLA's propagation of programs, worked out by hand from its levels. */
#include "tests/program_help.h"
#include "tests/propagate_help.h"
#include "tests/tests.h"

#include <check.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

#define HAS(r, name, text) ck_assert_str_eq(propagated_of(&(r), name), text)

/* Programs stand as they are read. */
/* clang-format off */
#define SUM                                                                           \
	"sum {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n"                  \
	" ROOT s = f32[] add(p, q)\n}\n"
#define HLO(args, body)                                                               \
	"HloModule m, num_partitions=8\n" SUM "ENTRY e {\n" args body "}\n"
#define X(text) ", sharding={" text "}\n"

/* How many ways a dimension of the first value of an op is split. */
static int axes_of(const struct propagated *r, const char *name, int dim)
{
	struct layout l = propagated_layout(r, name);

	return (int)layout_shards(&l, dim);
}

static struct propagated run_xla(const char *text)
{
	return propagated(arena, text, PROPAGATION_XLA);
}

/*
 * Whole shardings go on: an op that works element by element takes at level 0 that of its most
 * sharded operand alone, though the other one's would fit beside it; a finer one replaces it, and
 * what is given stays. Rows over 2 and 4 devices continue each other.
 */
START_TEST(elementwise)
{
	struct propagated r = run_xla(HLO(
		" a = f32[8,8] parameter(0)" X("devices=[4,1,2]<=[8] last_tile_dim_replicate")
		" b = f32[8,8] parameter(1)" X("devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate")
		" c = f32[8,8] parameter(2)" X("devices=[2,1,4]<=[8] last_tile_dim_replicate"),
		" d = f32[8,8] add(a, b)\n"
		" e = f32[8,8] negate(d)\n"
		" f = f32[8,8] add(a, c)\n"
		" ROOT t = (f32[8,8], f32[8,8]) tuple(e, f)\n"));

	HAS(r, "d", propagated_of(&r, "e"));
	/* At level 1 b's columns come beside a's rows. */
	ck_assert_int_eq(axes_of(&r, "d", 0), 4);
	ck_assert_int_eq(axes_of(&r, "d", 1), 2);
	ck_assert_int_eq(axes_of(&r, "f", 0), 4);
	ck_assert_int_eq(axes_of(&r, "c", 0), 2);
	ck_assert_int_eq(axes_of(&r, "b", 0), 1);
}
END_TEST

/*
 * A matmul that both operands have something to say of that does not fit: rows of the left over
 * all devices, columns of the right. The larger one goes first, unless the result's only user
 * has its way. What is summed over is replicated.
 */
START_TEST(matmul)
{
#define LEFT " a = f32[8,64] parameter(0)" X("devices=[8,1]<=[8]")
#define RIGHT " b = f32[64,16] parameter(1)" X("devices=[1,8]<=[8]")
#define DOT " d = f32[8,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	struct propagated r = run_xla(HLO(LEFT RIGHT, DOT " ROOT e = f32[8,16] negate(d)\n"));

	ck_assert_int_eq(axes_of(&r, "d", 0), 1);
	ck_assert_int_eq(axes_of(&r, "d", 1), 8);
	ck_assert_int_eq(axes_of(&r, "e", 1), 8);
	r = run_xla(HLO(LEFT RIGHT, DOT " ROOT e = f32[8,16] rsqrt(d)" X("devices=[8,1]<=[8]")));
	ck_assert_int_eq(axes_of(&r, "d", 0), 8);
	ck_assert_int_eq(axes_of(&r, "d", 1), 1);
	/* Both fit: rows over 2, columns over 4. */
	r = run_xla(HLO(" a = f32[8,64] parameter(0)" X("devices=[2,1,4]<=[8] last_tile_dim_replicate")
	                " b = f32[64,16] parameter(1)" X("devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate"),
	                " ROOT d = f32[8,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"));
	ck_assert_int_eq(axes_of(&r, "d", 0), 2);
	ck_assert_int_eq(axes_of(&r, "d", 1), 4);
	/* Summed over: only the other operand takes it. */
	r = run_xla(HLO(" a = f32[8,64] parameter(0)" X("devices=[1,8]<=[8]")
	                " b = f32[64,16] parameter(1)\n",
	                " ROOT d = f32[8,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"));
	ck_assert_int_eq(axes_of(&r, "d", 0), 1);
	ck_assert_int_eq(axes_of(&r, "d", 1), 1);
	ck_assert_int_eq(axes_of(&r, "b", 0), 8);
}
END_TEST

/*
 * A broadcast hands on backward before forward: what a user wants of its result reaches the
 * operand first. Of a reduction the rest is handed on.
 */
START_TEST(levels)
{
	struct propagated r = run_xla(HLO(
		" a = f32[8] parameter(0)\n"
		" b = f32[8,16] parameter(1)" X("devices=[4,2]<=[8]")
		" z = f32[] constant(0)\n",
		" c = f32[8,16] broadcast(a), dimensions={0}\n"
		" d = f32[8,16] add(b, c)\n"
		" f = f32[16] reduce(d, z), dimensions={0}, to_apply=sum\n"
		" ROOT g = f32[16,4] broadcast(f), dimensions={0}\n"));

	HAS(r, "c", propagated_of(&r, "b"));
	ck_assert_int_eq(axes_of(&r, "a", 0), 4);
	ck_assert_int_eq(axes_of(&r, "f", 0), 2);
	ck_assert_int_eq(axes_of(&r, "g", 0), 2);
	ck_assert_int_eq(axes_of(&r, "g", 1), 1);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("propagate as XLA");
	TCase *t = tcase_create("programs");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, elementwise);
	tcase_add_test(t, matmul);
	tcase_add_test(t, levels);
	suite_add_tcase(s, t);
	return s;
}
