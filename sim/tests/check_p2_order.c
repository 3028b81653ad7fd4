#include "placement/search.h"
#include "tests/placement_help.h"
#include "tests/tests.h"
#include "validate/p2.h"

#include <check.h>

#include <stdlib.h>

/* Level order against row order, over all placements of some devices. */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;
static struct error error;
static struct synth_cache cache;

static void setup(void)
{
	arena = arena_new();
	error = (struct error){0};
	cache = (struct synth_cache){.arena = arena};
}

static void teardown(void)
{
	arena_free(arena);
}

/*
 * Level order never loses. Where the levels of the machine are not all there is, row order
 * may be faster on them: a V100 node is no switch, and of nodes in racks that the one
 * network does not know, pairs of GPUs first is up to 2 % faster than four at once.
 */
struct level_against_row {
	int64_t cases, better, split;
};

static void never_loses(void *self, const struct placed_case *c)
{
	struct level_against_row *seen = self;
	const struct p2_system *p2 = p2_system_of(&c->hierarchy);
	struct reduction_clock clock = {p2_clock, (void *)p2};
	struct placement_case asked = {
		.hierarchy = c->hierarchy,
		.axes = c->axes,
		.reduce = c->reduce,
		.limit = PROGRAM_STEPS,
		.orders = 3,
		.payload_bytes = PLACEMENT_PAYLOAD_BYTES,
	};
	struct placed p;

	if (!p2 || !(c->reduce & (c->reduce - 1)) || c->axes.naxes > 4)
		return;
	ck_assert_int_eq(placement_of(&p, &c->matrix, &cache, &asked, &clock, &error),
	                 OK);
	if (p.order_s[ORDER_LEVEL] > p.order_s[ORDER_ROW] * (1 + 1e-12)) {
		struct text t = {0};

		hierarchy_print(&t, &c->hierarchy);
		matrix_print(&t, &c->matrix);
		ck_abort_msg("%s reduce %x: %g against %g", text_take(&t, arena),
		             c->reduce, p.order_s[ORDER_LEVEL], p.order_s[ORDER_ROW]);
	}
	ck_assert(!p.row_taken);
	seen->better += p.order_s[ORDER_LEVEL] < p.order_s[ORDER_ROW] * (1 - 1e-9);
	seen->cases++;
	asked.orders = 1u << ORDER_LEVEL;
	if (c->hierarchy.ndevices != 32)
		return;
	ck_assert_int_eq(placement_of(&p, &c->matrix, &cache, &asked, &clock, &error),
	                 OK);
	seen->split += p.split;
	if (p.split) {
		struct text why = {0};
		struct reduction r;
		struct space space;

		placed_space(&space, arena, &asked, &p);
		reduction_of(&r, arena, &space, &p.best);
		ck_assert_msg(reduction_check(&r, &c->matrix, c->reduce, &why), "%s",
		              why.s);
	}
}

static const int32_t never_devices[] = {16, 24, 32, 48, 64};

START_TEST(level_order_never_loses)
{
	struct level_against_row seen = {0};

	each_placement(never_devices[_i], never_loses, &seen);
	ck_assert_int_gt(seen.cases, 20);
	ck_assert_int_gt(seen.better, 0);
	ck_assert_int_eq(seen.split, never_devices[_i] == 32 ? 4 : 0);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("p2_order");
	TCase *t = tcase_create("p2_order");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, level_order_never_loses, 0, COUNT(never_devices));
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return s;
}
