#include "facts/families.h"
#include "family_folder.h"
#include "tests/tests.h"

#include "platform/platform.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

START_TEST(settings_override)
{
	static const char *const torus[] = {"ici.bandwidth=90GB/s", "ici.latency=700ns",
	                                    "memory_bytes=48KiB", "memory_Bps=0",
	                                    "launch_s=1.5us"};
	static const char *const nodes[] = {"nvlink.bandwidth=400GB/s",
	                                    "nvlink.latency=3us",
	                                    "nic.bandwidth=1e9B/s", "nic.latency=7us"};
	struct arena *a = arena_new();
	struct machine *m = NULL;
	struct error e = {0};

	ck_assert_int_eq(
		platform_machine(&m, a, "tpu-v5e:3x5", torus, COUNT(torus), &e), OK);
	ck_assert_double_eq(m->link[7].bandwidth_Bps, 90e9);
	ck_assert_double_eq_tol(m->link[7].latency_s, 700e-9, 1e-22);
	ck_assert_double_eq(m->device[14].memory_bytes, 49152);
	ck_assert_double_eq(m->device[14].memory_Bps, 0);
	ck_assert_double_eq_tol(m->device[14].launch_s, 1.5e-6, 1e-20);
	ck_assert_int_eq(platform_machine(&m, a, "dgx-a100:3", nodes, COUNT(nodes), &e),
	                 OK);
	ck_assert_double_eq_tol(machine_latency(m, 0, 0, 7), 3e-6, 1e-20);
	ck_assert_double_eq_tol(machine_latency(m, 1, 0, 8), 7e-6, 1e-20);
	ck_assert_double_eq(m->link[m->fabric[0].port[5]].bandwidth_Bps, 400e9);
	ck_assert_double_eq(m->link[m->fabric[1].port[5]].bandwidth_Bps, 1e9);
	arena_free(a);
}
END_TEST

static const struct spec_fault spec_faults[] = {
	{"tpu-v9:4x4", NULL,
         1, "unknown family 'tpu-v9'; did you mean 'tpu-v2:4x4'? 'shardsim list platforms'"},
	{"cpu:4x4", NULL, 1, "unknown family 'cpu'; known are tpu-v2, tpu-v3, tpu-v4"},
	{"tpu-v4", NULL, 1, "tpu-v4 has no shape, expected such as tpu-v4:2x2x1"},
	{"", NULL, 1, "expected family:shape"},
	{"tpu-v4:", NULL, 8, "expected"},
	{"tpu-v4:4x4", NULL, 8, "tpu-v4 has 3 axes, such as 4x4x8, but this has 2"},
	{"tpu-v4:4x4x4x4", NULL, 8, "tpu-v4 has 3 axes, such as 4x4x8, but this has 4"},
	{"tpu-v5e:16", NULL, 9, "tpu-v5e has 2 axes, such as 4x8, but this has 1"},
	{"tpu-v4:4x4x4y", NULL, 13, "expected the end"},
	{"tpu-v4:4,4x4", NULL, 9, "expected 'x'"},
	{"dgx-a100:4x8", NULL, 10, "a number of nodes, such as dgx-a100:4"},
	{"dgx-a100:4_twisted", NULL, 11, "expected the end"},
	{"tpu-v4:4x0x4", NULL, 10,
         "the length of an axis 0 is out of range, expected 1 to 24"},
	{"tpu-v4:4x4x28", NULL, 12, "28 is out of range, expected 1 to 24"},
	{"tpu-v4:4x24x24", NULL, 8,
         "a length of 24 is above 16; its shapes are up to 24x16x16"},
	{"tpu-v5e:17x1", NULL, 9, "17 is out of range, expected 1 to 16"},
	{"dgx-a100:16385", NULL, 10, "nodes 16385 is out of range, expected 1 to 16384"},
	{"dgx-h100:-1", NULL, 10, "expected the number of nodes, a whole number"},
	{"dgx-h100:2 ", NULL, 11, "white space"},
	{"tpu-v4: 4x4x4", NULL, 8, "white space"},
	{"tpu-v4:4x4x4{launch_s= 2us}", NULL, 14, "white space"},
	{"cluster:nodes=2,gpus=4,launch_s=2us ", NULL, 36, "white space"},
	{"tpu-v4:15x15x15", NULL, 1, "at most 2048 chips"},
	{"dgx-a100:1", "nvlink.bandwith=1GB/s", 1,
         "dgx-a100 has no figure 'nvlink.bandwith'; did you mean 'nvlink.bandwidth'? "
         "It has "
         "nvlink.bandwidth, "
         "nvlink.latency, nic.bandwidth, nic.latency, memory_bytes, memory_Bps, "
         "launch_s"},
	{"dgx-a100:1", "ici.bandwidth=1GB/s", 1, "no figure 'ici.bandwidth'"},
	{"dgx-a100:1", "nvlink.peak=1GB/s", 1, "no figure 'nvlink.peak'"},
	{"dgx-a100:1", "launch_s", 1, "expected key=value"},
	{"dgx-a100:1", "launch_s=3GB", 11, ""},
	{"dgx-a100:2", "nic.bandwidth=0", 15, "must be above 0"},
	{"dgx-a100:1", "nic.bandwidth=0", 15, "must be above 0"},
	{"dgx-a100:1", "nic.bandwidth=9GB/s", 1,
         "dgx-a100:1 has no net, nic.bandwidth changes nothing"},
	{"dgx-h100:1", "nic.latency=1us", 1,
         "dgx-h100:1 has no net, nic.latency changes nothing"},
	{"dgx-a100:1", "memory_bytes=0", 14, "must be above 0"},
	{"platforms/dgx-a100_4.xml", "launch_s=1us", 1, "is a file"},
};

START_TEST(spec_fault_rows)
{
	spec_fault_check(&spec_faults[_i]);
}
END_TEST

/* Which axes wrap, as facts about the machines have it. */
static const struct {
	const char *spec, *wrap;
} wraps[] = {
	{"tpu-v4:4x4x4", "111"}, {"tpu-v4:4x8x16", "111"}, {"tpu-v4:4x4x6", "000"},
	{"tpu-v4:2x2x1", "000"}, {"tpu-v4:2x4x4", "000"},  {"tpu-v5e:16x16", "11"},
	{"tpu-v5e:8x16", "01"},  {"tpu-v5e:16x4", "10"},   {"tpu-v5e:8x8", "00"},
	{"tpu-v5e:1x1", "00"},   {"dgx-h100:4", "0"},
};

START_TEST(wrap_rows)
{
	struct arena *a = arena_new();
	struct family_machine m;
	struct error e = {0};

	ck_assert_int_eq(family_parse(&m, a, NULL, wraps[_i].spec, NULL, 0, &e), OK);
	for (int i = 0; wraps[_i].wrap[i]; i++)
		ck_assert_int_eq(m.wrap[i], wraps[_i].wrap[i] == '1');
	arena_free(a);
}
END_TEST

/* Every figure of every family that is shipped has a value and a source. */
START_TEST(figures_have_sources)
{
	struct arena *a = arena_new();
	struct families all = {0};
	struct error e = {0};
	const char *path;

	ck_assert_int_eq(platform_data_path(&path, a, "families.yaml", &e), OK);
	ck_assert_msg(families_read(&all, a, path, &e) == OK, "%s", e.text);
	ck_assert_int_ge(all.n, 4);
	for (int i = 0; i < all.n; i++)
		for (int f = 0; f < FIGURES; f++) {
			if (!figure_used(&all.family[i], f))
				continue;
			ck_assert_ptr_nonnull(all.family[i].source[f]);
			ck_assert_uint_gt(strlen(all.family[i].source[f]), 4);
			/* P2 has bandwidths alone. */
			ck_assert(all.family[i].figure[f] > 0 ||
			          !strcmp(all.family[i].profile, "p2"));
		}
	arena_free(a);
}
END_TEST

/*
 * So has every constant; at most eight figures are fitted to collectives, six to steps, three to
 * programs.
 */
START_TEST(constants_have_sources)
{
	struct arena *a = arena_new();
	struct families all = {0};
	struct error e = {0};
	const char *path;

	ck_assert_int_eq(platform_data_path(&path, a, "families.yaml", &e), OK);
	ck_assert_int_eq(families_read(&all, a, path, &e), OK);
	for (int i = 0; i < all.n; i++) {
		const struct family *f = &all.family[i];
		int fitted = 0, to_steps = 0, to_programs = 0;

		for (int g = 0; g < FIGURES; g++)
			fitted += f->source[g] && strstr(f->source[g], "fitted");
		for (int k = 0; k < TUNINGS; k++) {
			const char *source = f->tuning_source[k];

			if (source && strstr(source, "fitted"))
				*(strstr(source, "steps.csv")           ? &to_steps
				  : strstr(source, "program-times.csv") ? &to_programs
				                                        : &fitted) += 1;
			ck_assert(source ||
			          f->tuning.value[k] == tuning_default.value[k]);
			ck_assert(!source || strlen(source) > 4);
		}
		ck_assert_msg(fitted <= 8 && to_steps <= 6 && to_programs <= 3,
		              "%s: %d, %d, %d", f->name, fitted, to_steps, to_programs);
	}
	arena_free(a);
}
END_TEST

static const char family_yaml[] = "toy:\n"
				  "  kind: torus\n"
				  "  axes: 2\n"
				  "  largest: {value: 3x5, source: made up}\n"
				  "  wrap: {rule: full, length: 5, source: made up}\n"
				  "  profile: tpu\n"
				  "  figures:\n"
				  "    ici.peak: {value: 3GB/s, source: made up}\n"
				  "    ici.bandwidth: {value: 2GB/s, source: made up}\n"
				  "    ici.latency: {value: 7us, source: made up}\n"
				  "    memory_bytes: {value: 1GiB, source: made up}\n"
				  "    memory_Bps: {value: 5GB/s, source: made up}\n"
				  "    launch_s: {value: 1us, source: made up}\n";

static const struct yaml_fault yaml_faults[] = {
	{"kind: torus", "kind: tree", 2, "unknown kind 'tree', expected torus or nodes"},
	{"  kind: torus\n", "", 2, "'kind' is missing"},
	{"axes: 2", "axes: 7", 3, ""},
	{"axes: 2", "axes: [2]", 3, "'axes' must be a text"},
	{"3x5,", "3x5x7,", 4, "expected the end"},
	{"rule: full", "rule: fool", 5, "unknown rule 'fool'"},
	{"length: 5", "length: 0", 5, ""},
	{"profile: tpu", "profile: ''", 6, "'profile' must be a text"},
	{"profile: tpu", "profile: zzz", 6,
         "unknown profile 'zzz', expected tpu, nccl, rccl, p2 or plain"},
	{"profile: tpu", "profile: tpu\n  nodes: 3", 7, "unknown key 'nodes'"},
	{"2GB/s", "2GB", 9, ""},
	{"{value: 2GB/s, source: made up}", "2GB/s", 9,
         "expected a mapping with 'value'"},
	{"7us, source: made up", "7us", 10, "'source' is missing"},
	{"launch_s", "lunch_s", 13, "unknown key 'lunch_s'; did you mean 'launch_s'?"},
	{"launch_s: {value: 1us,", "step: {value: 1,", 8, "'launch_s' is missing"},
	{"    launch_s", "    nic.peak: {}\n    launch_s", 13, "unknown key 'nic.peak'"},
	{"toy:\n", "toy\n", 2, ""},
	{"toy:\n  kind", "toy: 3\nother:\n  kind", 1, "expected a mapping"},
	{"    launch_s: {value: 1us, source: made up}\n", "    launch_s: {", 14, ""},
};

START_TEST(yaml_fault_rows)
{
	yaml_fault_check(family_yaml, "toy:3x5", &yaml_faults[_i]);
}
END_TEST

START_TEST(a_family_of_ones_own)
{
	struct arena *a = arena_new();
	const char *folder = family_folder(a, family_yaml, NULL, NULL);
	struct machine *m = NULL;
	struct error e = {0};

	ck_assert_msg(platform_machine(&m, a, "toy:3x5", NULL, 0, &e) == OK, "%s",
	              e.text);
	family_folder_remove(folder);
	ck_assert_int_eq(m->ndevices, 15);
	ck_assert(!m->fabric[0].wrap[0]);
	ck_assert(m->fabric[0].wrap[1]);
	ck_assert_double_eq(m->link[3].bandwidth_Bps, 2e9);
	ck_assert_double_eq_tol(m->link[3].latency_s, 7e-6, 1e-20);
	e = (struct error){0};
	ck_assert_int_eq(platform_machine(&m, a, "toy:3x5", NULL, 0, &e), E_IO);
	ck_assert_ptr_nonnull(strstr(e.text, "SHARDSIM_DATA"));
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("families");
	TCase *tcase = tcase_create("families");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, settings_override);
	tcase_add_loop_test(tcase, spec_fault_rows, 0, COUNT(spec_faults));
	tcase_add_loop_test(tcase, wrap_rows, 0, COUNT(wraps));
	tcase_add_test(tcase, figures_have_sources);
	tcase_add_test(tcase, constants_have_sources);
	tcase_add_loop_test(tcase, yaml_fault_rows, 0, COUNT(yaml_faults));
	tcase_add_test(tcase, a_family_of_ones_own);
	suite_add_tcase(suite, tcase);
	return suite;
}
