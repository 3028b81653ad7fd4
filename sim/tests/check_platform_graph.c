#include "platform/platform.h"
#include "tests/tests.h"

#include "edit.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * Graphs whose routes our reader works out without SimGrid: fat trees, dragonflies, routes
 * written out. Loading compares all pairs of small domains with SimGrid's own routes.
 */

static const char head[] =
	"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
	"\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\"><zone "
	"id=\"z\" routing=\"Full\">\n";

static void props(struct text *t, const char *domain, const char *geometry,
                  const char *more)
{
	text_printf(t,
	            "<prop id=\"fabric\" value=\"net\"/><prop id=\"domain\" "
	            "value=\"%s\"/><prop id=\"priority\" value=\"0\"/><prop "
	            "id=\"profile\" value=\"nccl\"/><prop id=\"geometry\" "
	            "value=\"%s\"/><prop id=\"memory_bytes\" value=\"1e9\"/><prop "
	            "id=\"memory_Bps\" value=\"0\"/><prop id=\"launch_s\" "
	            "value=\"0\"/>%s\n",
	            domain, geometry, more);
}

/* One cluster, or two that follow each other in the file. */
struct wired {
	const char *topology, *parameters, *radical, *policy;
	const char *second, *second_parameters, *second_radical;
};

static void cluster(struct text *t, const char *id, const char *topology,
                    const char *parameters, const char *radical, const char *policy)
{
	text_printf(t,
	            "<cluster id=\"%s\" prefix=\"h\" suffix=\"\" radical=\"%s\" "
	            "speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" sharing_policy=\"%s\" "
	            "topology=\"%s\" topo_parameters=\"%s\">\n",
	            id, radical, policy, topology, parameters);
	props(t, id, "graph", "");
	text_printf(t, "</cluster>\n");
}

static const char *write_wired(struct arena *a, const struct wired *w)
{
	struct text t = {0};
	const char *path;

	text_printf(&t, "%s", head);
	cluster(&t, "one", w->topology, w->parameters, w->radical, w->policy);
	if (w->second)
		cluster(&t, "two", w->second, w->second_parameters, w->second_radical,
		        w->policy);
	text_printf(&t, "</zone></platform>\n");
	path = edit_write(a, t.s, t.length, ".xml");
	text_free(&t);
	return path;
}

#define SPLIT "SPLITDUPLEX"

static const struct wired wired[] = {
	{"FAT_TREE", "1;5;1;1", "0-4", SPLIT, NULL, NULL, NULL},
	{"FAT_TREE", "1;5;1;3", "0-4", SPLIT, NULL, NULL, NULL},
	{"FAT_TREE", "1;5;2;3", "0-4", SPLIT, NULL, NULL, NULL},
	{"FAT_TREE", "2;4,3;1,2;1,1", "0-11", SPLIT, NULL, NULL, NULL},
	{"FAT_TREE", "2;3,5;2,3;2,3", "0-14", SPLIT, NULL, NULL, NULL},
	{"FAT_TREE", "2;3,5;2,3;2,3", "0-14", "SHARED", NULL, NULL, NULL},
	{"FAT_TREE", "3;2,3,4;1,2,3;1,1,1", "0-23", SPLIT, NULL, NULL, NULL},
	{"FAT_TREE", "3;2,3,4;2,2,2;3,2,3", "0-23", SPLIT, NULL, NULL, NULL},
	{"FAT_TREE", "3;3,2,5;2,1,3;2,5,1", "0-29", SPLIT, NULL, NULL, NULL},
	{"FAT_TREE", "4;2,3,2,3;2,3,2,1;2,3,1,4", "0-35", SPLIT, NULL, NULL, NULL},
	/* ranks are in the order of the list */
	{"FAT_TREE", "2;4,3;1,2;1,2", "0,3,6,9,1,4,7,10,2,5,8,11", SPLIT, NULL, NULL,
         NULL},
	/* positions and names go on from the first */
	{"FAT_TREE", "2;5,3;2,3;1,2", "0-14", SPLIT, "FAT_TREE", "2;3,5;3,2;2,1",
         "15-29"},
	{"FAT_TREE", "1;3;2;1", "0-2", SPLIT, "DRAGONFLY", "2,1;1,1;3,1;2", "3-14"},
	{"DRAGONFLY", "1,1;1,1;1,1;3", "0-2", SPLIT, NULL, NULL, NULL},
	{"DRAGONFLY", "1,1;1,1;4,3;3", "0-11", SPLIT, NULL, NULL, NULL},
	{"DRAGONFLY", "3,2;1,1;5,3;2", "0-29", SPLIT, NULL, NULL, NULL},
	{"DRAGONFLY", "3,2;1,1;5,3;2", "0-29", "SHARED", NULL, NULL, NULL},
	{"DRAGONFLY", "3,2;2,3;4,2;1", "0-23", SPLIT, NULL, NULL, NULL},
	{"DRAGONFLY", "2,5;4,2;3,7;3", "0-71", SPLIT, NULL, NULL, NULL},
	{"DRAGONFLY", "4,1;3,1;4,1;2", "95-48,0-95", SPLIT, NULL, NULL, NULL},
	{"DRAGONFLY", "2,1;1,1;3,1;2", "11,0-10", SPLIT, "DRAGONFLY", "3,1;2,2;3,3;1",
         "12-29"},
};

START_TEST(wired_rows)
{
	struct arena *a = arena_new();
	const char *path = write_wired(a, &wired[_i]);
	struct platform *p = NULL;
	struct error e = {0};
	bool fault = strstr(wired[_i].radical, "95-48") != NULL;

	ck_assert_msg((platform_open(&p, a, path, NULL, 0, false, &e) == OK) == !fault,
	              "%s", e.text);
	if (fault) {
		unlink(path);
		arena_free(a);
		return;
	}
	ck_assert_ptr_null(p->host);
	ck_assert_msg(platform_start(p, &e) == OK, "%s", e.text);
	unlink(path);
	for (int32_t src = 0; src < p->machine->ndevices; src++)
		for (int32_t dst = 0; dst < p->machine->ndevices; dst++) {
			int32_t links[40];
			int n = machine_route(p->machine, 0, src, dst, links, 40);

			if (src == dst || machine_fabric(p->machine, src, dst) < 0)
				continue;
			ck_assert_int_ge(n, 2);
			ck_assert_double_eq_tol(machine_latency(p->machine, 0, src, dst),
			                        n * 1e-6, 1e-15);
			ck_assert_int_eq(
				machine_route(p->machine, 0, src, dst, links, n - 1),
				-1);
		}
	arena_free(a);
}
END_TEST

/* As SimGrid 3.32 printed them. */
static const struct {
	const char *topology, *parameters, *radical;
	int32_t src, dst;
	const char *route;
} known[] = {
	{"FAT_TREE", "2;3,2;1,2;1,2", "0,2,4,1,3,5", 0, 1,
         "link_from_0_11_0_UP link_from_11_8_9_UP link_from_10_8_12_DOWN "
         "link_from_3_10_3_DOWN"},
	{"FAT_TREE", "2;3,2;1,2;1,2", "0,2,4,1,3,5", 5, 2,
         "link_from_5_10_5_UP link_from_10_8_12_UP link_from_11_8_9_DOWN "
         "link_from_1_11_1_DOWN"},
	{"FAT_TREE", "2;3,2;1,2;1,2", "0,2,4,1,3,5", 4, 2,
         "link_from_2_11_2_UP link_from_1_11_1_DOWN"},
	{"DRAGONFLY", "3,2;2,3;4,2;1", "0-23", 13, 6,
         "local_link_from_router_13_to_node_0_13_UP "
         "green_link_in_chassis_1_between_routers_0_and_1_42_DOWN "
         "black_link_in_group_1_between_chassis_0_and_1_blade_0_64_DOWN "
         "blue_link_between_group_0_and_1_routers_1_and_8_72_DOWN "
         "green_link_in_chassis_0_between_routers_1_and_2_27_UP "
         "black_link_in_group_0_between_chassis_0_and_1_blade_2_62_UP "
         "local_link_from_router_6_to_node_0_6_DOWN"},
	/* the black link that SimGrid forgets */
	{"DRAGONFLY", "3,2;2,3;4,2;1", "0-23", 13, 10,
         "local_link_from_router_13_to_node_0_13_UP "
         "green_link_in_chassis_1_between_routers_1_and_2_45_UP "
         "local_link_from_router_10_to_node_0_10_DOWN"},
};

START_TEST(known_rows)
{
	struct arena *a = arena_new();
	struct wired w = {.topology = known[_i].topology,
	                  .parameters = known[_i].parameters,
	                  .radical = known[_i].radical,
	                  .policy = SPLIT};
	const char *path = write_wired(a, &w);
	struct machine *m = NULL;
	struct error e = {0};
	struct text t = {0};
	int32_t links[16];
	int n;

	ck_assert_msg(platform_machine(&m, a, path, NULL, 0, &e) == OK, "%s", e.text);
	unlink(path);
	n = machine_route(m, 0, known[_i].src, known[_i].dst, links, 16);
	for (int i = 0; i < n; i++)
		text_printf(&t, "%s%s", i ? " " : "", m->link[links[i]].name);
	ck_assert_str_eq(t.s, known[_i].route);
	text_free(&t);
	arena_free(a);
}
END_TEST

/* The width of a cable: green 2, black 3, blue 2 of 1 GB/s. */
START_TEST(dragonfly_widths)
{
	struct arena *a = arena_new();
	struct wired w = {.topology = "DRAGONFLY",
	                  .parameters = "3,5;2,3;4,2;1",
	                  .radical = "0-23",
	                  .policy = SPLIT};
	const char *path = write_wired(a, &w);
	struct machine *m = NULL;
	struct error e = {0};

	ck_assert_int_eq(platform_machine(&m, a, path, NULL, 0, &e), OK);
	unlink(path);
	/* 24 local, 6 chassis x 6, 3 groups x 4, 3 */
	ck_assert_int_eq(m->nlinks, 2 * (24 + 36 + 12 + 3));
	for (int32_t l = 0; l < m->nlinks; l++) {
		const char *name = m->link[l].name;

		ck_assert_double_eq(m->link[l].bandwidth_Bps,
		                    1e9 * (!strncmp(name, "blue", 4)    ? 5
		                           : !strncmp(name, "black", 5) ? 3
		                           : !strncmp(name, "green", 5) ? 2
		                                                        : 1));
	}
	arena_free(a);
}
END_TEST

static const struct {
	struct wired w;
	const char *text;
} faults[] = {
	{{"FAT_TREE", "2;4,3;1,2", "0-11", SPLIT, 0, 0, 0}, "is no fat tree"},
	{{"FAT_TREE", "2;4,3;1,2;1,1;;", "0-11", SPLIT, 0, 0, 0}, "is no fat tree"},
	{{"FAT_TREE", "2;4,3;1,2;1,1;1", "0-11", SPLIT, 0, 0, 0}, "is no fat tree"},
	{{"FAT_TREE", "2;4,0;1,2;1,1", "0-11", SPLIT, 0, 0, 0}, "is no fat tree"},
	{{"FAT_TREE", "2;4,3,2;1,2;1,1", "0-11", SPLIT, 0, 0, 0}, "is no fat tree"},
	{{"FAT_TREE", "17;4,3;1,2;1,1", "0-11", SPLIT, 0, 0, 0}, "is no fat tree"},
	{{"FAT_TREE", "", "0-11", SPLIT, 0, 0, 0}, "is no fat tree"},
	{{"FAT_TREE", "2;4,3;1,2;1,1", "0-10", SPLIT, 0, 0, 0},
         "is a fat tree of 12 hosts, not of 11"},
	{{"FAT_TREE", "2;4,3;1,9999999;9999999,1", "0-11", SPLIT, 0, 0, 0},
         "is too large"},
	{{"FAT_TREE", "3;1,1,1;9999999,9999999,9999999;1,1,1", "0", SPLIT, 0, 0, 0},
         "is too large"},
	{{"FAT_TREE", "2;4,3;1,2;1,1", "0-11", "FATPIPE", 0, 0, 0},
         "expected SPLITDUPLEX"},
	{{"DRAGONFLY", "3,1;1,1;5,1", "0-29", SPLIT, 0, 0, 0}, "is no dragonfly"},
	{{"DRAGONFLY", "3,1;1,1;5;2", "0-29", SPLIT, 0, 0, 0}, "is no dragonfly"},
	{{"DRAGONFLY", "3,1;1,1;5,1;x", "0-29", SPLIT, 0, 0, 0}, "is no dragonfly"},
	{{"DRAGONFLY", "3,1;1,1;5,1;2", "0-28", SPLIT, 0, 0, 0},
         "is a dragonfly of 30 hosts, not of 29"},
	{{"DRAGONFLY", "6,1;1,1;5,1;1", "0-29", SPLIT, 0, 0, 0},
         "has more groups than blades"},
	{{"DRAGONFLY", "9999999,1;9999999,1;9999999,1;9999999", "0-29", SPLIT, 0, 0, 0},
         "is too large"},
	{{"DRAGONFLY", "1,1;1,1;9999999,1;1", "0-29", SPLIT, 0, 0, 0}, "is too large"},
};

START_TEST(fault_rows)
{
	struct arena *a = arena_new();
	const char *path = write_wired(a, &faults[_i].w);
	struct machine *m = NULL;
	struct error e = {0};

	ck_assert_int_ne(platform_machine(&m, a, path, NULL, 0, &e), OK);
	unlink(path);
	ck_assert_msg(strstr(e.text, faults[_i].text) != NULL, "%s", e.text);
	ck_assert_uint_eq(e.at.line, 4);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("platform graphs");
	TCase *tcase = tcase_create("platform graphs");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, wired_rows, 0, COUNT(wired));
	tcase_add_loop_test(tcase, known_rows, 0, COUNT(known));
	tcase_add_test(tcase, dragonfly_widths);
	tcase_add_loop_test(tcase, fault_rows, 0, COUNT(faults));
	suite_add_tcase(suite, tcase);
	return suite;
}
