/* Programs of XLA's rules for uneven shapes, run element by element (xla_sim.h). */
#include "tests/tests.h"
#include "xla_sim.h"
#include "xla_text.h"

#include "base/rng.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static bool is_lossy(const struct xla *x)
{
	for (int k = 0; k < x->nops; k++)
		if (x->op[k].lossy)
			return true;
	return false;
}

/* --- programs worked by hand --- */

/* clang-format off */
static const struct {
	const struct xla_mode *mode;
	const char *devices, *array, *from, *to, *program;
} program_table[] = {
	/* Tiles of 3 rows become ones of 4, later ones of 4 rows 3. */
	{&xla_mode_today, "8", "5,5", "[2,4]", "[4,2]",
	 "send 0:[0,1) (4,0)(5,1)(6,2)(7,3); window 4,2; "
	 "swap 1>0:2 {0,1}{2,3}{4,5}{6,7}; "
	 "send 1:[3,4) (0,2)(1,3)(4,6)(5,7); window 2,3; "
	 "permute (0,0)(2,1)(1,2)(3,3)(4,4)(6,5)(5,6)(7,7)"},
	/* row 3 of 6 moves to the first of two tiles of 4; the same in 2021 */
	{&xla_mode_today, "4", "6,3", "[2,1,2] r", "[4,1]",
	 "send 0:[0,1) (2,0)(3,1); window 4,3; slice 0:2 0101"},
	{&xla_mode_2021, "4", "6,3", "[2,1,2] r", "[4,1]",
	 "send 0:[0,1) (2,0)(3,1); window 4,3; slice 0:2 0101"},
	/* tiles 2 and 3 of four shift left by one row, so that two make three rows */
	{&xla_mode_today, "8", "6,3", "[4,1,2] r", "[2,1,4] r",
	 "send 0:[1,2) (2,4)(4,6)(3,5)(5,7); window 2,3; "
	 "gather 0:2 {0,2}{1,3}{4,6}{5,7}; window 3,3"},
	/* in 2021 everybody sends one row to the right */
	{&xla_mode_2021, "8", "6,3", "[4,1,2] r", "[2,1,4] r",
	 "send 0:[1,2) (0,2)(1,3)(2,4)(3,5)(4,6)(5,7); window 2,3; "
	 "gather 0:2 {0,2}{1,3}{4,6}{5,7}; window 3,3"},
	/* two rows on four devices: summed today, gathered with padding in 2021 */
	{&xla_mode_today, "4", "2,5", "[4,1]", "[1,1,4] r", "sum 0:4 {0,1,2,3}"},
	{&xla_mode_2021, "4", "2,5", "[4,1]", "[1,1,4] r",
	 "gather 0:4 {0,1,2,3}; window 2,5"},
	/* Of 3 rows in tiles of 2 the second goes whole, its row of padding included. */
	{&xla_mode_today, "8", "3", "[2,4] r", "[8]",
	 "send 0:[0,2) (4,0)(5,1)(6,2)(7,3); window 4; slice 0:4 01230123"},
	/* Of 7 in tiles of 2, where windows 0 and 1 of 4 take one and two tiles. */
	{&xla_mode_today, "16", "7", "[4,4] r", "[16]",
	 "send 0:[0,2) (4,0)(8,4)(5,1)(9,5)(6,2)(10,6)(7,3)(11,7); "
	 "send 0:[0,2) (12,4)(13,5)(14,6)(15,7); window 4; "
	 "slice 0:4 0123012301230123"},
	/* A tile of 1 row grows to 4: the rows beyond the second tile are zeros. */
	{&xla_mode_today, "16", "1,16", "[2,8]", "[8,2]<=[2,2,4]T(0,2,1)",
	 "send 0:[0,1) (8,0)(9,1)(10,2)(11,3)(12,4)(13,5)(14,6)(15,7); window 4,2; "
	 "swap 1>0:4 {0,1,2,3}{4,5,6,7}{8,9,10,11}{12,13,14,15}"},
	/* three rows on four: gathered */
	{&xla_mode_today, "4", "3,5", "[4,1]", "[1,1,4] r",
	 "gather 0:4 {0,1,2,3}; window 3,5"},
};
/* clang-format on */

START_TEST(programs)
{
	struct mesh m = mesh_of(program_table[_i].devices);
	struct array array = array_of(program_table[_i].array);
	struct layout from = layout_from(program_table[_i].from, &m, arena);
	struct layout to = layout_from(program_table[_i].to, &m, arena);
	struct xla x = program_of(program_table[_i].mode, &array, &from, &to, &m, arena);

	ck_assert_str_eq(program_text(&x), program_table[_i].program);
	xla_simulate(&x, &array.shape, layout_tiling(&from, &m, arena),
	             layout_tiling(&to, &m, arena));
}
END_TEST

/* Halos beyond two tiles: only what is needed, or all of the dimension. */
static const struct {
	const char *devices, *array, *from, *to;
	enum op how; /* in rewindowing */
} far_table[] = {
	{"16", "8,2", "[2,8]", "[8,2]", OP_PERMUTE},
	{"64", "16,4", "[4,16]", "[16,4]", OP_PERMUTE},
	{"64", "16,7", "[4,16]", "[16,4]", OP_PERMUTE},
	{"64", "2,16", "[4,16]", "[16,4]", OP_ALL_REDUCE},
};

START_TEST(far_halos)
{
	struct mesh m = mesh_of(far_table[_i].devices);
	struct array array = array_of(far_table[_i].array);
	struct layout from = layout_from(far_table[_i].from, &m, arena);
	struct layout to = layout_from(far_table[_i].to, &m, arena);
	struct xla x = program_of(&xla_mode_today, &array, &from, &to, &m, arena);
	bool found = false;

	xla_simulate(&x, &array.shape, layout_tiling(&from, &m, arena),
	             layout_tiling(&to, &m, arena));
	for (int k = 0; k < x.nops; k++)
		found |= x.op[k].op == far_table[_i].how &&
		         (x.op[k].part || far_table[_i].how != OP_PERMUTE);
	ck_assert(found);
}
END_TEST

/* Any shapes, both dates: what is not said to lose data does not. */
START_TEST(random_shapes)
{
	const struct xla_mode *modes[] = {&xla_mode_2021, &xla_mode_today};
	struct rng *rng = rng_new(20260822u + (unsigned)_i);
	int sends = 0, sums = 0, lossy = 0;

	for (int i = 0; i < 800; i++) {
		int rank = 1 + (int)rng_below(rng, 3);
		int32_t n = 2 + (int32_t)rng_below(rng, 15);
		struct shape shape = {.rank = rank};
		const struct tiling *s = random_tiling(rng, rank, n, i % 4 == 0, arena);
		const struct tiling *t =
			i % 2 ? rotated_tiling(rng, s, arena)
			      : random_tiling(rng, rank, n, i % 8 == 0, arena);
		struct xla x = xla_start(modes[_i], &shape, n, arena);

		for (int d = 0; d < rank; d++)
			shape.dim[d] = 1 + (int)rng_below(rng, rank == 3 ? 9 : 19);
		x = xla_start(modes[_i], &shape, n, arena);
		x.uneven = true;
		ck_assert(xla_reshard(&x, s, t));
		if (is_lossy(&x))
			lossy++;
		else
			xla_simulate(&x, &shape, s, t);
		for (int k = 0; k < x.nops; k++) {
			sends += x.op[k].part;
			sums += x.op[k].op == OP_ALL_REDUCE;
		}
		arena_reset(arena);
	}
	rng_free(rng);
	ck_assert_int_gt(sends, 25);
	ck_assert_int_gt(sums, 5);
	ck_assert_int_eq(lossy > 0, modes[_i] == &xla_mode_2021);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("xla_uneven");
	TCase *tc = tcase_create("xla_uneven");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, programs, 0, COUNT(program_table));
	tcase_add_loop_test(tc, far_halos, 0, COUNT(far_table));
	tcase_add_loop_test(tc, random_shapes, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
