#include "facts/families.h"
#include "tests/tests.h"

#include "platform/platform.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* --- tori ------------------------------------------------------------------------- */

static const struct {
	const char *spec, *set;
	int naxes;
	int32_t shape[TORUS_AXES_MAX];
	const char *wrap;
	/* By hand: the longest route, and how many links there are, one each way. */
	int32_t longest, nlinks;
} tori[] = {
	/* 6 x 6 x 6: three steps at most on each axis; 3 axes x 216 cables x 2. */
	{"torus:6x6x6", NULL, 3, {6, 6, 6}, "111", 9, 1296},
	{"torus:6x6x6", "wrap=111", 3, {6, 6, 6}, "111", 9, 1296},
	/* 5 steps an axis; 3 x 36 lines of 5 cables x 2. */
	{"torus:6x6x6", "wrap=000", 3, {6, 6, 6}, "000", 15, 1080},
	{"torus:7", NULL, 1, {7}, "1", 3, 14},
	{"torus:7,wrap=0", NULL, 1, {7}, "0", 6, 12},
	/* 1 + 4: five rings of 3 and three lines of 5. */
	{"torus:3x5", "wrap=10", 2, {3, 5}, "10", 5, 30 + 24},
	/* An axis of two has one cable: 12 lines of it, 6 rings of 4, 8 of 3. */
	{"torus:2x4x3", NULL, 3, {2, 4, 3}, "011", 4, 24 + 48 + 48},
	/* Six axes: 2 x 16 lines, 3 x 16 lines, none, ... */
	{"torus:2x1x3x2x2x2",
         NULL,
         6,
         {2, 1, 3, 2, 2, 2},
         "001000",
         5,
         2 * (24 + 48 + 24 + 24 + 24)},
	{"tpu-v5p:6x6x6", NULL, 3, {6, 6, 6}, "000", 15, 1080},
	{"tpu-v5p:6x6x6", "wrap=111", 3, {6, 6, 6}, "111", 9, 1296},
	{"tpu-v5e:4x8", "wrap=01", 2, {4, 8}, "01", 7, 2 * (24 + 32)},
	{"tpu-v4:4x4x4", "wrap=110", 3, {4, 4, 4}, "110", 7, 2 * (64 + 64 + 48)},
};

static int32_t axis_steps(int32_t a, int32_t b, int32_t n, bool wrap)
{
	int32_t up = a < b ? b - a : a - b;

	return wrap && n - up < up ? n - up : up;
}

/* Returns how far apart two chips are, axis by axis. */
static int32_t steps_between(int t, int32_t a, int32_t b)
{
	int32_t steps = 0;

	for (int i = tori[t].naxes - 1; i >= 0; i--) {
		int32_t n = tori[t].shape[i];

		steps += axis_steps(a % n, b % n, n, tori[t].wrap[i] == '1');
		a /= n;
		b /= n;
	}
	return steps;
}

START_TEST(tori_have_their_routes)
{
	const char *set[] = {tori[_i].set, "launch_s=0"};
	struct arena *a = arena_new();
	struct machine *m;
	int32_t n = 1, longest = 0;
	struct error e = {0};

	ck_assert_msg(platform_machine(&m, a, tori[_i].spec, set + !tori[_i].set,
	                               1 + (tori[_i].set != NULL), &e) == OK,
	              "%s", e.text);
	for (int i = 0; i < tori[_i].naxes; i++)
		n *= tori[_i].shape[i];
	ck_assert_int_eq(m->ndevices, n);
	ck_assert_int_eq(m->nlinks, tori[_i].nlinks);
	for (int32_t d = 0; d < n; d++)
		for (int32_t o = 0; o < n; o++) {
			int32_t steps = steps_between(_i, d, o);

			ck_assert_int_eq(machine_hops(m, 0, d, o), steps);
			longest = steps > longest ? steps : longest;
		}
	ck_assert_int_eq(longest, tori[_i].longest);
	arena_free(a);
}
END_TEST

/* What is set is on every link, and nothing of it is assumed any more. */
START_TEST(links_are_as_set)
{
	static const char *const set[] = {"link.bandwidth=100GBps",
	                                  "link.latency=700ns", "wrap=111"};
	struct arena *a = arena_new();
	struct machine *m;
	struct error e = {0};

	ck_assert_int_eq(platform_machine(&m, a, "torus:3x4x5", set, 3, &e), OK);
	for (int32_t l = 0; l < m->nlinks; l++) {
		ck_assert_double_eq(m->link[l].bandwidth_Bps, 100e9);
		ck_assert_double_eq_tol(m->link[l].latency_s, 700e-9, 1e-20);
	}
	ck_assert_ptr_nonnull(
		strstr(m->note, "assumed, unless set: memory_bytes 80 GB"));
	ck_assert_ptr_null(strstr(m->note, "link"));
	ck_assert_int_eq(platform_machine(&m, a, "torus:3x4,link.bandwidth=800Gb/s",
	                                  NULL, 0, &e),
	                 OK);
	ck_assert_double_eq(m->link[5].bandwidth_Bps, 100e9);
	ck_assert_ptr_nonnull(strstr(m->note, "link.latency 1 us"));
	arena_free(a);
}
END_TEST

/* Which machines say that they do not wrap: none of those that are offered so. */
START_TEST(open_tori_say_so)
{
	static const struct {
		const char *spec, *note;
	} rows[] = {
		{"tpu-v5p:6x6x6",
	         "its axes do not wrap, for not all are multiples of 4; "
	         "wrap=111 closes all"},
		{"tpu-v5e:6x16", "only axes of 16 wrap; wrap=11 closes all"},
		{"tpu-v4:2x2x5",
	         "its axes do not wrap, for not all are multiples of 4; "
	         "wrap=001 closes all"},
		{"tpu-v5e:16x8", NULL},
		{"tpu-v4:2x4x2", NULL},
		{"tpu-v5p:6x6x6{wrap=111}", NULL},
		{"tpu-v5p:6x6x6{wrap=000}", NULL},
		{"tpu-v5p:4x4x8", NULL},
		{"tpu-v4:4x4x8_twisted", NULL},
		{"tpu-v4:2x2x1", NULL},
		{"dgx-h100:2", NULL},
	};
	struct arena *a = arena_new();
	struct machine *m;
	struct error e = {0};

	for (int i = 0; i < COUNT(rows); i++) {
		ck_assert_int_eq(platform_machine(&m, a, rows[i].spec, NULL, 0, &e), OK);
		ck_assert_str_eq(m->note ? m->note : "none",
		                 rows[i].note ? rows[i].note : "none");
	}
	arena_free(a);
}
END_TEST

/* --- clusters --------------------------------------------------------------------- */

/* Routes by hand; -1: none. Bandwidth is that of the first link. */
static const struct {
	const char *spec;
	int32_t ndevices, nlinks, src, dst, hops;
	double bandwidth_Bps, latency_s;
} clusters[] = {
	/* A link up and one down for each of 12 GPUs and 6 NICs, of which two GPUs share one. */
	{"cluster:nodes=3,gpus=4,nics=2", 12, 36, 0, 3, 2, 300e9, 2e-6},
	{"cluster:nodes=3,gpus=4,nics=2", 12, 36, 1, 4, 2, 50e9, 5e-6},
	{"cluster:nics=2,gpus=4,nodes=3", 12, 36, 1, 4, 2, 50e9, 5e-6},
	{"cluster:3{nics=2,gpus=4}", 12, 36, 1, 4, 2, 50e9, 5e-6},
	/* Four NICs of a node used by two GPUs, two each. */
	{"cluster:nodes=2,gpus=2,nics=4", 4, 16, 1, 2, 2, 100e9, 5e-6},
	{"cluster:2", 16, 64, 0, 8, 2, 50e9, 5e-6},
	/* NICs alone, also in a single node. */
	{"cluster:nodes=3,gpus=4,inside=none", 12, 24, 0, 1, 2, 50e9, 5e-6},
	{"cluster:nodes=1,gpus=4,inside=none", 4, 8, 0, 3, 2, 50e9, 5e-6},
	/* A switch for two GPUs, with one link up and one down, and a bridge each way. */
	{"cluster:nodes=1,gpus=4,inside=pcie", 4, 6, 0, 1, 2, 25e9, 4e-6},
	{"cluster:nodes=1,gpus=4,inside=pcie", 4, 6, 0, 2, 3, 25e9, 6e-6},
	{"cluster:nodes=2,gpus=4,inside=pcie", 8, 2 * 6 + 16, 0, 4, 2, 50e9, 5e-6},
	/* Cables between any two of five, the latency each of one. */
	{"cluster:nodes=1,gpus=5,inside=pairs", 5, 20, 4, 2, 1, 300e9, 2e-6},
	/* Of a family that has a switch of eight. */
	{"dgx-h100:2{gpus=4}", 8, 32, 3, 4, 2, 0, 0},
	{"polaris:1{gpus=6}", 6, 30, 0, 5, 1, 0, 0},
};

START_TEST(clusters_have_their_routes)
{
	struct arena *a = arena_new();
	struct machine *m;
	int32_t links[8];
	struct error e = {0};
	int f;

	ck_assert_msg(platform_machine(&m, a, clusters[_i].spec, NULL, 0, &e) == OK,
	              "%s", e.text);
	ck_assert_int_eq(m->ndevices, clusters[_i].ndevices);
	ck_assert_int_eq(m->nlinks, clusters[_i].nlinks);
	f = machine_fabric(m, clusters[_i].src, clusters[_i].dst);
	ck_assert_int_ge(f, 0);
	ck_assert_int_eq(
		machine_route(m, f, clusters[_i].src, clusters[_i].dst, links, 8),
		clusters[_i].hops);
	if (clusters[_i].bandwidth_Bps > 0) {
		ck_assert_double_eq(m->link[links[0]].bandwidth_Bps,
		                    clusters[_i].bandwidth_Bps);
		ck_assert_double_eq_tol(
			machine_latency(m, f, clusters[_i].src, clusters[_i].dst),
			clusters[_i].latency_s, 1e-18);
	}
	arena_free(a);
}
END_TEST

/* SimGrid takes them, and has the links and routes that our reader has. */
START_TEST(simgrid_takes_them)
{
	static const char *const specs[] = {
		"torus:3x1x2x4",
		"torus:3x4,wrap=01",
		"torus:5",
		"cluster:nodes=3,gpus=4,nics=2",
		"cluster:nodes=2,gpus=4,inside=pcie",
		"cluster:nodes=2,gpus=3,inside=none",
		"cluster:nodes=4,gpus=2,net=rails,net.ports=2",
		"tpu-v5p:3x3x3{wrap=111}",
	};
	struct arena *a = arena_new();
	struct platform *p;
	struct error e = {0};

	if (_i < COUNT(specs))
		ck_assert_msg(platform_load(&p, a, specs[_i], NULL, 0, &e) == OK,
		              "%s: %s", specs[_i], e.text);
	arena_free(a);
}
END_TEST

/* The place is that of the setting, be it in the machine's name or behind --set. */
static const struct {
	const char *spec, *set;
	unsigned col;
	const char *text;
} faults[] = {
	{"torus:6x6x2", "wrap=111", 1, "wrap=111: an axis of 2 cannot wrap, expected 0"},
	{"torus:6x6x6", "wrap=11", 1, "wrap=11 has 2 digits, but the shape has 3 axes"},
	{"torus:6x6", "wrap=yes", 6, "expected a digit for each axis"},
	{"torus:6x6", "wrap=", 6, "expected a digit for each axis"},
	{"tpu-v4:4x4x8_twisted", "wrap=111", 1, "a twisted torus wraps in its own way"},
	{"torus:2x2x2x2x2x2x2", NULL, 7, "7 axes, expected at most 6"},
	{"torus:5000", NULL, 7, "5000 is out of range, expected 1 to 4096"},
	{"torus:6x6", "link.bandwidth=100", 16,
         "100 has no unit, expected such as 100GB/s, 100GiB/s, or 100Gb/s in bits"},
	{"torus:6x6", "link.latency=1.5", 14,
         "1.5 has no unit, expected such as 1.5us, 1.5ns or 1.5ms"},
	{"torus:6x6", "ici.bandwidth=1GB/s", 1, "torus has no figure 'ici.bandwidth'"},
	{"torus:6x6", "gpus=4", 1, "torus has no figure 'gpus'"},
	{"cluster:gpus=4", NULL, 1, "expected a shape too"},
	{"cluster:nodes=4,8", NULL, 1, "'8' is a second shape"},
	{"cluster:nodes=4,gpus=4", "gpus=2", 1, "is set before: gpus=4"},
	{"cluster:nodes=4,gpus=4,nics=3", NULL, 29, "3 NICs and 4 GPUs: one must divide"},
	{"cluster:nodes=4,nics=2,inside=none", NULL, 17, "8 GPUs share 2 NICs"},
	{"cluster:nodes=4,gpus=6,inside=pcie", NULL, 31, "no multiple of 4"},
	{"cluster:nodes=4,gpus=0", NULL, 22, "GPUs of a node"},
	{"cluster:nodes=1,nics=2", NULL, 17, "has no net, nics changes nothing"},
	{"cluster:4", "pcie.bandwidth=1GB/s", 1,
         "'pcie.bandwidth' has no meaning with the inside of a node of cluster; set "
         "another, such as inside=pcie"},
	{"cluster:nodes=16385", NULL, 15,
         "the number of nodes 16385 is out of range, expected 1 to 16384"},
	{"cluster:gpus=4,nodes=0", NULL, 22, "0 is out of range"},
	{"h100:32", NULL, 1,
         "unknown family 'h100'; did you mean 'dgx-h100:4' (32 GPUs)?"},
	{"dgxh100:4", NULL, 1, "did you mean 'dgx-h100:4' (32 GPUs)?"},
	{"gb200:3", NULL, 1, "did you mean 'gb200-nvl72:3' (216 GPUs)?"},
	{"tpu-v44:4x4x4", NULL, 1, "did you mean 'tpu-v4:4x4x4'?"},
	{"nothing-near:4", NULL, 1, "unknown family 'nothing-near'; known are tpu-v2"},
};

START_TEST(faults_say_what)
{
	struct arena *a = arena_new();
	struct machine *m;
	struct error e = {0};

	ck_assert_int_ne(platform_machine(&m, a, faults[_i].spec, &faults[_i].set,
	                                  faults[_i].set ? 1 : 0, &e),
	                 OK);
	ck_assert_msg(strstr(e.text, faults[_i].text), "%s", e.text);
	ck_assert_msg(e.at.col == faults[_i].col, "col %u: %s", e.at.col, e.text);
	arena_free(a);
}
END_TEST

/* --- families of the user's --------------------------------------------------------- */

#define ENTRY(name, gpus)                                                              \
	name ":\n  kind: nodes\n  gpus: " gpus "\n"                                    \
	     "  largest: {value: 512, source: ours}\n  profile: nccl\n  figures:\n"    \
	     "    nvlink.peak: {value: 450GB/s, source: mine}\n"                       \
	     "    nvlink.bandwidth: {value: 368GB/s, source: mine}\n"                  \
	     "    nvlink.latency: {value: 1us, source: mine}\n"                        \
	     "    nic.peak: {value: 400Gb/s, source: mine}\n"                          \
	     "    nic.bandwidth: {value: 384Gbps, source: mine}\n"                     \
	     "    nic.latency: {value: 2us, source: mine}\n"                           \
	     "    memory_bytes: {value: 80GB, source: mine}\n"                         \
	     "    memory_Bps: {value: 3GB/s, source: mine}\n"                          \
	     "    launch_s: {value: 8us, source: mine}\n"

/* Writes the text to a file that the program takes more families from. */
static const char *more_write(struct arena *a, const char *yaml)
{
	const char *tmp = getenv("TMPDIR");
	char *path = arena_printf(a, "%s/families-XXXXXX", tmp ? tmp : "/tmp");
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, yaml, strlen(yaml)), (ssize_t)strlen(yaml));
	close(fd);
	ck_assert_int_eq(setenv(FAMILIES_MORE, path, 1), 0);
	return path;
}

/* A new name comes behind all, a known one counts in place of the shipped one. */
START_TEST(families_are_added)
{
	struct arena *a = arena_new();
	struct families before, after;
	struct machine *m;
	struct error e = {0};
	const char *path;

	ck_assert_int_eq(families_known(&before, a, &e), OK);
	path = more_write(a, ENTRY("mine", "6") ENTRY("dgx-h100", "2"));
	ck_assert_msg(families_known(&after, a, &e) == OK, "%s", e.text);
	ck_assert_int_eq(after.n, before.n + 1);
	ck_assert_str_eq(after.family[before.n].name, "mine");
	ck_assert_str_eq(after.family[before.n].path, path);
	for (int i = 0; i < before.n; i++) {
		ck_assert_str_eq(after.family[i].name, before.family[i].name);
		if (!strcmp(after.family[i].name, "dgx-h100"))
			ck_assert_int_eq(after.family[i].gpus, 2);
		else
			ck_assert_str_eq(after.family[i].path, before.family[i].path);
	}
	ck_assert_int_eq(platform_machine(&m, a, "mine:2", NULL, 0, &e), OK);
	ck_assert_int_eq(m->ndevices, 12);
	ck_assert_double_eq(m->link[m->fabric[1].port[0]].bandwidth_Bps, 48e9);
	ck_assert_int_eq(platform_machine(&m, a, "dgx-h100:3", NULL, 0, &e), OK);
	ck_assert_int_eq(m->ndevices, 6);
	unlink(path);
	ck_assert_int_eq(platform_machine(&m, a, "dgx-a100:1", NULL, 0, &e), E_IO);
	arena_free(a);
}
END_TEST

static const struct {
	const char *yaml, *text;
	unsigned line, col;
} more_faults[] = {
	{"mine:\n  kind: nodes\n  profile: nccl\n  gpu: 4\n", "'gpus' is missing", 2, 3},
	{ENTRY("mine", "4") "  fabrik: xgmi\n",
         "unknown key 'fabrik'; did you mean 'fabric'?", 16, 3},
	{ENTRY("mine", "none"), "GPUs of a node", 3, 9},
	{ENTRY("mine", "4") ENTRY("mine", "8"), "family 'mine' is there twice", 16, 1},
	{"mine:\n  kind: nods\n  profile: nccl\n", "unknown kind 'nods'", 2, 9},
	{"[1, 2]\n", "expected a mapping of families", 1, 1},
	{"mine: {\n", "", 2, 1},
};

START_TEST(more_faults_have_places)
{
	struct arena *a = arena_new();
	const char *path = more_write(a, more_faults[_i].yaml);
	struct families all;
	struct error e = {0};

	ck_assert_int_ne(families_known(&all, a, &e), OK);
	unlink(path);
	ck_assert_str_eq(e.at.file, path);
	ck_assert_msg(strstr(e.text, more_faults[_i].text), "%s", e.text);
	ck_assert_msg(e.at.line == more_faults[_i].line &&
	                      e.at.col == more_faults[_i].col,
	              "%u:%u: %s", e.at.line, e.at.col, e.text);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("generic machines");
	TCase *tcase = tcase_create("generic");

	tcase_add_loop_test(tcase, tori_have_their_routes, 0, COUNT(tori));
	tcase_add_test(tcase, links_are_as_set);
	tcase_add_test(tcase, open_tori_say_so);
	tcase_add_loop_test(tcase, clusters_have_their_routes, 0, COUNT(clusters));
	tcase_add_loop_test(tcase, simgrid_takes_them, 0, 8);
	tcase_add_loop_test(tcase, faults_say_what, 0, COUNT(faults));
	tcase_add_test(tcase, families_are_added);
	tcase_add_loop_test(tcase, more_faults_have_places, 0, COUNT(more_faults));
	suite_add_tcase(suite, tcase);
	return suite;
}
