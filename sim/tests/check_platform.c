#include "platform/platform.h"
#include "tests/tests.h"

#include "edit.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* What the facts say of each machine that is shipped, and of shapes beside them. */
static const struct {
	const char *spec, *file;
	int32_t devices, links;
	int nfabrics;
	const char *wrap; /* of fabric 0; "" for a switch */
	double bandwidth_Bps, latency_s, memory_bytes, memory_Bps;
} machines[] = {
	{"tpu-v4:4x4x4", "platforms/tpu-v4_4x4x4.xml", 64, 384, 1, "111", 45e9, 1e-6,
         0x1p35, 1.2e12},
	{"tpu-v4:8x8x8", "platforms/tpu-v4_8x8x8.xml", 512, 3072, 1, "111", 45e9, 1e-6,
         0x1p35, 1.2e12},
	{"tpu-v5e:16x16", "platforms/tpu-v5e_16x16.xml", 256, 1024, 1, "11", 45e9, 1e-6,
         16e9, 819e9},
	{"tpu-v5e:4x8", "platforms/tpu-v5e_4x8.xml", 32, 104, 1, "00", 45e9, 1e-6, 16e9,
         819e9},
	{"dgx-a100:4", "platforms/dgx-a100_4.xml", 32, 128, 2, "", 235e9, 0.475e-6,
         80e9, 2e12},
	{"dgx-h100:8", "platforms/dgx-h100_8.xml", 64, 256, 2, "", 368e9, 0.625e-6,
         80e9, 3.35e12},
	{"tpu-v4:4x8x12", NULL, 384, 2304, 1, "111", 45e9, 1e-6, 0x1p35, 1.2e12},
	{"tpu-v4:2x4x4", NULL, 32, 128, 1, "000", 45e9, 1e-6, 0x1p35, 1.2e12},
	{"tpu-v4:3x5x7", NULL, 105, 488, 1, "000", 45e9, 1e-6, 0x1p35, 1.2e12},
	{"tpu-v4:2x2x1", NULL, 4, 8, 1, "000", 45e9, 1e-6, 0x1p35, 1.2e12},
	{"tpu-v4:1x1x1", NULL, 1, 0, 1, "000", 45e9, 1e-6, 0x1p35, 1.2e12},
	{"tpu-v5e:8x16", NULL, 128, 480, 1, "01", 45e9, 1e-6, 16e9, 819e9},
	{"tpu-v5e:16x2", NULL, 32, 96, 1, "10", 45e9, 1e-6, 16e9, 819e9},
	{"dgx-a100:1", NULL, 8, 16, 1, "", 235e9, 0.475e-6, 80e9, 2e12},
	{"dgx-h100:3", NULL, 24, 96, 2, "", 368e9, 0.625e-6, 80e9, 3.35e12},
};

enum { SHIPPED = 6 };

START_TEST(files_are_what_the_generator_makes)
{
	struct arena *a = arena_new();
	struct text made = {0}, is = {0};
	struct error e = {0};

	ck_assert_int_eq(platform_text(&made, a, machines[_i].spec, NULL, 0, false, &e),
	                 OK);
	ck_assert_int_eq(platform_text(&is, a, machines[_i].file, NULL, 0, false, &e),
	                 OK);
	ck_assert_str_eq(is.s, made.s);
	text_free(&made);
	text_free(&is);
	arena_free(a);
}
END_TEST

START_TEST(machine_rows)
{
	struct arena *a = arena_new();
	struct machine *m = NULL;
	struct error e = {0};
	const struct fabric *f;

	ck_assert_int_eq(platform_machine(&m, a, machines[_i].spec, NULL, 0, &e), OK);
	f = &m->fabric[0];
	ck_assert_str_eq(m->name, machines[_i].spec);
	ck_assert_int_eq(m->ndevices, machines[_i].devices);
	ck_assert_int_eq(m->nlinks, machines[_i].links);
	ck_assert_int_eq(m->nfabrics, machines[_i].nfabrics);
	ck_assert_double_eq(m->device[m->ndevices - 1].memory_bytes,
	                    machines[_i].memory_bytes);
	ck_assert_double_eq(m->device[0].memory_Bps, machines[_i].memory_Bps);
	ck_assert_double_gt(m->device[0].launch_s, 0);
	ck_assert_int_eq(f->geometry,
	                 *machines[_i].wrap ? GEOMETRY_TORUS : GEOMETRY_SWITCH);
	for (int i = 0; machines[_i].wrap[i]; i++)
		ck_assert_int_eq(f->wrap[i], machines[_i].wrap[i] == '1');
	if (*machines[_i].wrap)
		ck_assert_int_eq(fabric_places(f), m->ndevices);
	for (int32_t l = 0; l < m->nlinks; l++) {
		if (m->nfabrics > 1 && !strncmp(m->link[l].name, "net_", 4))
			continue;
		ck_assert_double_eq(m->link[l].bandwidth_Bps,
		                    machines[_i].bandwidth_Bps);
		ck_assert_double_eq_tol(m->link[l].latency_s, machines[_i].latency_s,
		                        1e-20);
	}
	arena_free(a);
}
END_TEST

/* Loading compares the geometry with SimGrid's routes: neighbours and 1,000 others. */
START_TEST(simgrid_agrees)
{
	struct arena *a = arena_new();
	struct platform *p = NULL;
	struct error e = {0};

	ck_assert_msg(platform_load(&p, a, machines[_i].spec, NULL, 0, &e) == OK, "%s",
	              e.text);
	ck_assert_int_eq(p->machine->nlinks, machines[_i].links);
	for (int64_t i = 0; i < (int64_t)p->machine->nfabrics * p->machine->ndevices;
	     i++)
		ck_assert_ptr_nonnull(p->host[i]);
	arena_free(a);
}
END_TEST

/* Our generator and reader know nothing of models/array's makers: they must agree. */
START_TEST(routes_are_the_makers)
{
	static const int32_t shape[] = {4, 8, 12};
	static const bool wrap[] = {true, true, true};
	struct arena *a = arena_new();
	struct machine *m = NULL, *made;
	struct error e = {0};

	ck_assert_int_eq(platform_machine(&m, a, "tpu-v4:4x8x12", NULL, 0, &e), OK);
	made = machine_torus(a, 3, shape, wrap, m->link[0], m->device[0]);
	for (int32_t src = 0; src < 384; src += 5)
		for (int32_t dst = 0; dst < 384; dst++) {
			int32_t x[64], y[64];
			int n = machine_route(m, 0, src, dst, x, 64);

			ck_assert_int_eq(n, machine_route(made, 0, src, dst, y, 64));
			for (int i = 0; i < n; i++) {
				int from, to, up;

				ck_assert_int_eq(sscanf(m->link[x[i]].name,
				                        "ici_link_from_%d_to_%d_",
				                        &from, &to),
				                 2);
				up = strstr(m->link[x[i]].name, "_UP") != NULL;
				ck_assert_str_eq(made->link[y[i]].name,
				                 arena_printf(a, "ici_%d_to_%d",
				                              up ? from : to,
				                              up ? to : from));
			}
		}
	arena_free(a);
}
END_TEST

START_TEST(large_ones_are_quick)
{
	struct arena *a = arena_new();
	struct machine *m = NULL;
	struct error e = {0};

	ck_assert_int_eq(platform_machine(&m, a, "tpu-v4:16x16x16", NULL, 0, &e), OK);
	ck_assert_int_eq(m->ndevices, 4096);
	ck_assert_int_eq(platform_machine(&m, a, "dgx-h100:2048", NULL, 0, &e), OK);
	ck_assert_int_eq(m->ndevices, 16384);
	ck_assert_int_eq(m->fabric[0].ndomains, 2048);
	ck_assert_int_eq(machine_fabric(m, 16383, 16376), 0);
	ck_assert_int_eq(machine_fabric(m, 16383, 16375), 1);
	arena_free(a);
}
END_TEST

/* Hosts, links and routes by hand: a switch of three, with shared or split links. */
static const char by_hand[] =
	"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
	"\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\"><zone "
	"id=\"z\" "
	"routing=\"%s\">\n"
	"%s%s%s"
	"<link id=\"a\" bandwidth=\"8Gbps\" latency=\"2us\" "
	"sharing_policy=\"SPLITDUPLEX\"/>\n"
	"<link id=\"b\" bandwidth=\"1GBps\" latency=\"2us\" "
	"sharing_policy=\"SPLITDUPLEX\"/>\n"
	"<link id=\"c\" bandwidth=\"1GBps\" latency=\"2us\" "
	"sharing_policy=\"SPLITDUPLEX\"/>\n"
	"<route src=\"h0\" dst=\"h1\"><link_ctn id=\"a\" direction=\"UP\"/>"
	"<link_ctn id=\"b\" direction=\"DOWN\"/></route>\n"
	"<route src=\"h1\" dst=\"h2\"><link_ctn id=\"b\" direction=\"UP\"/>"
	"<link_ctn id=\"c\" direction=\"DOWN\"/></route>\n"
	"<route src=\"h2\" dst=\"h0\"><link_ctn id=\"c\" direction=\"UP\"/>"
	"<link_ctn id=\"a\" direction=\"DOWN\"/></route>\n"
	"</zone></platform>\n";

static const char *host_by_hand(struct arena *a, int d, const char *geometry)
{
	return arena_printf(
		a,
		"<host id=\"h%d\" speed=\"1Gf\"><prop id=\"fabric\" value=\"net\"/>"
		"<prop id=\"domain\" value=\"all\"/><prop id=\"priority\" value=\"0\"/>"
		"<prop id=\"profile\" value=\"nccl\"/><prop id=\"geometry\" "
		"value=\"%s\"/>"
		"<prop id=\"memory_bytes\" value=\"1e9\"/><prop id=\"memory_Bps\" "
		"value=\"0\"/><prop id=\"launch_s\" value=\"0\"/></host>\n",
		d, geometry);
}

static const char *write_by_hand(struct arena *a, const char *routing,
                                 const char *geometry)
{
	const char *text =
		arena_printf(a, by_hand, routing, host_by_hand(a, 0, geometry),
	                     host_by_hand(a, 1, geometry), host_by_hand(a, 2, geometry));

	return edit_write(a, text, strlen(text), ".xml");
}

static const struct {
	const char *routing, *geometry;
} hand_table[] = {
	{"Full", "switch"},
	{"Full", "graph"},
	{"DijkstraCache", "graph"},
	{"Floyd", "graph"},
};

START_TEST(hand_rows)
{
	struct arena *a = arena_new();
	const char *path =
		write_by_hand(a, hand_table[_i].routing, hand_table[_i].geometry);
	struct platform *p = NULL;
	struct error e = {0};
	int32_t links[2];

	ck_assert_msg(platform_load(&p, a, path, NULL, 0, &e) == OK, "%s", e.text);
	unlink(path);
	ck_assert_int_eq(p->machine->ndevices, 3);
	ck_assert_int_eq(p->machine->nlinks, 6);
	ck_assert_int_eq(machine_route(p->machine, 0, 2, 1, links, 2), 2);
	/* SimGrid's shortest-path zones turn a route of several links round */
	if (strcmp(p->machine->link[links[0]].name, "c_UP") != 0) {
		int32_t link = links[0];

		links[0] = links[1];
		links[1] = link;
	}
	ck_assert_str_eq(p->machine->link[links[0]].name, "c_UP");
	ck_assert_str_eq(p->machine->link[links[1]].name, "b_DOWN");
	ck_assert_double_eq(p->machine->link[links[0]].bandwidth_Bps, 1e9);
	ck_assert_double_eq_tol(machine_latency(p->machine, 0, 2, 1), 4e-6, 1e-20);
	ck_assert_int_eq(machine_route(p->machine, 0, 2, 1, links, 1), -1);
	arena_free(a);
}
END_TEST

/* When SimGrid is started: late for what is generated, at once to check a file. */
START_TEST(starts_when_needed)
{
	struct arena *a = arena_new();
	struct platform *p = NULL;
	const struct link *link;
	struct error e = {0};

	ck_assert_int_eq(
		platform_open(&p, a, "platforms/dgx-a100_4.xml", NULL, 0, false, &e),
		OK);
	ck_assert_ptr_null(p->host);
	ck_assert_int_eq(platform_open(&p, a, "dgx-a100:3", NULL, 0, true, &e), OK);
	ck_assert_ptr_null(p->host);
	link = p->machine->link;
	ck_assert_int_eq(platform_start(p, &e), OK);
	ck_assert_ptr_nonnull(p->host);
	ck_assert_ptr_eq(p->machine->link, link);
	ck_assert_int_eq(p->machine->nlinks, 96);
	ck_assert_int_eq(platform_start(p, &e), OK);
	arena_free(a);
}
END_TEST

START_TEST(a_file_is_checked_at_once)
{
	struct arena *a = arena_new();
	struct platform *p = NULL;
	struct error e = {0};

	ck_assert_int_eq(
		platform_open(&p, a, "platforms/dgx-a100_4.xml", NULL, 0, true, &e), OK);
	ck_assert_ptr_nonnull(p->host);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("platform");
	TCase *tcase = tcase_create("platform");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, files_are_what_the_generator_makes, 0, SHIPPED);
	tcase_add_loop_test(tcase, machine_rows, 0, COUNT(machines));
	tcase_add_loop_test(tcase, simgrid_agrees, 0, COUNT(machines));
	tcase_add_test(tcase, routes_are_the_makers);
	tcase_add_test(tcase, large_ones_are_quick);
	tcase_add_test(tcase, starts_when_needed);
	tcase_add_test(tcase, a_file_is_checked_at_once);
	tcase_add_loop_test(tcase, hand_rows, 0, COUNT(hand_table));
	suite_add_tcase(suite, tcase);
	return suite;
}
