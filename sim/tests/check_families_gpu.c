/* Nodes of GPUs and their networks, as SimGrid and our reader see the files. */
#include "facts/families.h"
#include "family/xml.h"
#include "family_folder.h"
#include "tests/tests.h"

#include "platform/platform.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

enum { SETS = 6, HOPS = 16 };

static struct platform *load(struct arena *a, const char *spec, const char *const *set)
{
	struct platform *p = NULL;
	struct error e = {0};
	int nset = 0;

	while (nset < SETS && set[nset])
		nset++;
	ck_assert_msg(platform_load(&p, a, spec, set, nset, &e) == OK, "%s", e.text);
	return p;
}

/*
 * One route: its number of links, its latency and its narrowest link, by hand from the
 * figures of families.yaml.
 */
static const struct {
	const char *spec, *set[SETS];
	int32_t src, dst;
	int fabric, nlinks;
	double latency_s, narrowest_Bps;
} routes[] = {
	/* The hybrid cube mesh: 0-1 twice, 0-2 once; 0-4 and 4-5 twice, so 0 to 5 by 4. */
	{"dgx1-v100:1", {NULL}, 0, 1, 0, 1, 0.3e-6, 46.6e9},
	{"dgx1-v100:1", {NULL}, 0, 2, 0, 1, 0.3e-6, 23.3e9},
	{"dgx1-v100:3", {NULL}, 8, 13, 0, 2, 0.6e-6, 46.6e9},
	{"dgx1-v100:1", {NULL}, 7, 0, 0, 2, 0.6e-6, 23.3e9},
	{"dgx2:3", {NULL}, 15, 0, 0, 2, 0.6e-6, 128e9},
	{"mi300x:1", {NULL}, 3, 7, 0, 1, 1e-6, 46.5e9},
	{"mi300x:1", {"xgmi.bandwidth=51GB/s"}, 3, 7, 0, 1, 1e-6, 51e9},
	{"mi355x:3", {NULL}, 5, 21, 1, 2, 2.5e-6, 48e9},
	/* Two dies joined by two links; over 6, which 7 shares a package with; over 4. */
	{"mi250x:1", {NULL}, 0, 6, 0, 1, 1e-6, 81e9},
	{"mi250x:1", {NULL}, 0, 7, 0, 2, 2e-6, 81e9},
	{"mi250x-16:1", {NULL}, 0, 12, 0, 2, 2e-6, 40.5e9},
	{"dgx-spark:2", {NULL}, 0, 1, 0, 2, 2.5e-6, 24e9},
	{"gb200-nvl72:2", {NULL}, 0, 71, 0, 2, 1.15e-6, 688e9},
	{"gb200-nvl72:2", {NULL}, 71, 72, 1, 2, 2.5e-6, 48e9},
	/* 32 NICs of 11.3 GB/s per node are four per GPU; twice as many, eight. */
	{"aws-p5:2", {NULL}, 0, 15, 1, 2, 2.5e-6, 45.2e9},
	{"aws-p5:2", {"nics=64"}, 0, 15, 1, 2, 2.5e-6, 90.4e9},
	{"dgx-h100:3", {"inside=pairs x3"}, 9, 12, 0, 1, 1.25e-6, 3 * 368e9},
	/* A ring of 8 GPUs, one of its links wider than the others. */
	{"dgx-h100:1",
         {"inside=0-1x5 1-2 2-3 3-4 4-5 5-6 6-7 0-7"},
         0,
         3,
         0,
         3,
         3.75e-6,
         368e9},
	/* Rails: same rail and unit one switch, else three. */
	{"dgx-h100:64", {"net=rails"}, 0, 8, 1, 2, 1.7e-6, 48e9},
	{"dgx-h100:64", {"net=rails"}, 3, 8 * 31 + 3, 1, 2, 1.7e-6, 48e9},
	{"dgx-h100:64", {"net=rails"}, 3, 8 * 31 + 4, 1, 4, 3.4e-6, 48e9},
	{"dgx-h100:64", {"net=rails"}, 3, 8 * 32 + 3, 1, 4, 3.4e-6, 48e9},
	{"dgx-h100:6", {"net=rails", "net.ports=3"}, 7, 23, 1, 2, 1.7e-6, 48e9},
	{"dgx-h100:6", {"net=rails", "net.ports=3"}, 7, 31, 1, 4, 3.4e-6, 48e9},
	/* A fat tree takes neighbours: four nodes of eight NICs to a leaf of 32. */
	{"dgx-h100:8", {"net=fat-tree"}, 0, 31, 1, 2, 1.7e-6, 48e9},
	{"dgx-h100:8", {"net=fat-tree"}, 0, 32, 1, 4, 3.4e-6, 48e9},
	{"dgx-h100:8",
         {"net=fat-tree", "net.latency=1us", "net.ports=16"},
         0,
         16,
         1,
         4,
         4e-6,
         48e9},
	{"dgx-h100:3", {"net=fat-tree"}, 1, 23, 1, 2, 1.7e-6, 48e9},
	/* 8 groups of 9 routers of 15 for 540 nodes; 2160 GPUs of which two share a NIC. */
	{"polaris:7", {NULL}, 0, 2, 0, 1, 0.95e-6, 78.4e9},
	{"polaris:7", {NULL}, 1, 27, 1, 2, 1.7e-6, 18e9},
	{"polaris:16", {NULL}, 0, 63, 1, 3, 2.55e-6, 18e9},
	{"polaris:540", {NULL}, 0, 28, 1, 2, 1.7e-6, 18e9},
	{"polaris:540", {NULL}, 0, 30, 1, 3, 2.55e-6, 18e9},
	{"polaris:540", {NULL}, 0, 2159, 1, 5, 4.25e-6, 18e9},
	/* One NIC for sixteen. */
	{"a2-megagpu:3", {NULL}, 15, 32, 1, 2, 2.5e-6, 12e9},
	{"aws-p4de:2", {NULL}, 7, 8, 1, 2, 2.5e-6, 11.3e9},
};

START_TEST(route_rows)
{
	struct arena *a = arena_new();
	struct platform *p = load(a, routes[_i].spec, routes[_i].set);
	const struct machine *m = p->machine;
	int32_t links[HOPS];
	double narrowest = 1e300;
	int n;

	ck_assert_int_eq(machine_fabric(m, routes[_i].src, routes[_i].dst),
	                 routes[_i].fabric);
	n = machine_route(m, routes[_i].fabric, routes[_i].src, routes[_i].dst, links,
	                  HOPS);
	ck_assert_int_eq(n, routes[_i].nlinks);
	for (int i = 0; i < n; i++)
		if (m->link[links[i]].bandwidth_Bps < narrowest)
			narrowest = m->link[links[i]].bandwidth_Bps;
	ck_assert_double_eq_tol(narrowest, routes[_i].narrowest_Bps, 1);
	ck_assert_double_eq_tol(
		machine_latency(m, routes[_i].fabric, routes[_i].src, routes[_i].dst),
		routes[_i].latency_s, 1e-15);
	arena_free(a);
}
END_TEST

/* The sum of the bandwidths of the different links that leave the first switch. */
static const struct {
	const char *spec, *set[SETS];
	int32_t first, n; /* devices on that switch: first, first + step, ... */
	int32_t step;
	int up; /* cables */
} uplinks[] = {
	{"dgx-h100:8", {"net=rails", "net.ports=4"}, 1, 4, 8, 4},
	{"dgx-h100:8", {"net=rails", "net.ports=4", "net.oversubscription=2"}, 1, 4, 8, 2},
	{"dgx-h100:8",
         {"net=fat-tree", "net.ports=16", "net.oversubscription=4"},
         16,
         16,
         1,
         4},
	{"dgx-h100:8", {"net=fat-tree", "net.ports=16"}, 16, 16, 1, 16},
};

START_TEST(uplink_rows)
{
	struct arena *a = arena_new();
	struct platform *p = load(a, uplinks[_i].spec, uplinks[_i].set);
	const struct machine *m = p->machine;
	bool *seen = arena_alloc(a, (size_t)m->nlinks, sizeof(*seen));
	int32_t links[HOPS];
	int up = 0;

	for (int32_t k = 0; k < uplinks[_i].n; k++)
		for (int32_t dst = 0; dst < m->ndevices; dst++) {
			int32_t src = uplinks[_i].first + k * uplinks[_i].step;

			if (machine_route(m, 1, src, dst, links, HOPS) < 4)
				continue;
			up += !seen[links[1]];
			seen[links[1]] = true;
		}
	ck_assert_int_eq(up, uplinks[_i].up);
	arena_free(a);
}
END_TEST

/* GPUs that share a NIC put their messages on the same link. */
START_TEST(neighbours_share_a_nic)
{
	static const char *const none[SETS] = {NULL};
	struct arena *a = arena_new();
	const struct machine *m = load(a, "aws-p4de:3", none)->machine;
	int32_t x[HOPS], y[HOPS];

	for (int32_t d = 0; d < 8; d++) {
		ck_assert_int_eq(machine_route(m, 1, d, 23, x, HOPS), 2);
		ck_assert_int_eq(machine_route(m, 1, d ^ 1, 22, y, HOPS), 2);
		ck_assert_int_eq(x[0], y[0]);
		ck_assert_int_eq(x[1], y[1]);
		ck_assert_int_eq(machine_route(m, 1, (d + 2) % 8, 20, y, HOPS), 2);
		ck_assert_int_ne(x[0], y[0]);
		ck_assert_int_ne(x[1], y[1]);
	}
	arena_free(a);
}
END_TEST

/* Everything that is shipped, on two nodes where there are two. */
START_TEST(every_family_loads)
{
	static const char *const none[SETS] = {NULL};
	struct arena *a = arena_new();
	struct families all = {0};
	struct error e = {0};
	const struct family *f;
	const struct machine *m;
	const char *path;

	ck_assert_int_eq(platform_data_path(&path, a, "families.yaml", &e), OK);
	ck_assert_int_eq(families_read(&all, a, path, &e), OK);
	if (_i >= all.n || all.family[_i].kind != FAMILY_NODES) {
		arena_free(a);
		return;
	}
	f = &all.family[_i];
	ck_assert_int_ge(f->largest[0], 2);
	m = load(a, arena_printf(a, "%s:2", f->name), none)->machine;
	ck_assert_int_eq(m->ndevices, 2 * f->gpus);
	/* Of nodes of one GPU there is the network alone. */
	ck_assert_int_eq(m->nfabrics, f->gpus > 1 ? 2 : 1);
	ck_assert_str_eq(m->fabric[0].profile, f->profile);
	ck_assert_str_eq(m->fabric[0].name, f->gpus > 1 ? f->fabric : "net");
	for (int k = 0; k < TUNINGS; k++)
		ck_assert_double_le(fabs(m->tuning.value[k] - f->tuning.value[k]),
		                    1e-12 * f->tuning.value[k]);
	for (int32_t d = 1; d < m->ndevices; d++)
		ck_assert_int_eq(machine_fabric(m, 0, d),
		                 d < f->gpus ? 0 : m->nfabrics - 1);
	arena_free(a);
}
END_TEST

/* Constants of the library and the profile, set by hand. */
START_TEST(tuning_is_set)
{
	static const char *const set[SETS] = {"step=2.5",           "fill_s=3us",
	                                      "channel_Bps=21GB/s", "cc=0",
	                                      "profile=plain",      NULL};
	struct arena *a = arena_new();
	const struct machine *m = load(a, "dgx-h100:1", set)->machine;

	ck_assert_double_eq(m->tuning.value[TUNING_STEP], 2.5);
	ck_assert_double_eq_tol(m->tuning.value[TUNING_FILL_S], 3e-6, 1e-20);
	ck_assert_double_eq(m->tuning.value[TUNING_CHANNEL_BPS], 21e9);
	ck_assert_double_eq(m->tuning.value[TUNING_CC], 0);
	ck_assert_str_eq(m->fabric[0].profile, "plain");
	arena_free(a);
}
END_TEST

static const struct {
	const char *spec, *set[SETS];
	const char *file;
	unsigned col;
	const char *text;
} faults[] = {
	{"dgx-h100:2", {"net=mesh"}, "--set", 5, "unknown net 'mesh', expected switch"},
	{"dgx-h100:1", {"net=rails"}, "--set", 1, "no net, net changes nothing"},
	{"dgx-h100:1", {"nics=4"}, "--set", 1, "no net, nics changes nothing"},
	{"dgx-h100:1", {"net_step=3"}, "--set", 1, "no net, net_step changes nothing"},
	{"dgx-h100:2", {"nics=3"}, "--set", 6, "3 NICs and 8 GPUs"},
	{"dgx-h100:2", {"nics=0"}, "--set", 6, "NICs of a node"},
	{"dgx-h100:2", {"net.ports=4"}, "--set", 1, "no meaning with the net of dgx"},
	{"dgx-h100:2", {"net=rails", "nic.latency=1us"}, "--set", 1, "'nic.latency'"},
	{"dgx-h100:2", {"net=rails", "net.groups=2"}, "--set", 1, "'net.groups'"},
	{"dgx-h100:2", {"net=rails", "net.ports=0"}, "--set", 11, ""},
	{"dgx-h100:2", {"net=rails", "net.ports=4us"}, "--set", 11, "is a whole number"},
	{"dgx-h100:2",
         {"net=dragonfly"},
         "--set",
         1,
         "'net.groups', 'net.routers', 'net.global', 'net.local' are missing: they"},
	{"dgx-h100:2",
         {"net=dragonfly", "net.groups=2"},
         "--set",
         1,
         "'net.routers', 'net.global', 'net.local' are missing: they"},
	{"polaris:2", {"net=switch"}, "--set", 1, "'nic.latency' is missing"},
	{"dgx-h100:33", {"net=rails"}, "--platform", 1, "33 nodes of dgx-h100 are no"},
	{"dgx-h100:5", {"net=fat-tree"}, "--platform", 1, "40 NICs of dgx-h100 are no"},
	{"dgx-h100:64",
         {"net=rails", "net.oversubscription=3"},
         "--platform",
         1,
         "32 cables down has none for each 3"},
	{"polaris:11", {"net.ports=3"}, "--platform", 1, "the next fewer nodes that do"},
	{"polaris:17",
         {NULL},
         "--platform",
         1,
         "34 NICs do not spread evenly over up to 8 groups of 10 routers of 16; the "
         "next fewer nodes that do are 16"},
	{"polaris:561", {NULL}, "--platform", 9, "561 is out of range, expected 1 to 560"},
	{"dgx-h100:1", {"inside=ring"}, "--set", 8, "a GPU"},
	{"dgx-h100:1", {"inside=0-8"}, "--set", 10, "a GPU"},
	{"dgx-h100:1", {"inside=0-1 1-0"}, "--set", 12, "are there twice"},
	{"dgx-h100:1", {"inside=0-0"}, "--set", 8, "a link of a GPU to itself"},
	{"dgx-h100:1", {"inside=0-1 2-3"}, "--set", 8, "do not join all 8 GPUs"},
	{"dgx-h100:1", {"inside=pairs x0"}, "--set", 15, "a number of links"},
	{"dgx-h100:1", {"inside=pairs 4"}, "--set", 14, "expected the end"},
	{"dgx-h100:1", {"inside=0-1 pcie 2-3"}, "--set", 17, "expected the end"},
	{"dgx-h100:1",
         {"inside=0-1 pcie"},
         "--set",
         1,
         "'pcie.bandwidth', 'bridge.bandwidth' are missing"},
	{"p2-v100:1", {"slow_device=3:0.5"}, "--platform", 1, "PCIe switch is shared"},
	{"p2-a100:2",
         {"pcie.bandwidth=1GB/s"},
         "--set",
         1,
         "'pcie.bandwidth' has no meaning with the inside of a node of p2-a100"},
	{"gb200-nvl72:1", {"inside=pairs"}, "--set", 8, "links between more than 64"},
	{"dgx-h100:1", {"xgmi.bandwidth=1GB/s"}, "--set", 1, "no figure 'xgmi."},
	{"mi300x:1", {"nvlink.bandwidth=1GB/s"}, "--set", 1, "It has xgmi.bandwidth"},
	{"dgx-h100:1", {"profile=mpi"}, "--set", 9, "unknown profile 'mpi'"},
	{"dgx-h100:1", {"fill_s=3GB"}, "--set", 9, ""},
	{"dgx-h100:1", {"step=-1"}, "--set", 6, "expected a number of 0 or more"},
	{"dgx-h100:1", {"step=1 cc=2"}, "--set", 6, "expected a number of 0 or more"},
	{"dgx-h100:1", {"steps=1"}, "--set", 1, "did you mean 'step'?"},
	{"dgx1-v100:2:3", {NULL}, "--platform", 12, "expected the end"},
};

START_TEST(fault_rows)
{
	struct arena *a = arena_new();
	struct text out = {0};
	struct error e = {0};
	int nset = 0;

	while (nset < SETS && faults[_i].set[nset])
		nset++;
	ck_assert_int_ne(platform_text(&out, a, faults[_i].spec, faults[_i].set, nset,
	                               false, &e),
	                 OK);
	ck_assert_ptr_null(out.s);
	ck_assert_msg(strstr(e.text, faults[_i].text) != NULL, "%s", e.text);
	ck_assert_str_eq(e.at.file, faults[_i].file);
	ck_assert_msg(e.at.col == faults[_i].col, "col %u: %s", e.at.col, e.text);
	arena_free(a);
}
END_TEST

static const char family_yaml[] =
	"toy:\n"
	"  kind: nodes\n"
	"  gpus: 6\n"
	"  fabric: xgmi\n"
	"  inside: \"0-1x3 1-2 2-3 3-4 4-5\"\n"
	"  nics: 3\n"
	"  net: rails\n"
	"  largest: {value: 9, source: made up}\n"
	"  profile: rccl\n"
	"  figures:\n"
	"    xgmi.peak: {value: 3GB/s, source: made up}\n"
	"    xgmi.bandwidth: {value: 2GB/s, source: made up}\n"
	"    xgmi.latency: {value: 7us, source: made up}\n"
	"    nic.peak: {value: 3GB/s, source: made up}\n"
	"    nic.bandwidth: {value: 1GB/s, source: made up}\n"
	"    memory_bytes: {value: 1GiB, source: made up}\n"
	"    memory_Bps: {value: 5GB/s, source: made up}\n"
	"    launch_s: {value: 1us, source: made up}\n"
	"    step: {value: 1.5, source: made up}\n";

static const struct yaml_fault yaml_faults[] = {
	{"gpus: 6", "gpus: 0", 3, ""},
	{"fabric: xgmi", "fabric: ici", 4, "unknown fabric 'ici'"},
	{"0-1x3", "0-1y3", 5, ""},
	{"4-5", "", 5, "do not join all 6 GPUs"},
	{"nics: 3", "nics: 4", 6, "4 NICs and 6 GPUs"},
	{"nics: 3", "nics: [3]", 6, "'nics' must be a text"},
	{"net: rails", "net: rail", 7, "unknown net 'rail'"},
	{"net: rails", "net: switch", 11, "'nic.latency' is missing"},
	{"net: rails", "net: dragonfly", 11, "'net.groups', 'net.routers', "},
	{"net: rails", "wrap: 3", 11, "'nic.latency' is missing"},
	{"xgmi.peak", "nvlink.peak", 11, "unknown key 'nvlink.peak'"},
	{"xgmi.peak: {value: 3GB/s", "fill_s: {value: 3us", 11, "'xgmi.peak' is missing"},
	{"value: 1.5", "value: 1.5us", 19, "expected a number of 0 or more"},
	{"value: 1.5", "value: fast", 19, "expected a number of 0 or more"},
	{"{value: 1.5, source: made up}", "1.5", 19, "expected a mapping with 'value'"},
	{"step: ", "stepp: ", 19, "unknown key 'stepp'"},
	{"step: {value: 1.5,", "fill_s: {value: 1.5GB,", 19, ""},
};

START_TEST(yaml_fault_rows)
{
	yaml_fault_check(family_yaml, "toy:3", &yaml_faults[_i]);
}
END_TEST

/* The whole text of a small machine, as worked out by hand. */
START_TEST(toy_text)
{
	static const char *const lines[] = {
		"<cluster id=\"net\" prefix=\"nic\" suffix=\"\" "
		"radical=\"0,3,6,1,4,7,2,5,8\" speed=\"1Gf\" topology=\"FAT_TREE\" "
		"topo_parameters=\"2;3,3;1,3;1,1\" bw=\"1000000000Bps\" "
		"lat=\"0.00000085s\" sharing_policy=\"SPLITDUPLEX\">",
		"<prop id=\"profile\" value=\"rccl\"/>",
		"<prop id=\"geometry\" value=\"graph\"/>",
		"<prop id=\"devices\" value=\"2\"/>",
		"<prop id=\"constants\" value=\"step=1.5\"/>",
		"<zone id=\"node2\" routing=\"Full\">",
		"<prop id=\"fabric\" value=\"xgmi\"/>",
		"<link id=\"gpu12_gpu13\" bandwidth=\"6000000000Bps\" "
		"latency=\"0.000007s\" sharing_policy=\"SHARED\"/>",
		"<link id=\"gpu17_gpu16\" bandwidth=\"2000000000Bps\"",
		"<route src=\"gpu17\" dst=\"gpu14\" symmetrical=\"NO\"><link_ctn "
		"id=\"gpu17_gpu16\"/><link_ctn id=\"gpu16_gpu15\"/><link_ctn "
		"id=\"gpu15_gpu14\"/></route>",
	};
	struct arena *a = arena_new();
	const char *folder = family_folder(a, family_yaml, NULL, NULL);
	struct text out = {0};
	struct error e = {0};

	ck_assert_msg(platform_generate(&out, NULL, a, "toy:3", NULL, 0, false, &e) == OK,
	              "%s", e.text);
	family_folder_remove(folder);
	for (int i = 0; i < COUNT(lines); i++)
		ck_assert_msg(strstr(out.s, lines[i]) != NULL, "%s", lines[i]);
	text_free(&out);
	arena_free(a);
}
END_TEST

/* The files of nodes of GPUs that are shipped. */
static const char *const shipped[] = {"dgx1-v100:1", "aws-p4de:2"};

START_TEST(shipped_rows)
{
	struct arena *a = arena_new();
	struct text made = {0}, file = {0};
	struct error e = {0};
	char *path = arena_printf(a, "platforms/%s.xml", shipped[_i]);

	*strchr(path, ':') = '_';
	ck_assert_int_eq(platform_text(&made, a, shipped[_i], NULL, 0, false, &e), OK);
	ck_assert_msg(platform_text(&file, a, path, NULL, 0, false, &e) == OK, "%s",
	              e.text);
	ck_assert_str_eq(made.s, file.s);
	text_free(&made);
	text_free(&file);
	arena_free(a);
}
END_TEST

/* 16,384 GPUs: the files are made and read, the large cluster first. */
START_TEST(large_machines)
{
	static const char *const nets[] = {NULL, "net=rails", "net=fat-tree"};
	static const int far[] = {2, 4, 4};

	for (int i = 0; i < COUNT(nets); i++) {
		struct arena *a = arena_new();
		struct machine *m = NULL;
		struct error e = {0};
		int32_t links[HOPS];

		ck_assert_msg(platform_machine(&m, a, "dgx-h100:2048", &nets[i],
		                               nets[i] ? 1 : 0, &e) == OK,
		              "%s", e.text);
		ck_assert_int_eq(m->ndevices, 16384);
		ck_assert_int_eq(machine_route(m, 0, 16376, 16383, links, HOPS), 2);
		ck_assert_int_eq(machine_route(m, 1, 0, 16383, links, HOPS), far[i]);
		arena_free(a);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("families of GPUs");
	TCase *tcase = tcase_create("families of GPUs");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, route_rows, 0, COUNT(routes));
	tcase_add_loop_test(tcase, uplink_rows, 0, COUNT(uplinks));
	tcase_add_test(tcase, neighbours_share_a_nic);
	tcase_add_loop_test(tcase, every_family_loads, 0, 40);
	tcase_add_test(tcase, tuning_is_set);
	tcase_add_loop_test(tcase, fault_rows, 0, COUNT(faults));
	tcase_add_loop_test(tcase, yaml_fault_rows, 0, COUNT(yaml_faults));
	tcase_add_test(tcase, toy_text);
	tcase_add_loop_test(tcase, shipped_rows, 0, COUNT(shipped));
	tcase_add_test(tcase, large_machines);
	suite_add_tcase(suite, tcase);
	return suite;
}
