#include "bound/bound.h"
#include "tests/tests.h"

#include "bound_machine.h"

#include <check.h>

#include <math.h>

/* Lower bounds: cases worked by hand. */

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct problem *problem_read(struct problem_text *t)
{
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, arena, t, &e) == OK, "%s", e.text);
	return p;
}

static struct problem *problem_of(const char *array, const char *mesh, const char *from,
                                  const char *to)
{
	struct problem_text t = {.array = array, .mesh = mesh, .from = from, .to = to};

	return problem_read(&t);
}

/* A graph: every pair of four devices has a link of its own. */
static int ask_pair(const struct machine *m, int f, int32_t src, int32_t dst,
                    int32_t *links, int capacity)
{
	ck_assert(f == 0 && capacity > 0);
	links[0] = src * m->ndevices + dst;
	return 1;
}

static struct machine *machine_meshed(bool asks)
{
	struct machine *m =
		machine_gpu(arena, 1, 4, bound_nvlink, bound_nic, bound_device);
	struct link *link = arena_alloc(arena, 16, sizeof(*link));

	for (int i = 0; i < 16; i++)
		link[i] = bound_ici;
	m->link = link;
	m->nlinks = 16;
	m->fabric[0].geometry = GEOMETRY_GRAPH;
	m->ask = asks ? ask_pair : NULL;
	return m;
}

static struct machine *torus(int naxes, int32_t x, int32_t y, bool wrap)
{
	return machine_torus(arena, naxes, (int32_t[]){x, y}, (bool[]){wrap, wrap},
	                     bound_ici, bound_device);
}

enum which {
	NODE,
	NODES,
	RING8,
	LINE8,
	RING5,
	TORUS42,
	TORUS44,
	MESH42,
	MESH24,
	PODS,
	MESHED,
	UNKNOWN
};

static struct machine *machine_of(enum which which)
{
	switch (which) {
	case NODE:
		return machine_gpu(arena, 1, 8, bound_nvlink, bound_nic, bound_device);
	case NODES:
		return machine_gpu(arena, 2, 4, bound_nvlink, bound_nic, bound_device);
	case RING8:
		return torus(1, 8, 1, true);
	case LINE8:
		return torus(1, 8, 1, false);
	case RING5:
		return torus(1, 5, 1, true);
	case TORUS42:
		return torus(2, 4, 2, true);
	case TORUS44:
		return torus(2, 4, 4, true);
	case MESH42:
		return torus(2, 4, 2, false);
	case MESH24:
		return torus(2, 2, 4, false);
	case PODS:
		return machine_pods(arena, 1, (int32_t[]){4}, (bool[]){true}, 2);
	default:
		return machine_meshed(which == MESHED);
	}
}

/*
 * f32[480,84] has 161280 bytes, f32[480,336] 645120. Node and pod: 4 NICs of 23 GB/s,
 * two latencies of 2.5 us; NVLink two of 0.7 us.
 */
static const struct {
	enum which machine;
	const char *array, *mesh, *from, *to;
	const char *to_mesh, *devices, *to_devices;
	double wanted_s;
	const char *what;
} hand[] = {
	/* 7/8 must come */
	{NODE, "f32[480,84]", "x=8", "P('x')", "P()", 0, 0, 0, 141120 / 240e9 + 1.4e-6,
         "receive of device 0"},
	{RING8, "f32[480,84]", "x=8", "P('x')", "P()", 0, 0, 0, 141120 / 90e9 + 1e-6,
         "receive of device 0"},
	{MESH42, "f32[480,84]", "x=8", "P('x')", "P()", 0, 0, 0, 141120 / 90e9 + 1e-6,
         "receive of device 0"},
	/* half of it through the NICs, not 7/8 through GPU and NIC at once */
	{NODES, "f32[480,84]", "x=8", "P('x')", "P()", 0, 0, 0, 80640 / 92e9 + 5e-6,
         "into node 0 of nvlink"},
	{PODS, "f32[480,84]", "x=8", "P('x')", "P()", 0, 0, 0, 80640 / 92e9 + 5e-6,
         "into pod 0 of ici"},
	/* nothing crosses: every node has its copy */
	{NODES, "f32[480,84]", "y=2,x=4", "P('x')", "P()", 0, 0, 0,
         120960 / 263e9 + 1.4e-6, "receive of device 0"},
	/* transposes: a quarter crosses between halves, by two links per line or one */
	{RING8, "f32[480,336]", "x=8", "P('x')", "P(None,'x')", 0, 0, 0,
         161280 / 90e9 + 1e-6, "into places 0 to 3 of axis 0 of pod 0"},
	{LINE8, "f32[480,336]", "x=8", "P('x')", "P(None,'x')", 0, 0, 0,
         161280 / 45e9 + 1e-6, "into places 0 to 3 of axis 0 of pod 0"},
	{TORUS42, "f32[480,336]", "x=8", "P('x')", "P(None,'x')", 0, 0, 0,
         161280 / 180e9 + 1e-6, "into places 0 to 1 of axis 0 of pod 0"},
	{MESH42, "f32[480,336]", "x=8", "P('x')", "P(None,'x')", 0, 0, 0,
         161280 / 90e9 + 1e-6, "into places 0 to 1 of axis 0 of pod 0"},
	{MESH24, "f32[480,336]", "x=8", "P('x')", "P(None,'x')", 0, 0, 0,
         161280 / 90e9 + 1e-6, "into places 0 to 1 of axis 1 of pod 0"},
	/* 2/5 of the rows are held where 3/5 of the columns are wanted */
	{RING5, "f32[100,75]", "x=5", "P('x')", "P(None,'x')", 0, 0, 0,
         7200 / 90e9 + 1e-6, "into places 0 to 1 of axis 0 of pod 0"},
	/* swapped halves of a line: 4 tiles of 60 x 84 each way over the middle */
	{LINE8, "f32[480,84]", "<[\"x\"=8], device_ids=[0,1,2,3,4,5,6,7]>", "P('x')",
         "P('x')", "<[\"x\"=8], device_ids=[4,5,6,7,0,1,2,3]>", 0, 0,
         80640 / 45e9 + 1e-6, "into places 0 to 3 of axis 0 of pod 0"},
	/* neighbours on a ring: routes between them leave it out but for one link */
	{RING8, "f32[480,84]", "x=2", "P('x')", "P()", NULL, "0,1", NULL,
         80640 / 45e9 + 1e-6, "receive of device 0"},
	/* 0 and 3 are the ends of a line, and what 0 lacks comes from 1 */
	{RING8, "f32[480,84]", "x=4", "P('x')", "P()", NULL, "0-3", NULL,
         120960 / 45e9 + 1e-6, "receive of device 0"},
	/* a row of a torus: none goes by the other axis, 4 of 8 devices take no part */
	{TORUS42, "f32[480,84]", "x=4", "P('x')", "P()", NULL, "0,2,4,6", NULL,
         120960 / 90e9 + 1e-6, "receive of device 0"},
	/* all the way round, and 0 and 4 too: 4 to 0 goes on, over 5 */
	{RING8, "f32[480,84]", "x=2", "P('x')", "P()", NULL, "0,4", NULL,
         80640 / 45e9 + 1e-6, "receive of device 0"},
	/* 2 to 3 and 5 to 4: into both by two links; 0 and 6 keep theirs */
	{RING8, "f32[480,84]", "x=4", "P('x')", "P('x')", "x=4", "2,5,0,6", "3,4,0,6",
         80640 / 90e9 + 1e-6, "into places 3 to 4 of axis 0 of pod 0"},
	/* 0 alone has what four others want a quarter each of */
	{NODE, "f32[480,84]", "x=1", "P()", "P('x')", "x=4", "0", "4-7",
         161280 / 240e9 + 1.4e-6, "send of device 0"},
	/* two have it: either may send */
	{NODE, "f32[480,84]", "x=2", "P()", "P('x')", "x=4", "0,1", "4-7",
         40320 / 240e9 + 1.4e-6, "receive of device 4"},
	/* four tiles from node 0 to node 1; both its ends see the same */
	{NODES, "f32[480,84]", "x=4", "P('x')", "P('x')", "x=4", "0-3", "4-7",
         161280 / 92e9 + 5e-6, "out of node 0 of nvlink"},
	/* half of each node takes part, so that only two of its NICs do */
	{NODES, "f32[480,84]", "x=4", "P('x')", "P()", NULL, "0,1,4,5", NULL,
         80640 / 46e9 + 5e-6, "into node 0 of nvlink"},
	/* a block of 2 x 2 wants a quarter each; it has 8 links and a quarter of all */
	{TORUS44, "f32[480,336]", "x=16", "P('x')", "P('x')", "x=4", "0-15", "0,1,4,5",
         483840 / 360e9 + 1e-6,
         "into places 0 to 1 of axis 0 and 0 to 1 of axis 1 of pod 0"},
	/* both ends of a line hold what its middle wants, so that no cut in two says it */
	{LINE8, "f32[480,336]", "x=2", "P()", "P('x')", "x=2", "0,7", "3,4",
         645120 / 90e9 + 1e-6, "into places 3 to 4 of axis 0 of pod 0"},
	/* of the last device's tile of 2 only nothing is real */
	{RING8, "f32[13]", "x=8", "P('x')", "P()", 0, 0, 0, 52 / 90e9 + 1e-6,
         "receive of device 7"},
	/* half a byte is half a byte: 3 of 6 elements of 4 bits */
	{NODE, "s4[6]", "x=2", "P('x')", "P()", 0, 0, 0, 1.5 / 240e9 + 1.4e-6,
         "receive of device 0"},
	/* sums: 7 of 8 contributions come to the first that has it, and it comes to 7 */
	{NODE, "f32[480,84]", "x=8", "P(unreduced={'x'})", "P()", 0, 0, 0,
         (7 + 7) * 161280 / (8 * 240e9) + 1.4e-6, "sums into all devices"},
	/* half of 8 devices want each half, four times the rest of the sum; by both links */
	{RING8, "f32[480,84]", "x=2,y=4", "P(unreduced={'x','y'})", "P('x')", 0, 0, 0,
         (7 + 3) * 161280 / (8 * 90e9) + 1e-6, "sums into all devices"},
	/* of 13 numbers on 8 devices, 2 each, none is padding that comes */
	{RING8, "f32[13]", "x=8", "P(unreduced={'x'})", "P()", 0, 0, 0,
         14 * 52 / (8 * 90e9) + 1e-6, "sums into all devices"},
	/* of 8 parts 7 leave their only holder */
	{NODE, "f32[480,84]", "x=8", "P(unreduced={'x'})", "P('x')", 0, 0, 0,
         141120 / 240e9 + 1.4e-6, "send of device 0"},
	{NODES, "f32[480,84]", "x=8", "P(unreduced={'x'})", "P()", 0, 0, 0,
         161280 / 92e9 + 5e-6, "into node 0 of nvlink"},
	/* the contributions meet inside the nodes */
	{NODES, "f32[480,84]", "x=2,y=4", "P('x',unreduced={'y'})", "P('x')", 0, 0, 0,
         (3 + 3) * 161280 / (8 * 263e9) + 1.4e-6, "sums into all devices"},
	{NODE, "f32[480,84]", "x=8", "P('x')", "P(unreduced={'x'})", 0, 0, 0, 0, NULL},
	{MESHED, "f32[480,84]", "x=4", "P('x')", "P()", 0, 0, 0, 120960 / 135e9 + 1e-6,
         "receive of device 0"},
	{UNKNOWN, "f32[480,84]", "x=4", "P('x')", "P()", 0, 0, 0, 0, NULL},
	{RING8, "f32[480]", "x=8", "P()", "P('x')", 0, 0, 0, 0, NULL},
	{RING8, "f32[]", "x=8", "P()", "P()", 0, 0, 0, 0, NULL},
};

START_TEST(bounds_by_hand)
{
	struct problem_text t = {.array = hand[_i].array,
	                         .mesh = hand[_i].mesh,
	                         .to_mesh = hand[_i].to_mesh,
	                         .from = hand[_i].from,
	                         .to = hand[_i].to,
	                         .devices = hand[_i].devices,
	                         .to_devices = hand[_i].to_devices};
	struct problem *p = problem_read(&t);
	struct placement place = {p->ndevices, p->platform};
	struct machine *m = machine_of(hand[_i].machine);
	struct bound bound = bound_find(p, m, &place, arena);

	ck_assert_msg(fabs(bound.s - hand[_i].wanted_s) < 1e-18, "%.17g, wanted %.17g",
	              bound.s, hand[_i].wanted_s);
	ck_assert(bound_s(p, m, &place) == bound.s);
	if (hand[_i].what)
		ck_assert_str_eq(bound.what, hand[_i].what);
	else
		ck_assert_ptr_null(bound.what);
}
END_TEST

/*
 * Devices 2, 4 and 5, or 6, of a line of 7: all that 2 lacks comes by the link between 3
 * and 2, although it has two links.
 */
START_TEST(bounds_follow_the_placement)
{
	struct problem *p = problem_of("f32[480]", "x=3", "P('x')", "P()");
	struct machine *m = torus(1, 7, 1, false);
	static const int32_t inner[] = {2, 4, 5}, outer[] = {2, 4, 6};
	struct placement place = {3, inner};
	struct bound bound = bound_find(p, m, &place, arena);

	ck_assert(fabs(bound.s - 1280 / 45e9 - 1e-6) < 1e-18);
	ck_assert_str_eq(bound.what, "receive of device 2");
	place.platform = outer;
	bound = bound_find(p, m, &place, arena);
	ck_assert(fabs(bound.s - 1280 / 45e9 - 1e-6) < 1e-18);
	ck_assert_str_eq(bound.what, "receive of device 2");
}
END_TEST

/*
 * An all-gather of 1920 bytes over a ring of 8: each lacks 7 of 8 tiles of 240 bytes, over
 * two links. A launch of 5 us and four times that through a memory of 1 TB/s come to it.
 */
START_TEST(a_floor_adds_a_launch_and_packing)
{
	struct problem *p = problem_of("f32[480]", "x=8", "P('x')", "P()");
	const struct device device = {
		.memory_bytes = 1e9, .memory_Bps = 1e12, .launch_s = 5e-6};
	struct machine *m = machine_torus(arena, 1, (int32_t[]){8}, (bool[]){true},
	                                  bound_ici, device);
	double least_s = bound_s(p, m, NULL);

	ck_assert(fabs(least_s - 1680 / 90e9 - 1e-6) < 1e-18);
	ck_assert(fabs(floor_s(p, m, NULL, least_s) - least_s - 5e-6 - 4 * 1680 / 1e12) <
	          1e-18);
	p = problem_of("f32[480]", "x=8", "P()", "P('x')");
	ck_assert(floor_s(p, m, NULL, bound_s(p, m, NULL)) == 0);
}
END_TEST

/*
 * A ring of 8 as 4 x 2. The slice moves nothing; in the gather over x two neighbours get 3
 * tiles of 240 bytes each, by the two links into both. That is all that the whole needs.
 */
START_TEST(steps_have_bounds)
{
	struct problem *p =
		problem_of("f32[60,8]", "x=4,y=2", "P('x',None)", "P(None,'y')");
	struct machine *m = torus(1, 8, 1, true);
	struct plan *plan = plan_new(arena, p, "test");
	const struct part x = {0, 1, 4}, y = {1, 1, 2};
	const struct move slice = {-1, 1, 2, 1, &y}, gather = {0, -1, 4, 1, &x};

	plan_axes_step(plan, OP_SLICE, &slice, 1);
	plan_axes_step(plan, OP_ALL_GATHER, &gather, 1);
	plan_finish(plan);
	ck_assert(step_bound_s(plan, 0, m, NULL) == 0);
	ck_assert(fabs(step_bound_s(plan, 1, m, NULL) - 6 * 240 / 90e9 - 1e-6) < 1e-18);
	ck_assert(fabs(bound_s(p, m, NULL) - 6 * 240 / 90e9 - 1e-6) < 1e-18);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("bound");
	TCase *c = tcase_create("bound");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, bounds_by_hand, 0, COUNT(hand));
	tcase_add_test(c, bounds_follow_the_placement);
	tcase_add_test(c, a_floor_adds_a_launch_and_packing);
	tcase_add_test(c, steps_have_bounds);
	suite_add_tcase(suite, c);
	return suite;
}
