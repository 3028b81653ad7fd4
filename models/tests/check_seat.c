/*
 * Where a mesh sits on a larger machine (array/seat.h): against all boxes of small tori,
 * whose links are counted one by one, and by hand.
 */
#include "array/seat.h"
#include "plan/position.h"
#include "tests/tests.h"

#include <check.h>

#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

enum { CHIPS_MAX = 512 };

static const struct link link = {.bandwidth_Bps = 1e9, .latency_s = 1e-6};
static const struct device device = {.memory_bytes = 1e9};
static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* A box of a torus of three axes as a set of chips, and the links between them. */
struct graph {
	int n, nedges;
	int32_t chip[CHIPS_MAX], length[3];
	int at[CHIPS_MAX][3]; /* by chip */
	bool in[CHIPS_MAX];
	int edge[3 * CHIPS_MAX][2];
};

static void graph_make(struct graph *g, const struct fabric *f, const int32_t *length)
{
	memset(g, 0, sizeof(*g));
	memcpy(g->length, length, sizeof(g->length));
	for (int x = 0; x < length[0]; x++)
		for (int y = 0; y < length[1]; y++)
			for (int z = 0; z < length[2]; z++) {
				int32_t d = (x * f->shape[1] + y) * f->shape[2] + z;

				g->chip[g->n++] = d;
				g->in[d] = true;
				memcpy(g->at[d], (int[]){x, y, z}, sizeof(g->at[d]));
			}
	for (int i = 0; i < g->n; i++)
		for (int a = 0; a < 3; a++) {
			int32_t to = fabric_neighbour(f, g->chip[i], a, 1);

			if (to < 0 || !g->in[to])
				continue;
			g->edge[g->nedges][0] = g->chip[i];
			g->edge[g->nedges++][1] = to;
		}
}

/* The links between the halves of the axis where they are fewest. */
static int graph_cut(const struct graph *g)
{
	int least = 1 << 30;

	for (int a = 0; a < 3; a++) {
		int cut = 0, half = g->length[a] / 2;

		if (g->length[a] == 1)
			continue;
		for (int i = 0; i < g->nedges; i++)
			cut += (g->at[g->edge[i][0]][a] < half) !=
			       (g->at[g->edge[i][1]][a] < half);
		least = cut < least ? cut : least;
	}
	return least;
}

/* The links between halves of equal size, however these are chosen: the bisection. */
static int graph_bisection(const struct graph *g)
{
	int least = 1 << 30, number[CHIPS_MAX];

	for (int i = 0; i < g->n; i++)
		number[g->chip[i]] = i;
	for (uint32_t half = 0; half < 1u << g->n; half++) {
		int cut = 0;

		if (__builtin_popcount(half) != g->n / 2)
			continue;
		for (int i = 0; i < g->nedges && cut < least; i++)
			cut += (half >> number[g->edge[i][0]] & 1) !=
			       (half >> number[g->edge[i][1]] & 1);
		least = cut < least ? cut : least;
	}
	return least;
}

static const struct {
	int32_t shape[3];
	bool wrap[3];
} tori[] = {
	{{1, 4, 4}, {false, true, true}},   {{1, 4, 4}, {false, false, false}},
	{{2, 2, 4}, {false, false, true}},  {{2, 2, 3}, {false, false, false}},
	{{1, 3, 5}, {false, true, true}},   {{1, 2, 8}, {false, false, true}},
	{{4, 4, 8}, {true, true, true}},    {{3, 4, 6}, {true, false, true}},
	{{1, 16, 16}, {false, true, true}}, {{8, 8, 8}, {true, true, true}},
	{{1, 8, 16}, {false, false, true}},
};

/* The widest there is of the right number of chips, and the mesh row-major over it. */
START_TEST(widest_of_all_boxes)
{
	const int32_t *shape = tori[_i].shape;
	const struct machine *m =
		machine_torus(arena, 3, shape, tori[_i].wrap, link, device);
	const struct fabric *f = &m->fabric[0];
	static struct graph g;

	for (int32_t n = 1; n < m->ndevices; n++) {
		int best = 0, cut = 0, bisection = 0, chosen = 0;
		struct seat seat;
		const int32_t *on;
		int chips = 0;

		ck_assert(seat_find(&seat, m, n));
		for (int pass = 0; pass < 2; pass++)
			for (int32_t i = 1; i <= shape[0] * shape[1] * shape[2]; i++) {
				int32_t x = (i - 1) / (shape[1] * shape[2]) + 1;
				int32_t y = (i - 1) / shape[2] % shape[1] + 1;
				int32_t z = (i - 1) % shape[2] + 1;

				if (x * y * z < n)
					continue;
				if (pass == 0 && (!chips || x * y * z < chips))
					chips = x * y * z;
				if (pass == 0 || x * y * z != chips || n == 1)
					continue;
				graph_make(&g, f, (int32_t[]){x, y, z});
				cut = graph_cut(&g);
				best = cut > best ? cut : best;
				if (m->ndevices > 16)
					continue;
				cut = graph_bisection(&g);
				bisection = cut > bisection ? cut : bisection;
			}
		ck_assert_int_eq(seat.domains, 1);
		ck_assert_int_eq(seat.shape[0] * seat.shape[1] * seat.shape[2], chips);
		graph_make(&g, f, seat.shape);
		if (n > 1)
			ck_assert_int_eq(graph_cut(&g), best);
		chosen = n > 1 && m->ndevices <= 16 ? graph_bisection(&g) : 0;
		ck_assert_msg(chosen == bisection, "%d: %d of %d", n, chosen, bisection);
		on = seat_devices(&seat, n, arena);
		for (int32_t d = 0; d < n; d++)
			ck_assert_int_eq(on[d], g.chip[d]);
	}
}
END_TEST

/* By hand; a machine of several slices is made of nodes of a torus each. */
static const struct {
	int naxes;
	int32_t shape[3];
	bool wrap;
	int32_t n;
	const char *text;
} hand[] = {
	{2, {16, 16}, true, 64, "an 8x8 slice"},
	{2, {16, 16}, true, 32, "a 4x8 slice"},
	{2, {16, 16}, true, 128, "an 8x16 slice"},
	{2, {16, 16}, true, 7, "a 7x1 slice"},
	{2, {16, 16}, true, 17, "part of a 3x6 slice"},
	{2, {16, 16}, true, 1, "a 1x1 slice"},
	{2, {4, 8}, false, 16, "a 4x4 slice"},
	{2, {2, 8}, false, 4, "a 2x2 slice"},
	{3, {4, 4, 4}, true, 16, "a 4x4x1 slice"},
	{3, {4, 4, 4}, true, 32, "a 2x4x4 slice"},
	{3, {8, 8, 8}, true, 16, "a 2x2x4 slice"},
	{3, {8, 8, 8}, true, 128, "a 4x4x8 slice"},
	{3, {8, 8, 8}, true, 64, "a 4x4x4 slice"},
	{3, {2, 2, 4}, false, 8, "a 2x2x2 slice"},
	{1, {88}, false, 11, "an 11 slice"},
};

START_TEST(by_hand)
{
	bool wrap[3] = {hand[_i].wrap, hand[_i].wrap, hand[_i].wrap};
	const struct machine *m = machine_torus(arena, hand[_i].naxes, hand[_i].shape,
	                                        wrap, link, device);
	struct text text = {0};
	struct seat seat;

	ck_assert(seat_find(&seat, m, hand[_i].n));
	seat_print(&text, &seat, hand[_i].n);
	ck_assert_str_eq(text.s, hand[_i].text);
	text_free(&text);
	ck_assert(!seat_find(&seat, m, m->ndevices));
	ck_assert(!seat_find(&seat, m, m->ndevices + 1));
}
END_TEST

/* Nodes have no torus: a mesh sits on the first devices. */
START_TEST(nodes_have_none)
{
	const struct machine *m = machine_gpu(arena, 4, 8, link, link, device);
	struct seat seat;

	for (int32_t n = 1; n <= m->ndevices; n++)
		ck_assert(!seat_find(&seat, m, n));
}
END_TEST

static struct problem made(const struct problem_text *t)
{
	struct problem p;
	struct error e = {0};

	ck_assert_msg(problem_make(&p, arena, t, &e) == OK, "%s", e.text);
	return p;
}

/*
 * Two meshes sit on one slice, the 4x4 of 8x8 chips that the larger needs: devices
 * 0-3, 8-11, 16-19 and 24-27. As if those lists had been given.
 */
START_TEST(two_meshes_on_their_union)
{
	static const int32_t on[] = {0,  1,  2,  3,  8,  9,  10, 11,
	                             16, 17, 18, 19, 24, 25, 26, 27};
	const struct machine *m = machine_torus(arena, 2, (int32_t[]){8, 8},
	                                        (bool[]){false, false}, link, device);
	const char *mesh[2] = {"x=4", "x=4,y=4"};
	struct problem_text t = {
		.array = "f32[64,64]", .from = "P('x', None)", .to = "P(None, 'x')"};

	for (int i = 0; i < 2; i++) {
		struct problem p, listed;

		t.mesh = mesh[i];
		t.to_mesh = mesh[!i];
		t.devices = t.to_devices = NULL;
		p = made(&t);
		ck_assert_int_eq(position_needs(&p), 16);
		position_take(&p, m);
		ck_assert_str_eq(p.position, "a 4x4 slice");
		t.devices = i ? "0-3,8-11,16-19,24-27" : "0-3";
		t.to_devices = i ? "0-3" : "0-3,8-11,16-19,24-27";
		listed = made(&t);
		ck_assert_int_eq(p.ndevices, 16);
		ck_assert_mem_eq(p.platform, listed.platform, sizeof(on));
		ck_assert_mem_eq(p.platform, on, sizeof(on));
		ck_assert_mem_eq(p.from_devices, listed.from_devices, i ? 64 : 16);
		ck_assert_mem_eq(p.to_devices, listed.to_devices, i ? 16 : 64);
		ck_assert_int_eq(position_needs(&p), 28);
	}
}
END_TEST

/* Devices that are named stay where they are, and a whole machine stays in order. */
START_TEST(named_devices_stay)
{
	const struct machine *m = machine_torus(arena, 2, (int32_t[]){4, 4},
	                                        (bool[]){true, true}, link, device);
	struct problem_text t = {.array = "f32[64,64]",
	                         .mesh = "x=4",
	                         .from = "P('x', None)",
	                         .to = "P(None, 'x')",
	                         .devices = "3,2,1,0"};
	struct problem p = made(&t);

	position_take(&p, m);
	ck_assert_ptr_null(p.position);
	for (int32_t d = 0; d < 4; d++)
		ck_assert_int_eq(p.platform[d], 3 - d);
	ck_assert_ptr_eq(position_devices(&p, m, arena), p.platform);
	t.devices = NULL;
	t.mesh = "x=16";
	p = made(&t);
	position_take(&p, m);
	ck_assert_ptr_null(p.position);
	ck_assert_ptr_null(p.platform);
	ck_assert_ptr_null(position_devices(&p, m, arena));
	position_take(&p, NULL);
	ck_assert_ptr_null(p.platform);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("seat");
	TCase *tc = tcase_create("seat");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, widest_of_all_boxes, 0, COUNT(tori));
	tcase_add_loop_test(tc, by_hand, 0, COUNT(hand));
	tcase_add_test(tc, nodes_have_none);
	tcase_add_test(tc, two_meshes_on_their_union);
	tcase_add_test(tc, named_devices_stay);
	suite_add_tcase(suite, tc);
	return suite;
}
