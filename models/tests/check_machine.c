#include "array/machine.h"
#include "array/routes.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct link wire = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};

static struct machine *torus(struct arena *a, int naxes, const int32_t *shape,
                             const char *wrap)
{
	bool wraps[TORUS_AXES_MAX];

	for (int i = 0; i < naxes; i++)
		wraps[i] = wrap[i] == '1';
	return machine_torus(a, naxes, shape, wraps, wire,
	                     (struct device){32e9, 1e12, 0});
}

/* "0>1 1>2": the links of the route by the devices their names give. */
static void route_text(char *out, size_t size, const struct machine *m, int32_t src,
                       int32_t dst)
{
	int32_t links[ROUTE_LINKS_MAX];
	int n = machine_route(m, 0, src, dst, links, ROUTE_LINKS_MAX);
	size_t at = 0;

	ck_assert_int_ge(n, 0);
	out[0] = '\0';
	for (int i = 0; i < n; i++) {
		int from, to;

		ck_assert_int_eq(
			sscanf(m->link[links[i]].name, "ici_%d_to_%d", &from, &to), 2);
		at += (size_t)snprintf(out + at, size - at, "%s%d>%d", i ? " " : "",
		                       from, to);
	}
}

/* Worked by hand: last axis first, the shorter way, ties as the header says. */
static const struct {
	int naxes;
	int32_t shape[3];
	const char *wrap;
	int32_t src, dst;
	const char *route;
} route_table[] = {
	{1, {5}, "1", 0, 2, "0>1 1>2"},
	{1, {5}, "1", 0, 3, "0>4 4>3"},
	{1, {5}, "1", 4, 1, "4>0 0>1"},
	{1, {5}, "0", 0, 3, "0>1 1>2 2>3"},
	{1, {5}, "0", 4, 2, "4>3 3>2"},
	{1, {6}, "1", 0, 3, "0>1 1>2 2>3"},
	{1, {6}, "1", 3, 0, "3>2 2>1 1>0"},
	{1, {6}, "1", 4, 1, "4>5 5>0 0>1"},
	{1, {6}, "1", 1, 4, "1>2 2>3 3>4"},
	{1, {4}, "1", 3, 1, "3>0 0>1"},
	{1, {4}, "1", 2, 0, "2>1 1>0"},
	{1, {2}, "1", 0, 1, "0>1"},
	{1, {2}, "1", 1, 0, "1>0"},
	{1, {1}, "1", 0, 0, ""},
	{2, {3, 5}, "11", 0, 11, "0>1 1>11"},
	{2, {3, 5}, "01", 0, 11, "0>1 1>6 6>11"},
	{2, {3, 5}, "10", 14, 0, "14>13 13>12 12>11 11>10 10>0"},
	{3, {2, 3, 4}, "011", 0, 23, "0>3 3>11 11>23"},
	{3, {2, 3, 4}, "000", 23, 0, "23>22 22>21 21>20 20>16 16>12 12>0"},
};

START_TEST(route_rows)
{
	struct arena *a = arena_new();
	struct machine *m = torus(a, route_table[_i].naxes, route_table[_i].shape,
	                          route_table[_i].wrap);
	char text[200];

	route_text(text, sizeof(text), m, route_table[_i].src, route_table[_i].dst);
	ck_assert_str_eq(text, route_table[_i].route);
	arena_free(a);
}
END_TEST

static const struct {
	int naxes;
	int32_t shape[3];
	const char *wrap;
	int32_t devices, links;
} torus_table[] = {
	{1, {1}, "0", 1, 0},
	{1, {2}, "1", 2, 2},
	{1, {7}, "0", 7, 12},
	{1, {7}, "1", 7, 14},
	{2, {3, 5}, "11", 15, 60},
	{2, {4, 8}, "00", 32, 104},
	{2, {2, 16}, "01", 32, 96},
	{3, {3, 2, 5}, "101", 30, 150},
	{3, {4, 4, 4}, "111", 64, 384},
};

/* Hops from src to all by walking the neighbours, not by coordinates. */
static void distances(const struct machine *m, int32_t src, int *hops)
{
	const struct fabric *f = &m->fabric[0];
	int32_t queue[256];
	int head = 0, tail = 0;

	for (int32_t d = 0; d < m->ndevices; d++)
		hops[d] = -1;
	hops[src] = 0;
	queue[tail++] = src;
	while (head < tail) {
		int32_t d = queue[head++];

		for (int i = 0; i < 2 * f->naxes; i++) {
			int32_t to = fabric_neighbour(f, d, i / 2, i % 2 ? -1 : 1);

			if (to < 0 || hops[to] >= 0)
				continue;
			hops[to] = hops[d] + 1;
			queue[tail++] = to;
		}
	}
}

/* Every route is shortest, connected by its links' names, and costs a hop each. */
START_TEST(torus_rows)
{
	struct arena *a = arena_new();
	struct machine *m = torus(a, torus_table[_i].naxes, torus_table[_i].shape,
	                          torus_table[_i].wrap);
	int32_t links[64];
	int hops[64];

	ck_assert_int_eq(m->ndevices, torus_table[_i].devices);
	ck_assert_int_eq(m->nlinks, torus_table[_i].links);
	ck_assert_int_eq(fabric_places(&m->fabric[0]), m->ndevices);
	for (int32_t src = 0; src < m->ndevices; src++) {
		distances(m, src, hops);
		for (int32_t dst = 0; dst < m->ndevices; dst++) {
			int n = machine_route(m, 0, src, dst, links, 64), at = src;

			ck_assert_int_eq(n, hops[dst]);
			ck_assert_int_eq(machine_hops(m, 0, src, dst), n);
			ck_assert_int_eq(machine_fabric(m, src, dst), 0);
			ck_assert_double_eq_tol(machine_latency(m, 0, src, dst),
			                        n * 1e-6, 1e-18);
			for (int i = 0; i < n; i++) {
				int from, to;

				sscanf(m->link[links[i]].name, "ici_%d_to_%d", &from,
				       &to);
				ck_assert_int_eq(from, at);
				at = to;
			}
			ck_assert_int_eq(at, dst);
			if (n > 0)
				ck_assert_int_eq(
					machine_route(m, 0, src, dst, links, n - 1), -1);
		}
	}
	arena_free(a);
}
END_TEST

START_TEST(two_long_axis_has_one_cable)
{
	struct arena *a = arena_new();
	struct machine *m = torus(a, 2, (const int32_t[]){2, 3}, "11");
	const struct fabric *f = &m->fabric[0];

	ck_assert(!f->wrap[0]);
	ck_assert(f->wrap[1]);
	ck_assert_int_eq(fabric_neighbour(f, 0, 0, 1), 3);
	ck_assert_int_eq(fabric_neighbour(f, 0, 0, -1), -1);
	ck_assert_int_eq(fabric_neighbour(f, 3, 0, 1), -1);
	ck_assert_int_eq(fabric_neighbour(f, 3, 0, -1), 0);
	ck_assert_int_eq(fabric_neighbour(f, 5, 1, 1), 3);
	ck_assert_int_eq(f->port[0 * 4 + 1], -1);
	ck_assert_int_ge(f->port[0 * 4 + 0], 0);
	arena_free(a);
}
END_TEST

/* ---- twisted tori ---- */

/* Of 4x4x8, n = 4: place (x, y, z) is 32 x + 8 y + z; round x or y, z moves by 4. */
static const struct {
	int naxes;
	int32_t shape[3];
	int32_t from;
	int axis, dir;
	int32_t to;
} twisted_steps[] = {
	{3, {4, 4, 8}, 0, 0, 1, 32},
	{3, {4, 4, 8}, 96 + 8 + 1, 0, 1, 8 + 5},
	{3, {4, 4, 8}, 8 + 5, 0, -1, 96 + 8 + 1},
	{3, {4, 4, 8}, 64 + 24 + 6, 1, 1, 64 + 2},
	{3, {4, 4, 8}, 64 + 2, 1, -1, 64 + 24 + 6},
	{3, {4, 4, 8}, 64 + 7, 2, 1, 64},
	{3, {4, 4, 8}, 64, 2, -1, 64 + 7},
	/* 3x6x6: round x, both others move by 3; place 36 x + 6 y + z */
	{3, {3, 6, 6}, 72 + 6 * 4 + 1, 0, 1, 6 * 1 + 4},
	{3, {3, 6, 6}, 6 * 1 + 4, 0, -1, 72 + 6 * 4 + 1},
	{3, {3, 6, 6}, 30 + 2, 1, 1, 2},
	/* the long axis first */
	{2, {10, 5}, 5 * 7 + 4, 1, 1, 5 * 2},
	{2, {10, 5}, 5 * 9 + 3, 0, 1, 3},
	{2, {2, 4}, 1, 0, -1, 4 + 3},
	{2, {2, 4}, 1, 0, 1, 4 + 1},
};

START_TEST(twisted_step_rows)
{
	struct arena *a = arena_new();
	struct machine *m =
		machine_twisted(a, twisted_steps[_i].naxes, twisted_steps[_i].shape,
	                        wire, (struct device){0});
	const struct fabric *f = &m->fabric[0];

	ck_assert_int_eq(m->nlinks, 2 * f->naxes * m->ndevices);
	ck_assert_int_eq(fabric_neighbour(f, twisted_steps[_i].from,
	                                  twisted_steps[_i].axis, twisted_steps[_i].dir),
	                 twisted_steps[_i].to);
	arena_free(a);
}
END_TEST

static const struct {
	int naxes;
	int32_t shape[4];
	int32_t twist;
} twists[] = {
	{3, {4, 4, 8}, 4},  {3, {4, 8, 8}, 4},    {3, {8, 4, 4}, 4}, {2, {3, 6}, 3},
	{3, {4, 4, 4}, 0},  {3, {4, 4, 12}, 0},   {3, {4, 6, 8}, 0}, {2, {1, 2}, 0},
	{3, {4, 8, 16}, 0}, {4, {2, 4, 2, 2}, 2}, {1, {8}, 0},
};

START_TEST(twist_rows)
{
	ck_assert_int_eq(fabric_twist(twists[_i].naxes, twists[_i].shape),
	                 twists[_i].twist);
}
END_TEST

static const struct {
	int naxes;
	int32_t shape[4];
	int diameter;
	double gain; /* published, of all-to-all over the plain torus; 0: none */
} twisted_table[] = {
	{3, {4, 4, 8}, 6, 1.63}, {3, {4, 8, 8}, 6, 1.31}, {3, {3, 3, 6}, 4, 0},
	{3, {6, 3, 6}, 4, 0},    {2, {5, 10}, 5, 0},      {4, {2, 4, 2, 2}, 4, 0},
};

/*
 * Every route is shortest, connected, and -1 where there is too little room. The load of
 * all pairs: the TPU v4 paper (figure 6) measured all-to-all this much faster than on
 * the plain torus, whose long axis of 8 carries 2 hops of every pair over 2 links per
 * device.
 */
START_TEST(twisted_rows)
{
	struct arena *a = arena_new();
	struct machine *m =
		machine_twisted(a, twisted_table[_i].naxes, twisted_table[_i].shape,
	                        wire, (struct device){0});
	int32_t links[64];
	int hops[256], *load = calloc((size_t)m->nlinks, sizeof(*load));
	int most = 0, far = 0;

	for (int32_t src = 0; src < m->ndevices; src++) {
		distances(m, src, hops);
		for (int32_t dst = 0; dst < m->ndevices; dst++) {
			int n = machine_route(m, 0, src, dst, links, 64), at = src;

			ck_assert_int_eq(n, hops[dst]);
			ck_assert_int_eq(machine_hops(m, 0, src, dst), n);
			far = n > far ? n : far;
			for (int i = 0; i < n; i++) {
				int from, to;

				sscanf(m->link[links[i]].name, "ici_%d_to_%d", &from,
				       &to);
				ck_assert_int_eq(from, at);
				at = to;
				load[links[i]]++;
				most = load[links[i]] > most ? load[links[i]] : most;
			}
			ck_assert_int_eq(at, dst);
			if (n > 0)
				ck_assert_int_eq(
					machine_route(m, 0, src, dst, links, n - 1), -1);
		}
	}
	ck_assert_int_eq(far, twisted_table[_i].diameter);
	if (twisted_table[_i].gain > 0)
		ck_assert_double_eq_tol((double)m->ndevices / most,
		                        twisted_table[_i].gain,
		                        0.05 * twisted_table[_i].gain);
	free(load);
	arena_free(a);
}
END_TEST

/* ---- shared ports ---- */

/* Two nodes of four GPUs, and one NIC for every two of them. */
START_TEST(shared_ports)
{
	struct arena *a = arena_new();
	struct link link = {.bandwidth_Bps = 1e9, .latency_s = 1e-6};
	struct machine *m = machine_gpu(a, 2, 4, link, link, (struct device){0});
	int32_t links[2];

	m->fabric[1].share = 2;
	ck_assert(fabric_shared(&m->fabric[1], 2, 3));
	ck_assert(!fabric_shared(&m->fabric[1], 1, 2));
	ck_assert(!fabric_shared(&m->fabric[0], 2, 3));
	ck_assert_int_eq(machine_fabric(m, 2, 3), 0);
	ck_assert_int_eq(machine_fabric(m, 2, 4), 1);
	ck_assert_int_eq(machine_route(m, 1, 2, 3, links, 2), -1);
	ck_assert_int_eq(machine_route(m, 1, 1, 2, links, 2), 2);
	ck_assert_int_eq(machine_route(m, 1, 3, 3, links, 2), 0);
	ck_assert_int_eq(machine_hops(m, 1, 2, 3), -1);
	ck_assert_int_eq(machine_hops(m, 1, 1, 2), 2);
	ck_assert_int_eq(machine_hops(m, 1, 3, 3), 0);
	m->nfabrics--;
	m->fabric[0] = m->fabric[1];
	ck_assert_int_eq(machine_fabric(m, 2, 3), -1);
	ck_assert_int_eq(machine_fabric(m, 3, 3), 0);
	arena_free(a);
}
END_TEST

static const struct {
	int32_t src, dst;
	int fabric;
	double latency_s;
} gpu_table[] = {
	{0, 2, 0, 2 * 0.475e-6}, {2, 0, 0, 2 * 0.475e-6}, {3, 5, 0, 2 * 0.475e-6},
	{0, 3, 1, 2 * 1.25e-6},  {8, 1, 1, 2 * 1.25e-6},  {4, 4, 0, 0},
};

START_TEST(gpu_rows)
{
	struct arena *a = arena_new();
	struct machine *m = machine_gpu(
		a, 3, 3, (struct link){.bandwidth_Bps = 235e9, .latency_s = 0.475e-6},
		(struct link){.bandwidth_Bps = 24e9, .latency_s = 1.25e-6},
		(struct device){80e9, 2e12, 5e-6});
	int32_t src = gpu_table[_i].src, dst = gpu_table[_i].dst, links[2];
	int f = machine_fabric(m, src, dst);

	ck_assert_int_eq(m->ndevices, 9);
	ck_assert_int_eq(m->nlinks, 36);
	ck_assert_int_eq(m->fabric[0].ndomains, 3);
	ck_assert_int_eq(m->fabric[1].ndomains, 1);
	ck_assert_int_eq(f, gpu_table[_i].fabric);
	ck_assert_double_eq_tol(machine_latency(m, f, src, dst),
	                        gpu_table[_i].latency_s, 1e-18);
	if (src != dst) {
		ck_assert_int_eq(machine_route(m, f, src, dst, links, 2), 2);
		ck_assert_int_eq(links[0], m->fabric[f].port[2 * src]);
		ck_assert_int_eq(links[1], m->fabric[f].port[2 * dst + 1]);
		ck_assert_int_eq(machine_route(m, f, src, dst, links, 1), -1);
	}
	arena_free(a);
}
END_TEST

START_TEST(fabrics_that_do_not_join)
{
	struct arena *a = arena_new();
	struct link link = {.bandwidth_Bps = 1e9, .latency_s = 1e-6};
	struct machine *m = machine_gpu(a, 2, 3, link, link, (struct device){0});
	struct machine *one = machine_gpu(a, 1, 7, link, link, (struct device){0});
	int32_t links[2];

	ck_assert_int_eq(machine_route(m, 0, 1, 4, links, 2), -1);
	ck_assert_double_lt(machine_latency(m, 0, 1, 4), 0);
	ck_assert_int_eq(machine_fabric(m, 1, 4), 1);
	m->nfabrics = 1;
	ck_assert_int_eq(machine_fabric(m, 1, 4), -1);
	ck_assert_int_eq(one->nfabrics, 1);
	ck_assert_int_eq(one->nlinks, 14);
	arena_free(a);
}
END_TEST

static int ask_two(const struct machine *m, int f, int32_t src, int32_t dst,
                   int32_t *links, int capacity)
{
	(void)f;
	if (capacity < 1)
		return -1;
	links[0] = src + dst;
	return m->ask_state ? 1 : -1;
}

START_TEST(graph_asks)
{
	struct arena *a = arena_new();
	struct machine *m = torus(a, 1, (const int32_t[]){5}, "1");
	int32_t link;

	m->fabric[0].geometry = GEOMETRY_GRAPH;
	ck_assert_int_eq(machine_route(m, 0, 1, 3, &link, 1), -1);
	m->ask = ask_two;
	ck_assert_int_eq(machine_route(m, 0, 1, 3, &link, 1), -1);
	m->ask_state = m;
	ck_assert_int_eq(machine_route(m, 0, 1, 3, &link, 1), 1);
	ck_assert_int_eq(link, 4);
	ck_assert_int_eq(machine_route(m, 0, 3, 3, &link, 1), 0);
	arena_free(a);
}
END_TEST

/* Asked twice, so that the second answer is a remembered one where any is. */
static void routes_agree(const struct machine *m)
{
	struct routes *r = routes_new(m);
	int32_t want[ROUTE_LINKS_MAX];

	for (int32_t i = 0; i < 2 * m->ndevices * m->ndevices; i++) {
		int32_t src = i / 2 / m->ndevices, dst = i / 2 % m->ndevices;
		int n, expected = machine_route(m, 0, src, dst, want, ROUTE_LINKS_MAX);
		const int32_t *links = routes_find(&n, r, 0, src, dst);

		if (n != expected)
			ck_abort_msg("%d links from %d to %d", n, (int)src, (int)dst);
		if (n > 0 && memcmp(links, want, (size_t)n * sizeof(*links)) != 0)
			ck_abort_msg("other links from %d to %d", (int)src, (int)dst);
	}
	routes_free(r);
}

START_TEST(routes_are_those_of_the_machine)
{
	struct arena *a = arena_new();

	routes_agree(torus(a, 2, (const int32_t[]){4, 5}, "11"));
	routes_agree(torus(a, 3, (const int32_t[]){2, 3, 4}, "001"));
	/* more devices than are remembered */
	routes_agree(torus(a, 1, (const int32_t[]){514}, "1"));
	routes_agree(machine_twisted(a, 3, (const int32_t[]){2, 2, 4}, wire,
	                             (struct device){32e9, 1e12, 0}));
	/* two nodes of three: some pairs are not joined by fabric 0 */
	routes_agree(machine_gpu(a, 2, 3, wire, wire, (struct device){32e9, 1e12, 0}));
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("machine");
	TCase *tcase = tcase_create("machine");

	tcase_add_loop_test(tcase, route_rows, 0, COUNT(route_table));
	tcase_add_loop_test(tcase, torus_rows, 0, COUNT(torus_table));
	tcase_add_test(tcase, two_long_axis_has_one_cable);
	tcase_add_loop_test(tcase, twisted_step_rows, 0, COUNT(twisted_steps));
	tcase_add_loop_test(tcase, twist_rows, 0, COUNT(twists));
	tcase_add_loop_test(tcase, twisted_rows, 0, COUNT(twisted_table));
	tcase_add_test(tcase, shared_ports);
	tcase_add_loop_test(tcase, gpu_rows, 0, COUNT(gpu_table));
	tcase_add_test(tcase, fabrics_that_do_not_join);
	tcase_add_test(tcase, graph_asks);
	tcase_add_test(tcase, routes_are_those_of_the_machine);
	suite_add_tcase(suite, tcase);
	return suite;
}
