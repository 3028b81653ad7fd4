/*
 * Senders that stand to their receivers as tiles do: what every choice must be, by who holds
 * what; that a mesh which is turned has the same messages; and that `direct` is never dearer
 * for them.
 */
#include "direct_help.h"
#include "planner/send/relative.h"
#include "planner/send/sources.h"
#include "tests/tests.h"

#include "price/price.h"

#include <check.h>

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct device device = {.memory_Bps = 8e11, .launch_s = 5e-6};

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static const struct problem *problem_of(const char *mesh, const char *from,
                                        const char *to)
{
	const struct problem_text t = {
		.array = "f32[64,64]", .mesh = mesh, .from = from, .to = to};
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, arena, &t, &e) == OK, "%s: %s", from, e.text);
	return p;
}

/* The boxes of the plan by bytes, with the tilemap that says who holds what. */
static const struct step *boxes_of(const struct problem *p, struct tilemap *map,
                                   struct holders *holders)
{
	const struct plan *plan = direct_plan(arena, p, &prices_bytes);

	*map = tilemap_make(&p->from, &p->mesh, &p->array.shape, arena);
	*holders = holders_of(map, &p->from, arena);
	ck_assert_int_eq(plan->step[0].op, OP_EXCHANGE);
	return &plan->step[0];
}

/* --- every choice ----------------------------------------------------------------- */

/* Of x=4,y=2,z=8; `copies` are the axes that the source leaves alone. */
static const struct {
	const char *from, *to, *copies;
} cases[] = {
	{"P('x',None)", "P(None,'x')", "yz"},
	{"P('x','y')", "P('y','x')", "z"},
	{"P('z',None)", "P(('x','y'),None)", "xy"},
	{"P(('x','z'),None)", "P(None,'y')", "y"},
	{"P('y',None)", "P(None,('z','x'))", "xz"},
	{"P(None,('y','x'))", "P('z','y')", "z"},
	{"P('y','z')", "P(None,None)", "x"},
};

enum { NCASES = sizeof(cases) / sizeof(*cases) };

static bool same_tile(const struct tilemap *map, int32_t a, int32_t b)
{
	return map->index[a * 2] == map->index[b * 2] &&
	       map->index[a * 2 + 1] == map->index[b * 2 + 1];
}

/* Coordinate of a device on an axis of x=4,y=2,z=8. */
static int32_t at(char axis, int32_t device)
{
	return axis == 'x' ? device / 16 : axis == 'y' ? device / 8 % 2 : device % 8;
}

static bool sends_even_shares(const struct step *s, const int32_t *sender,
                              const struct tilemap *map, int32_t d)
{
	int64_t own = 0, all = 0, largest = 0, holders = 0;

	for (int32_t e = 0; e < 64; e++)
		holders += same_tile(map, d, e);
	for (int64_t i = 0; i < s->ntransfers; i++) {
		int64_t elements = s->transfers[i].elements;

		if (!same_tile(map, sender[i], d))
			continue;
		all += elements;
		own += sender[i] == d ? elements : 0;
		largest = elements > largest ? elements : largest;
	}
	return own * holders <= all + largest * (holders - 1);
}

START_TEST(every_choice_is_of_holders)
{
	const struct problem *p =
		problem_of("x=4,y=2,z=8", cases[_i].from, cases[_i].to);
	struct tilemap map;
	struct holders holders;
	const struct step *s = boxes_of(p, &map, &holders);
	int32_t *sender = arena_alloc(arena, (size_t)s->ntransfers, sizeof(*sender));
	const struct relative *r =
		relative_new(s->transfers, s->ntransfers, &holders, p, arena);
	int good = 0;

	ck_assert_ptr_nonnull(r);
	ck_assert_int_gt(relative_count(r), 1);
	for (int choice = 0; choice < relative_count(r); choice++) {
		bool even = relative_senders(sender, r, choice), wanted = true;

		for (int64_t i = 0; i < s->ntransfers; i++)
			ck_assert(same_tile(&map, sender[i], s->transfers[i].src));
		for (int32_t d = 0; d < 64; d++)
			wanted = wanted && sends_even_shares(s, sender, &map, d);
		ck_assert_int_eq(even, wanted);
		good += even;
		for (const char *c = cases[_i].copies; !choice && *c; c++)
			for (int64_t i = 0; i < s->ntransfers; i++)
				ck_assert_int_eq(at(*c, sender[i]),
				                 at(*c, s->transfers[i].dst));
	}
	ck_assert_int_gt(good, 0);
}
END_TEST

/*
 * On x=4,y=4 the rows of x = i go to the devices of y = i. Were their y also that of the
 * senders only (i, i) would send. With the distance along x the tile goes to (x', i) from
 * (i, i + x' - i), so that every device sends to one.
 */
START_TEST(distances_spread_a_tile)
{
	const struct problem *p = problem_of("x=4,y=4", "P('x',None)", "P('y',None)");
	struct tilemap map;
	struct holders holders;
	const struct step *s = boxes_of(p, &map, &holders);
	const struct relative *r =
		relative_new(s->transfers, s->ntransfers, &holders, p, arena);
	int32_t sender[16];

	ck_assert_int_eq(s->ntransfers, 12);
	ck_assert_int_eq(relative_count(r), 2);
	ck_assert(!relative_senders(sender, r, 0));
	ck_assert(relative_senders(sender, r, 1));
	for (int64_t i = 0; i < s->ntransfers; i++) {
		int32_t x = s->transfers[i].dst / 4, y = s->transfers[i].dst % 4;

		ck_assert_int_eq(sender[i], y * 4 + x);
	}
}
END_TEST

/* Fully sharded arrays and lists of devices leave no choice by coordinates. */
START_TEST(some_have_no_choice)
{
	static const char *const from[] = {
		"P(('x','y'),None)",
		"{devices=[2,1,2]0,3,1,2 last_tile_dim_replicate}"};
	const struct problem *p = problem_of("x=2,y=2", from[_i], "P(None,'x')");
	struct tilemap map;
	struct holders holders;
	const struct step *s = boxes_of(p, &map, &holders);

	ck_assert_ptr_null(relative_new(s->transfers, s->ntransfers, &holders, p, arena));
}
END_TEST

/* --- in plans --------------------------------------------------------------------- */

/* The number of messages of a plan on 4x4x4 that a turn by one along an axis loses. */
static int turned(const struct plan *plan, int axis)
{
	static const int32_t stride[] = {16, 4, 1};
	const struct step *s = &plan->step[0];
	bool *sends = arena_alloc(arena, 64 * 64, sizeof(*sends));
	int lost = 0;

	for (int64_t i = 0; i < s->ntransfers; i++)
		sends[s->transfers[i].src * 64 + s->transfers[i].dst] = true;
	for (int64_t i = 0; i < s->ntransfers; i++) {
		int32_t end[2] = {s->transfers[i].src, s->transfers[i].dst};

		for (int k = 0; k < 2; k++)
			end[k] += end[k] / stride[axis] % 4 == 3 ? -3 * stride[axis]
			                                         : stride[axis];
		lost += !sends[end[0] * 64 + end[1]];
	}
	return lost;
}

/* All pairs of tiles of x and y, in a plane for each z: every turn has the same messages. */
START_TEST(turned_meshes_have_the_same_messages)
{
	const bool wrap[] = {true, true, true};
	struct machine *m =
		machine_torus(arena, 3, (int32_t[]){4, 4, 4}, wrap, ici, device);
	struct pricer *pricer = pricer_new(m, NULL);
	struct prices prices = pricer_prices(pricer);
	const struct plan *plan = direct_plan(
		arena,
		problem_of("x=4,y=4,z=4", "P(('x','y'),None)", "P(None,('x','y'))"),
		_i ? &prices : &prices_bytes);

	ck_assert_int_eq(plan->step[0].ntransfers, 4 * 16 * 15);
	for (int axis = 0; axis < 3; axis++)
		ck_assert_int_eq(turned(plan, axis), 0);
	pricer_free(pricer);
}
END_TEST

/* The price of the exchange whose senders are spread by prices of paths alone. */
static struct price spread_price(const struct problem *p, const struct prices *prices)
{
	struct tilemap map;
	struct holders holders;
	const struct step *s = boxes_of(p, &map, &holders);
	struct transfer *box =
		arena_dup(arena, s->transfers, (size_t)s->ntransfers, sizeof(*box));
	struct plan *plan = plan_new(arena, p, "spread");

	for (int64_t i = 0; i < s->ntransfers; i++)
		box[i].src = holders.tile[box[i].src];
	sources_choose(box, s->ntransfers, &holders, p, prices);
	plan_exchange(plan, &p->to, &p->to_mesh, box, s->ntransfers);
	plan_finish(plan);
	return prices->plan(prices->self, plan);
}

START_TEST(never_dearer_than_spread)
{
	const bool wrap[] = {true, true, true};
	struct machine *m =
		_i ? machine_gpu(arena, 8, 8, ici, ici, device)
		   : machine_torus(arena, 3, (int32_t[]){4, 2, 8}, wrap, ici, device);
	struct pricer *pricer = pricer_new(m, NULL);
	struct prices prices = pricer_prices(pricer);
	int cheaper = 0;

	for (int i = 0; i < NCASES; i++) {
		const struct problem *p =
			problem_of("x=4,y=2,z=8", cases[i].from, cases[i].to);
		struct plan *plan = direct_plan(arena, p, &prices);
		int order = price_compare(prices.plan(prices.self, plan),
		                          spread_price(p, &prices));

		ck_assert_int_le(order, 0);
		cheaper += order < 0;
	}
	ck_assert(_i == 0 || cheaper > 0);
	pricer_free(pricer);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("direct_relative");
	TCase *c = tcase_create("direct_relative");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, every_choice_is_of_holders, 0, NCASES);
	tcase_add_test(c, distances_spread_a_tile);
	tcase_add_loop_test(c, some_have_no_choice, 0, 2);
	tcase_add_loop_test(c, turned_meshes_have_the_same_messages, 0, 2);
	tcase_add_loop_test(c, never_dearer_than_spread, 0, 2);
	suite_add_tcase(suite, c);
	return suite;
}
