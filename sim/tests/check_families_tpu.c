/* Slices of TPUs, as SimGrid and our reader see the files, and what collectives cost. */
#include "facts/families.h"
#include "family/xml.h"
#include "family_folder.h"
#include "tests/tests.h"

#include "collective/lower.h"
#include "cost/fluid.h"
#include "cost/model.h"
#include "edit.h"
#include "platform/platform.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

enum { HOPS = 64 };

static struct platform *load(struct arena *a, const char *spec, const char *set)
{
	struct platform *p = NULL;
	struct error e = {0};

	ck_assert_msg(platform_load(&p, a, spec, &set, set ? 1 : 0, &e) == OK, "%s",
	              e.text);
	return p;
}

static bool close_to(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fabs(b);
}

/*
 * Which axes wrap, as facts about the machines have it: fixed copper only the full pod,
 * optical switches all multiples of 4. Twisted: the long axes.
 */
static const struct {
	const char *spec;
	int32_t ndevices, twist;
	const char *wrap;
} shapes[] = {
	{"tpu-v2:16x16", 256, 0, "11"},
	{"tpu-v2:16x8", 128, 0, "10"},
	{"tpu-v2:8x8", 64, 0, "00"},
	{"tpu-v3:32x32", 1024, 0, "11"},
	{"tpu-v3:16x32", 512, 0, "01"},
	{"tpu-v3:16x16", 256, 0, "00"},
	{"tpu-v4:12x12x24", 3456, 0, "111"},
	{"tpu-v4:4x4x8_twisted", 128, 4, "001"},
	{"tpu-v4:8x4x8_twisted", 256, 4, "101"},
	{"tpu-v4:8x8x16_twisted", 1024, 8, "001"},
	{"tpu-v4:3*4x4x8_twisted", 384, 4, "001"},
	{"tpu-v5p:16x20x28", 8960, 0, "111"},
	{"tpu-v5p:8x16x16_twisted", 2048, 8, "011"},
	{"tpu-v5p:2x2x4", 16, 0, "000"},
	{"tpu-v6e:8x16", 128, 0, "01"},
	{"tpu-v6e:7*2x4", 56, 0, "00"},
	{"tpu-7x:2x2x1", 8, 0, "000"},
	{"tpu-7x:4x4x576", 18432, 0, "111"},
	{"tpu-7x:5*16x24x24", 92160, 0, "111"},
};

START_TEST(shape_rows)
{
	struct arena *a = arena_new();
	struct family_machine m;
	struct error e = {0};

	ck_assert_msg(family_parse(&m, a, NULL, shapes[_i].spec, NULL, 0, &e) == OK,
	              "%s", e.text);
	ck_assert_int_eq(m.ndevices, shapes[_i].ndevices);
	ck_assert_int_eq(m.twist, shapes[_i].twist);
	for (int i = 0; shapes[_i].wrap[i]; i++)
		ck_assert_int_eq(m.wrap[i], shapes[_i].wrap[i] == '1');
	arena_free(a);
}
END_TEST

static const struct spec_fault faults[] = {
	{"tpu-v5e:4x8_twisted", NULL, 12, "tpu-v5e has no twisted tori"},
	{"tpu-7x:4x4x8_twisted", NULL, 13, "tpu-7x has no twisted tori"},
	{"tpu-v4:4x4x4_twisted", NULL, 13, "its axes are n and 2n long"},
	{"tpu-v4:4x8x16_twisted", NULL, 14, "its axes are n and 2n long"},
	{"tpu-v4:6x6x12_twisted", NULL, 14, "n is a multiple of 4"},
	{"tpu-v4:4x4x8_twisted!", NULL, 21, "expected the end"},
	{"tpu-v4:4x4x8_twist", NULL, 13, "expected the end"},
	{"tpu-v4:16x16x24", NULL, 8, "6144 chips are above 4096"},
	{"tpu-7x:24x24x576", NULL, 8, "331776 chips are above 9216"},
	{"tpu-v3:2*4x4", NULL, 8, "tpu-v3 has no network between slices"},
	{"tpu-v5e:257*4x4", NULL, 9, "tpu-v5e has at most 256 slices"},
	{"tpu-v5e:0*4x4", NULL, 9, "a number of slices"},
	{"tpu-v5e:2*", NULL, 11, "expected"},
	{"tpu-v5e:2*4", NULL, 11, "tpu-v5e has 2 axes"},
	{"tpu-v5e:2*4x4*2", NULL, 14, "expected the end"},
	{"tpu-v5e:2*17x4", NULL, 11, "17 is out of range, expected 1 to 16"},
	{"tpu-v4:12x12x24_twisted", NULL, 1, "this torus is twisted, so all routes"},
	{"tpu-v4:13x13x13", NULL, 1, "axes of this shape do not wrap, so all routes"},
	{"tpu-v5p:15x15x10", NULL, 1, "at most 2048 chips"},
	{"tpu-v5e:73*15x16", NULL, 1, "several times 240"},
	{"tpu-v4:4x4x4", "dcn.latency=3us", 1, "tpu-v4:4x4x4 has no net"},
	{"tpu-v3:4x4", "dcn.latency=3us", 1, "no figure 'dcn.latency'"},
	{"tpu-v4:2*4x4x4", "core.latency=3us", 1, "no figure 'core.latency'"},
	{"tpu-v4:2*4x4x4", "dcn.peak=3GB/s", 1, "no figure 'dcn.peak'"},
	{"tpu-7x:2x2x1", "core.bandwidth=0", 16, "must be above 0"},
};

START_TEST(fault_rows)
{
	spec_fault_check(&faults[_i]);
}
END_TEST

/*
 * One route of a platform that SimGrid agrees with: its number of links, latency and
 * narrowest link, by hand from the figures of families.yaml.
 */
static const struct {
	const char *spec, *set;
	int32_t src, dst;
	int fabric, nlinks;
	double latency_s, narrowest_Bps;
} routes[] = {
	{"tpu-v2:16x3", NULL, 0, 45, 0, 1, 1e-6, 55.8e9},
	{"tpu-v3:3x32", NULL, 32, 63, 0, 1, 1e-6, 70e9},
	{"tpu-v5p:4x4x4", NULL, 0, 48, 0, 1, 1e-6, 86.3e9},
	{"tpu-v6e:3x5", NULL, 0, 14, 0, 6, 6e-6, 87e9},
	/* Round the short axis: from the last to the first of it, half the long one on. */
	{"tpu-v4:4x4x8_twisted", NULL, 96, 4, 0, 1, 1e-6, 45e9},
	{"tpu-v4:4x4x8_twisted", NULL, 96, 2, 0, 3, 3e-6, 45e9},
	{"tpu-v4:4x4x8_twisted", NULL, 96, 0, 0, 3, 3e-6, 45e9},
	{"tpu-v5p:4x8x8_twisted", NULL, 192, 36, 0, 1, 1e-6, 86.3e9},
	/* Slices: chip 5 of one to chip 5 of the other over the network. */
	{"tpu-v5e:3*16x16", NULL, 5, 517, 1, 2, 20e-6, 2.8e9},
	{"tpu-v5e:3*16x16", NULL, 512, 527, 0, 1, 1e-6, 45e9},
	{"tpu-v5e:2*3x5", "dcn.latency=7us", 14, 15, 1, 2, 7e-6, 2.8e9},
	{"tpu-v5e:2*3x5", NULL, 15, 29, 0, 6, 6e-6, 45e9},
	{"tpu-v4:2*4x4x8_twisted", NULL, 224, 132, 0, 1, 1e-6, 45e9},
	/* Devices 2k and 2k + 1 are on chip k. */
	{"tpu-7x:2x2x1", NULL, 2, 3, 0, 2, 1e-6, 540e9},
	{"tpu-7x:2x2x1", NULL, 3, 0, 1, 1, 1e-6, 90e9},
	{"tpu-7x:2x2x1", NULL, 1, 6, 1, 2, 2e-6, 90e9},
	{"tpu-7x:4x4x4", NULL, 1, 96, 1, 1, 1e-6, 90e9},
	{"tpu-7x:4x4x4", "core.bandwidth=1TB/s", 126, 127, 0, 2, 1e-6, 1e12},
	{"tpu-7x:2*4x4x4", NULL, 129, 3, 2, 2, 20e-6, 11.25e9},
	{"tpu-7x:3*2x2x1", NULL, 8, 9, 0, 2, 1e-6, 540e9},
	{"tpu-7x:3*2x2x1", NULL, 9, 12, 1, 1, 1e-6, 90e9},
	{"tpu-7x:3*2x2x1", NULL, 9, 23, 2, 2, 20e-6, 11.25e9},
};

START_TEST(route_rows)
{
	struct arena *a = arena_new();
	const struct machine *m = load(a, routes[_i].spec, routes[_i].set)->machine;
	double narrowest = 1e300;
	int32_t links[HOPS];
	int f = machine_fabric(m, routes[_i].src, routes[_i].dst), n;

	ck_assert_int_eq(f, routes[_i].fabric);
	n = machine_route(m, f, routes[_i].src, routes[_i].dst, links, HOPS);
	ck_assert_int_eq(n, routes[_i].nlinks);
	for (int i = 0; i < n; i++)
		narrowest = fmin(narrowest, m->link[links[i]].bandwidth_Bps);
	ck_assert(close_to(narrowest, routes[_i].narrowest_Bps, 1e-12));
	ck_assert(close_to(machine_latency(m, f, routes[_i].src, routes[_i].dst),
	                   routes[_i].latency_s, 1e-12));
	arena_free(a);
}
END_TEST

/* Seconds of a collective without launch, the same in both clocks. */
static double collective_s(struct arena *a, struct platform *p, enum op op,
                           struct groups g, double bytes, const char *algorithm)
{
	struct fluid *fluid = fluid_new(p->machine);
	struct model *model = model_new(p->machine);
	struct lowered l = {0};
	struct text why = {0};
	char message[80] = "";
	double fluid_s, model_s;

	ck_assert_msg(lower_collective(&l, a, p->machine, op, g, bytes, &why), "%s",
	              why.s);
	ck_assert_str_eq(l.algorithm, algorithm);
	model_s = model_schedule_s(model, &l.schedule);
	fluid_s = fluid_clock(fluid, &l.schedule, message, sizeof(message));
	ck_assert_str_eq(message, "");
	ck_assert_msg(close_to(fluid_s, model_s, 1e-6), "fluid %g, model %g", fluid_s,
	              model_s);
	fluid_free(fluid);
	model_free(model);
	return model_s;
}

/*
 * Measured on 2x2x1 of TPU7x: all-gathers of two groups of 4 at once, one core of each
 * chip each (AI-Hypercomputer/tpu-recipes, all_gather.md).
 */
START_TEST(published_gathers)
{
	static const struct {
		double bytes, time_us;
	} row[] = {{1 << 20, 21.915},
	           {4 << 20, 48.7},
	           {16 << 20, 155.44},
	           {64 << 20, 575.99},
	           {256 << 20, 2252.3}};
	static const int32_t ids[] = {0, 2, 4, 6, 1, 3, 5, 7};
	struct arena *a = arena_new();
	struct platform *p = load(a, "tpu-7x:2x2x1", NULL);

	for (int i = 0; i < COUNT(row); i++) {
		double time_s =
			p->machine->device[0].launch_s +
			collective_s(a, p, OP_ALL_GATHER, (struct groups){2, 4, ids},
		                     row[i].bytes / 4, "torus");

		ck_assert_msg(close_to(1e6 * time_s, row[i].time_us, 0.03), "%g us",
		              1e6 * time_s);
	}
	arena_free(a);
}
END_TEST

/*
 * Groups of both cores. Of one chip: one exchange over their switch. Of the four chips of
 * 2x2x1: blocks of b go round the chips in both directions, for both cores at once, 3/2 b
 * each on every link in two rounds, then 4 b between the cores.
 */
START_TEST(both_cores)
{
	const double b = 48 * 1024 + 1;
	struct arena *a = arena_new();
	struct platform *p = load(a, "tpu-7x:2x2x1", NULL);
	static const int32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};

	ck_assert(close_to(collective_s(a, p, OP_ALL_GATHER, (struct groups){4, 2, all},
	                                b, "ring"),
	                   1e-6 + b / 540e9, 1e-9));
	ck_assert(close_to(collective_s(a, p, OP_ALL_GATHER, (struct groups){1, 8, all},
	                                b, "two-level"),
	                   2e-6 + 2 * 1.5 * b / 90e9 + 1e-6 + 4 * b / 540e9, 1e-9));
	arena_free(a);
}
END_TEST

/*
 * Two slices of 2 x 4: inside, reduce-scatter along both axes; 8 pairs of equal chips of
 * both slices exchange V/8 over the network; inside, all-gather. Across alone: an
 * all-reduce of pairs sends V/2 twice.
 */
START_TEST(slices_meet_on_the_network)
{
	const double V = 8 * (48 * 1024 + 1);
	int32_t ids[16];
	struct arena *a = arena_new();
	struct platform *p = load(a, "tpu-v6e:2*2x4", NULL);
	double inside, across;

	for (int32_t i = 0; i < 16; i++)
		ids[i] = i % 2 * 8 + i / 2;
	across = collective_s(a, p, OP_ALL_REDUCE, (struct groups){8, 2, ids}, V / 8,
	                      "ring");
	ck_assert(close_to(across, 2 * (20e-6 + V / 16 / 11.25e9), 1e-9));
	for (int32_t i = 0; i < 16; i++)
		ids[i] = i;
	inside = collective_s(a, p, OP_REDUCE_SCATTER, (struct groups){2, 8, ids}, V,
	                      "torus") +
	         collective_s(a, p, OP_ALL_GATHER, (struct groups){2, 8, ids}, V / 8,
	                      "torus");
	ck_assert(close_to(collective_s(a, p, OP_ALL_REDUCE,
	                                (struct groups){1, 16, ids}, V, "two-level"),
	                   inside + across, 1e-9));
	arena_free(a);
}
END_TEST

/* The whole pod of 9,216 chips, to the last device. */
START_TEST(whole_pod)
{
	struct arena *a = arena_new();
	struct machine *m = NULL;
	struct error e = {0};
	int32_t links[HOPS];

	ck_assert_msg(platform_machine(&m, a, "tpu-7x:16x24x24", NULL, 0, &e) == OK,
	              "%s", e.text);
	ck_assert_int_eq(m->ndevices, 18432);
	ck_assert_int_eq(m->fabric[0].ndomains, 9216);
	ck_assert_int_eq(m->fabric[1].ndomains, 1);
	ck_assert_int_eq(machine_fabric(m, 18430, 18431), 0);
	ck_assert_int_eq(machine_fabric(m, 1, 18431), 1);
	ck_assert_int_eq(machine_route(m, 1, 1, 18431, links, HOPS), 3);
	ck_assert_double_eq(m->device[18431].memory_bytes, 96.0 * (1 << 30));
	arena_free(a);
}
END_TEST

static const char family_yaml[] =
	"toy:\n"
	"  kind: torus\n"
	"  axes: 2\n"
	"  largest: {value: 6x8, source: made up}\n"
	"  chips: {value: 24, source: made up}\n"
	"  twisted: {value: 3, source: made up}\n"
	"  cores: {value: 3, source: made up}\n"
	"  slices: {value: 5, source: made up}\n"
	"  wrap: {rule: never, source: made up}\n"
	"  profile: plain\n"
	"  figures:\n"
	"    ici.peak: {value: 2GB/s, source: made up}\n"
	"    ici.bandwidth: {value: 1GB/s, source: made up}\n"
	"    ici.latency: {value: 7us, source: made up}\n"
	"    core.bandwidth: {value: 3GB/s, source: made up}\n"
	"    core.latency: {value: 5us, source: made up}\n"
	"    dcn.peak: {value: 2GB/s, source: made up}\n"
	"    dcn.bandwidth: {value: 500MB/s, source: made up}\n"
	"    dcn.latency: {value: 9us, source: made up}\n"
	"    memory_bytes: {value: 1GB, source: made up}\n"
	"    memory_Bps: {value: 1GB/s, source: made up}\n"
	"    launch_s: {value: 1us, source: made up}\n";

static const struct yaml_fault yaml_faults[] = {
	{"chips: {value: 24", "chips: {value: 0", 5, "0 is out of range"},
	{"chips: {value: 24, source: made up}", "chips: 24", 5,
         "expected a mapping with 'value'"},
	{"twisted: {value: 3, source", "twisted: {value: 3, from", 6,
         "'source' is missing"},
	{"twisted: {value: 3,", "twisted: {value: 3, n: 3,", 6, "unknown key 'n'"},
	{"cores: {value: 3", "cores: {value: 9", 7, "9 is out of range"},
	{"cores: {value: 3", "cores: {value: two", 7, "a whole number"},
	{"cores: {value: 3", "cores: {value: 1", 15, "unknown key 'core.bandwidth'"},
	{"slices: {value: 5", "slices: {value: 1", 17, "unknown key 'dcn.peak'"},
	{"slices: {value: 5", "slices: {value: 5000", 8, "5000 is out of range"},
	{"core.latency:", "core.hops:", 16, "unknown key 'core.hops'"},
	{"dcn.bandwidth:", "dcn.rate:", 18, "unknown key 'dcn.rate'"},
	{"core.latency: {value: 5us", "step: {value: 5", 12, "'core.latency' is missing"},
	{"dcn.bandwidth: {value: 500MB/s", "step: {value: 5", 12,
         "'dcn.bandwidth' is missing"},
	{"500MB/s", "0MB/s", 18, "must be above 0"},
};

START_TEST(yaml_fault_rows)
{
	yaml_fault_check(family_yaml, "toy:3x2", &yaml_faults[_i]);
}
END_TEST

/* The text of a small machine of everything, as worked out by hand; SimGrid takes it. */
START_TEST(toy_text)
{
	static const char *const lines[] = {
		"<cluster id=\"net\" prefix=\"dcn\" suffix=\"\" radical=\"0-35\" "
		"speed=\"1Gf\" bw=\"500000000Bps\" lat=\"0.0000045s\" "
		"sharing_policy=\"SPLITDUPLEX\">",
		"<cluster id=\"core\" prefix=\"core\" suffix=\"\" radical=\"0-107\" "
		"speed=\"1Gf\" bw=\"3000000000Bps\" lat=\"0.0000025s\"",
		"<prop id=\"domain\" value=\"chip\"/>",
		"<prop id=\"domain_devices\" value=\"3\"/>",
		"<prop id=\"priority\" value=\"2\"/>",
		"<prop id=\"geometry\" value=\"twisted 3x6\"/>",
		"<prop id=\"devices\" value=\"3\"/>",
		"<zone id=\"pod1\" routing=\"Full\">",
		"<host id=\"chip35\" speed=\"1Gf\">",
		"<link id=\"ici_35_to_20\" bandwidth=\"1000000000Bps\"",
		"<route src=\"chip35\" dst=\"chip20\" symmetrical=\"NO\"><link_ctn "
		"id=\"ici_35_to_20\"/></route>",
	};
	struct arena *a = arena_new();
	const char *folder = family_folder(a, family_yaml, NULL, NULL);
	struct text out = {0};
	struct error e = {0};

	ck_assert_msg(platform_generate(&out, NULL, a, "toy:2*3x6_twisted", NULL, 0,
	                                false, &e) == OK,
	              "%s", e.text);
	ck_assert_int_eq(load(a, "toy:2*3x6_twisted", NULL)->machine->ndevices, 108);
	family_folder_remove(folder);
	for (int i = 0; i < COUNT(lines); i++)
		ck_assert_msg(strstr(out.s, lines[i]) != NULL, "%s", lines[i]);
	text_free(&out);
	arena_free(a);
}
END_TEST

/*
 * Our reader builds the machine of a generated platform from its brief text; that of the
 * whole text, as SimGrid has it, must be the same.
 */
static const char *const brief[] = {"tpu-v4:4x4x8_twisted", "tpu-v5e:4x8",
                                    "tpu-v4:2*2x4x5",       "tpu-7x:2x3x1",
                                    "dgx-h100:3",           "gcp-a3high:2"};

START_TEST(brief_rows)
{
	struct arena *a = arena_new();
	const char *path = edit_platform(a, brief[_i], NULL, NULL);
	struct text text = {0};
	struct error e = {0};
	struct machine *is, *whole;
	int32_t now[HOPS], then[HOPS];

	ck_assert_int_eq(platform_text(&text, a, brief[_i], NULL, 0, true, &e), OK);
	ck_assert_ptr_null(strstr(text.s, "/><link_ctn"));
	ck_assert_int_eq(platform_machine(&is, a, brief[_i], NULL, 0, &e), OK);
	ck_assert_int_eq(platform_machine(&whole, a, path, NULL, 0, &e), OK);
	unlink(path);
	ck_assert_int_eq(is->nlinks, whole->nlinks);
	ck_assert_int_eq(is->nfabrics, whole->nfabrics);
	for (int f = 0; f < is->nfabrics; f++) {
		ck_assert_int_eq(is->fabric[f].ndomains, whole->fabric[f].ndomains);
		ck_assert_mem_eq(is->fabric[f].domain, whole->fabric[f].domain,
		                 (size_t)is->ndevices * sizeof(int32_t));
	}
	for (int f = 0; f < is->nfabrics; f++)
		for (int32_t pair = 0; pair < is->ndevices * is->ndevices; pair++) {
			int32_t src = pair / is->ndevices, dst = pair % is->ndevices;
			int n = machine_route(whole, f, src, dst, then, HOPS);

			ck_assert_int_eq(machine_route(is, f, src, dst, now, HOPS), n);
			for (int k = 0; k < n; k++)
				ck_assert_str_eq(is->link[now[k]].name,
				                 whole->link[then[k]].name);
		}
	text_free(&text);
	arena_free(a);
}
END_TEST

/* More chips than routes can be written for: there is a machine, but no simulator. */
START_TEST(only_brief)
{
	struct arena *a = arena_new();
	struct error e = {0};
	struct platform *p;

	ck_assert_int_eq(
		platform_open(&p, a, "tpu-v4:12x12x24_twisted", NULL, 0, false, &e), OK);
	ck_assert_int_eq(p->machine->ndevices, 3456);
	ck_assert_int_eq(platform_start(p, &e), E_RANGE);
	ck_assert_msg(strstr(e.text, "for at most 2048 chips") != NULL, "%s", e.text);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("families of TPUs");
	TCase *tcase = tcase_create("families of TPUs");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, shape_rows, 0, COUNT(shapes));
	tcase_add_loop_test(tcase, fault_rows, 0, COUNT(faults));
	tcase_add_loop_test(tcase, route_rows, 0, COUNT(routes));
	tcase_add_test(tcase, published_gathers);
	tcase_add_test(tcase, both_cores);
	tcase_add_test(tcase, slices_meet_on_the_network);
	tcase_add_test(tcase, whole_pod);
	tcase_add_loop_test(tcase, yaml_fault_rows, 0, COUNT(yaml_faults));
	tcase_add_test(tcase, toy_text);
	tcase_add_loop_test(tcase, brief_rows, 0, COUNT(brief));
	tcase_add_test(tcase, only_brief);
	suite_add_tcase(suite, tcase);
	return suite;
}
