#include "platform/platform.h"
#include "tests/tests.h"

#include "edit.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* Properties of hosts that few platforms have, and the geometry `twisted`. */

/* A cluster; `more` are further properties. */
struct part {
	const char *id, *prefix, *radical, *wires; /* NULL: flat */
	const char *fabric, *domain, *geometry, *more;
	int priority;
};

static void part_write(struct text *t, const struct part *p)
{
	text_printf(
		t,
		"<cluster id=\"%s\" prefix=\"%s\" suffix=\"\" radical=\"%s\" "
		"speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" %s>\n<prop id=\"fabric\" "
		"value=\"%s\"/><prop id=\"domain\" value=\"%s\"/><prop "
		"id=\"priority\" value=\"%d\"/><prop id=\"profile\" "
		"value=\"nccl\"/><prop id=\"geometry\" value=\"%s\"/><prop "
		"id=\"memory_bytes\" value=\"1e9\"/><prop id=\"memory_Bps\" "
		"value=\"0\"/><prop id=\"launch_s\" value=\"0\"/>\n%s\n</cluster>\n",
		p->id, p->prefix, p->radical, p->wires ? p->wires : "", p->fabric,
		p->domain, p->priority, p->geometry, p->more ? p->more : "");
}

static const char *parts_write(struct arena *a, const struct part *part, int n)
{
	struct text t = {0};
	const char *path;

	text_printf(&t, "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
	                "\n<platform version=\"4.1\"><zone id=\"z\" "
	                "routing=\"Full\">\n");
	for (int i = 0; i < n && part[i].id; i++)
		part_write(&t, &part[i]);
	text_printf(&t, "</zone></platform>\n");
	path = edit_write(a, t.s, t.length, ".xml");
	text_free(&t);
	return path;
}

#define DEVICES(k) "<prop id=\"devices\" value=\"" #k "\"/>"
#define OF_DOMAIN(k) "<prop id=\"domain_devices\" value=\"" #k "\"/>"
#define CONSTANTS(text) "<prop id=\"constants\" value=\"" text "\"/>"

/* Two nodes of 4 GPUs in one cluster, and one NIC for every two of them. */
static const struct part nics[] = {
	{"nv", "gpu", "0-7", NULL, "nvlink", "node", "switch", OF_DOMAIN(4), 0},
	{"net", "nic", "0-3", NULL, "net", "net", "switch", DEVICES(2), 1},
};

START_TEST(shared_nics)
{
	struct arena *a = arena_new();
	const char *path = parts_write(a, nics, 2);
	struct platform *p = NULL;
	struct machine *m;
	struct error e = {0};
	int32_t links[2];

	ck_assert_msg(platform_load(&p, a, path, NULL, 0, &e) == OK, "%s", e.text);
	unlink(path);
	m = p->machine;
	ck_assert_int_eq(m->ndevices, 8);
	ck_assert_int_eq(m->nlinks, 2 * (8 + 4));
	ck_assert_int_eq(m->fabric[0].ndomains, 2);
	ck_assert_int_eq(m->fabric[0].share, 1);
	ck_assert_int_eq(m->fabric[1].share, 2);
	for (int32_t src = 0; src < 8; src++)
		for (int32_t dst = 0; dst < 8; dst++)
			ck_assert_int_eq(machine_fabric(m, src, dst),
			                 src / 4 == dst / 4 ? 0 : 1);
	ck_assert_int_eq(machine_route(m, 1, 3, 5, links, 2), 2);
	ck_assert_str_eq(m->link[links[0]].name, "net_link_1_UP");
	ck_assert_str_eq(m->link[links[1]].name, "net_link_2_DOWN");
	ck_assert_ptr_eq(p->host[8 + 2], p->host[8 + 3]);
	ck_assert_ptr_ne(p->host[8 + 2], p->host[8 + 4]);
	arena_free(a);
}
END_TEST

/* Chips of two cores on a torus of 3 x 4, cores joined by a switch of their own. */
static const struct part cores[] = {
	{"ici", "chip", "0-11", "topology=\"TORUS\" topo_parameters=\"4,3\"", "ici",
         "pod", "torus 3x4 wrap 11", DEVICES(2), 1},
	{"die", "core", "0-23", NULL, "die", "chip", "switch", OF_DOMAIN(2), 0},
};

START_TEST(shared_chips)
{
	static const int32_t shape[] = {3, 4};
	static const bool wrap[] = {true, true};
	struct arena *a = arena_new();
	const char *path = parts_write(a, cores, 2);
	struct platform *p = NULL;
	struct machine *m, *chips;
	struct error e = {0};

	ck_assert_msg(platform_load(&p, a, path, NULL, 0, &e) == OK, "%s", e.text);
	unlink(path);
	m = p->machine;
	chips = machine_torus(a, 2, shape, wrap, m->link[0], m->device[0]);
	ck_assert_int_eq(m->ndevices, 24);
	ck_assert_str_eq(m->fabric[1].name, "ici");
	ck_assert_int_eq(fabric_places(&m->fabric[1]), 12);
	for (int32_t src = 0; src < 24; src++)
		for (int32_t dst = 0; dst < 24; dst++) {
			int32_t links[8], chip_links[8];
			int n = machine_route(m, 1, src, dst, links, 8);

			ck_assert_int_eq(machine_fabric(m, src, dst),
			                 src / 2 == dst / 2 ? 0 : 1);
			ck_assert_int_eq(n < 0, src / 2 == dst / 2 && src != dst);
			if (n >= 0)
				ck_assert_int_eq(n,
				                 machine_route(chips, 0, src / 2,
				                               dst / 2, chip_links, 8));
		}
	ck_assert_int_eq(fabric_neighbour(&m->fabric[1], 1, 1, 1), 2);
	ck_assert_int_eq(fabric_neighbour(&m->fabric[1], 0, 0, -1), 16);
	arena_free(a);
}
END_TEST

START_TEST(constants_are_read)
{
	struct part part = {
		"nv",     "gpu",  "0-2",    NULL,
		"nvlink", "node", "switch", CONSTANTS("step=0.75 fill_s=3e-06"),
		0};
	struct arena *a = arena_new();
	struct machine *m = NULL;
	struct error e = {0};
	const char *path = parts_write(a, &part, 1);

	ck_assert_msg(platform_machine(&m, a, path, NULL, 0, &e) == OK, "%s", e.text);
	unlink(path);
	ck_assert_double_eq(m->tuning.value[TUNING_STEP], 0.75);
	ck_assert_double_eq(m->tuning.value[TUNING_FILL_S], 3e-6);
	ck_assert_double_eq(m->tuning.value[TUNING_NET_STEP],
	                    tuning_default.value[TUNING_NET_STEP]);
	part.more = NULL;
	path = parts_write(a, &part, 1);
	ck_assert_int_eq(platform_machine(&m, a, path, NULL, 0, &e), OK);
	unlink(path);
	for (int i = 0; i < TUNINGS; i++)
		ck_assert_double_eq(m->tuning.value[i], tuning_default.value[i]);
	arena_free(a);
}
END_TEST

static const struct {
	struct part part[3];
	unsigned line; /* 0: of the whole file */
	const char *text;
} faults[] = {
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", CONSTANTS("stop=1"), 0}},
         5,
         "constants: "},
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", CONSTANTS("step=x"), 0}},
         5,
         "constants: "},
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", CONSTANTS("step=2"), 0},
          {"b", "h", "0-2", 0, "net", "n", "switch", NULL, 1}},
         7,
         "'h0' contradicts 'g0': a machine has one set of constants, but step is 1 and "
         "2"},
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", DEVICES(0), 0}},
         5,
         "a whole number from 1 to 1024"},
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", DEVICES(1.5), 0}},
         5,
         "a whole number"},
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", DEVICES(2000), 0}},
         5,
         "a whole number"},
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", OF_DOMAIN(0), 0}},
         5,
         "a whole number"},
	/* nothing joins the two devices of a host */
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", DEVICES(2), 0}},
         3,
         "devices 0 and 1 share host 'g0', but no other fabric joins them"},
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", DEVICES(3), 1},
          {"b", "h", "0-8", 0, "die", "n", "switch", OF_DOMAIN(2), 0}},
         3,
         "devices 0 and 2 share host 'g0'"},
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", DEVICES(2), 0},
          {"b", "g", "3-4", 0, "nv", "n", "switch", NULL, 0}},
         7,
         "one fabric has one priority, profile, geometry and number of devices"},
	{{{"a", "g", "0-2", 0, "nv", "n", "switch", DEVICES(2), 0},
          {"b", "h", "2-4", 0, "nv", "n", "switch", DEVICES(2), 0}},
         7,
         "device 4 has two hosts on fabric 'nv': 'g2' and 'h2'"},
	{{{"a", "g", "0,2", 0, "nv", "n", "switch", DEVICES(2), 0}},
         3,
         "host 'g2' is of device 4"},
	{{{"a", "g", "0-1,3", 0, "nv", "n", "switch", DEVICES(2), 0},
          {"b", "h", "0-7", 0, "die", "n", "switch", OF_DOMAIN(2), 1}},
         0,
         NULL},
	{{{"a", "g", "0-10", "topology=\"TORUS\" topo_parameters=\"11\"", "nv", "n",
           "torus 12 wrap 1", DEVICES(2), 1},
          {"b", "h", "0-21", 0, "die", "n", "switch", NULL, 0}},
         3,
         "domain 'n' has 11 hosts, but its geometry is 'torus 12 wrap 1'"},
	{{{"a", "g", "0-31", 0, "ici", "n", "twisted 4x4x3", NULL, 0}},
         3,
         "the axes of a twisted torus are n or 2n long"},
	{{{"a", "g", "0-31", 0, "ici", "n", "twisted 4x8 wrap 11", NULL, 0}},
         3,
         "expected such as"},
	{{{"a", "g", "0-31", 0, "ici", "n", "twisted", NULL, 0}}, 3, "expected such as"},
	{{{"a", "g", "0-31", "topology=\"TORUS\" topo_parameters=\"8,4\"", "ici", "n",
           "twisted 4x8", NULL, 0}},
         3,
         "'g0' and 'g28' are neighbours in geometry 'twisted 4x8'"},
};

START_TEST(fault_rows)
{
	struct arena *a = arena_new();
	const char *path = parts_write(a, faults[_i].part, 3);
	struct machine *m = NULL;
	struct error e = {0};

	platform_machine(&m, a, path, NULL, 0, &e);
	unlink(path);
	ck_assert_msg((e.code == OK) == !faults[_i].text, "%s", e.text);
	if (faults[_i].text)
		ck_assert_msg(strstr(e.text, faults[_i].text) != NULL, "%s", e.text);
	ck_assert_uint_eq(e.at.line, faults[_i].line);
	arena_free(a);
}
END_TEST

/* A file with the links and routes of a twisted torus written out. */
static const char *write_twisted(struct arena *a, const int32_t *shape, bool astray)
{
	struct link link = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
	const struct machine *m = machine_twisted(a, 3, shape, link, (struct device){0});
	struct text t = {0};
	const char *path;

	text_printf(&t, "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
	                "\n<platform version=\"4.1\"><zone id=\"z\" "
	                "routing=\"Full\">\n");
	for (int32_t d = 0; d < m->ndevices; d++)
		text_printf(&t,
		            "<host id=\"chip%d\" speed=\"1Gf\"><prop id=\"fabric\" "
		            "value=\"ici\"/><prop id=\"domain\" value=\"pod\"/><prop "
		            "id=\"priority\" value=\"0\"/><prop id=\"profile\" "
		            "value=\"tpu\"/><prop id=\"geometry\" value=\"twisted "
		            "%dx%dx%d\"/><prop id=\"memory_bytes\" "
		            "value=\"1e9\"/><prop id=\"memory_Bps\" value=\"0\"/><prop "
		            "id=\"launch_s\" value=\"0\"/></host>\n",
		            (int)d, (int)shape[0], (int)shape[1], (int)shape[2]);
	for (int32_t l = 0; l < m->nlinks; l++)
		text_printf(&t,
		            "<link id=\"%s\" bandwidth=\"45GBps\" latency=\"1us\"/>\n",
		            m->link[l].name);
	for (int32_t i = 0; i < m->ndevices * m->ndevices; i++) {
		int32_t src = i / m->ndevices, dst = i % m->ndevices, links[64];
		int n = machine_route(m, 0, src, dst, links, 64);

		if (n <= 0)
			continue;
		text_printf(&t,
		            "<route src=\"chip%d\" dst=\"chip%d\" symmetrical=\"NO\">",
		            (int)src, (int)dst);
		for (int k = 0; k < n; k++)
			text_printf(&t, "<link_ctn id=\"%s\"/>",
			            m->link[links[astray && n > 3 ? n - 1 - k : k]].name);
		text_printf(&t, "</route>\n");
	}
	text_printf(&t, "</zone></platform>\n");
	path = edit_write(a, t.s, t.length, ".xml");
	text_free(&t);
	return path;
}

static const struct {
	int32_t shape[3];
	bool astray;
} twisted[] = {
	{{2, 2, 4}, false}, {{3, 6, 6}, false}, {{6, 3, 3}, false}, {{3, 3, 6}, true}};

START_TEST(twisted_rows)
{
	struct arena *a = arena_new();
	const char *path = write_twisted(a, twisted[_i].shape, twisted[_i].astray);
	struct platform *p = NULL;
	struct error e = {0};

	platform_load(&p, a, path, NULL, 0, &e);
	unlink(path);
	if (twisted[_i].astray) {
		ck_assert_msg(strstr(e.text, "but geometry 'twisted "
		                             "3x3x6' has") != NULL,
		              "%s", e.text);
	} else {
		ck_assert_msg(e.code == OK, "%s", e.text);
		ck_assert_int_gt(p->machine->fabric[0].twist, 1);
	}
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("platform props");
	TCase *tcase = tcase_create("platform props");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, shared_nics);
	tcase_add_test(tcase, shared_chips);
	tcase_add_test(tcase, constants_are_read);
	tcase_add_loop_test(tcase, fault_rows, 0, COUNT(faults));
	tcase_add_loop_test(tcase, twisted_rows, 0, COUNT(twisted));
	suite_add_tcase(suite, tcase);
	return suite;
}
