#include "platform/platform.h"
#include "tests/tests.h"

#include "edit.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct {
	const char *spec, *from, *to;
	unsigned line, col;
	const char *text;
} file_faults[] = {
	{"dgx-a100:1", "</zone>", "</zonk>", 17, 0, "mismatch"},
	{"dgx-a100:1", "<platform version=\"4.1\">", "<platform version=\"3\">", 4, 1,
         "version=\"3\", expected 4.1"},
	{"dgx-a100:1", "<platform version=\"4.1\">", "<platform>", 4, 1,
         "<platform> has no attribute 'version'"},
	{"dgx-a100:1", "<cluster ", "<custer ", 16, 0, "mismatch"},
	{"dgx-a100:1", "  </zone>", "  <custer/></zone>", 17, 3,
         "<custer> is not an element of a platform"},
	{"dgx-a100:1", " bw=", " b=", 6, 5, "<cluster> has no attribute 'bw'"},
	{"dgx-a100:1", "235000000000Bps", "fast", 6, 5, "bw=\"fast\" is not a bandwidth"},
	{"dgx-a100:1", "235000000000Bps", "0Bps", 6, 5, "is not above 0"},
	{"dgx-a100:1", "0.000000475s", "1parsec", 6, 5, "is not a time"},
	{"dgx-a100:1", "SPLITDUPLEX", "FATPIPE", 6, 5, "sharing_policy=\"FATPIPE\""},
	{"dgx-a100:1", "sharing_policy",
         "bb_bw=\"1GBps\" bb_sharing_policy=\"FATPIPE\" sharing_policy", 6, 5,
         "bb_sharing_policy=\"FATPIPE\", expected SHARED"},
	{"dgx-a100:1", "235000000000Bps", "1e300GBps", 6, 5, "is not a bandwidth"},
	{"dgx-a100:1", "235000000000Bps", "1e-320Bps", 6, 5, "is out of range"},
	{"dgx-a100:1", "235000000000Bps", "1e200GBps", 6, 5, "is out of range"},
	{"dgx-a100:1", "0.000000475s", "nan", 6, 5, "is not a time"},
	{"dgx-a100:1", "0-7", "7-0", 6, 5, "radical=\"7-0\""},
	/* A mesh has at most 4194304 devices. */
	{"dgx-a100:1", "0-7", "0-4194304", 6, 5, "expected numbers up to 4194303"},
	{"dgx-a100:1", "0-7", "0-6,8", 6, 5, "host 'gpu8' is of device 8"},
	{"dgx-a100:2", "8-15", "8-14,20", 0, 0, "no host is of device 16"},
	{"dgx-a100:1", "0-7", "1-9", 6, 5, "host 'gpu9' is of device 9"},
	{"dgx-a100:1", "suffix=\"\"", "suffix=\".edu\"", 6, 5,
         "host 'gpu0.edu' does not end in the number of its device"},
	{"dgx-a100:1", "id=\"fabric\"", "id=\"fabrik\"", 6, 5, "no property 'fabric'"},
	{"dgx-a100:1", "id=\"launch_s\"", "id=\"lunch_s\"", 6, 5,
         "no property 'launch_s'"},
	{"dgx-a100:1",
         "<prop id=\"domain\" value=\"node0\"/>\n      <prop id=\"priority\"",
         "<prop id=\"i\"", 6, 5, "no property 'domain', 'priority'"},
	{"dgx-a100:1", "value=\"0\"", "value=\"-1\"", 9, 7, "not a number of at least 0"},
	{"dgx-a100:1", "value=\"0\"", "value=\"0.5\"", 9, 7, "a whole number"},
	{"dgx-a100:1", "\"nccl\"", "\"zzz\"", 10, 7,
         "unknown profile 'zzz', expected tpu, nccl, rccl, p2 or plain"},
	{"dgx-a100:1", "2000000000000", "2TB/s", 13, 7, "'2TB/s' is not a number"},
	{"dgx-a100:1", "\"switch\"", "\"hub\"", 6, 5, "geometry 'hub', expected such as"},
	{"dgx-a100:1", "\"switch\"", "\"torus 2x2 wrap 00\"", 6, 5,
         "domain 'node0' has 8 hosts, but its geometry is 'torus 2x2 wrap 00'"},
	{"dgx-a100:1", "\"switch\"", "\"torus 4x2 wrap 01\"", 6, 5,
         "an axis of 2 cannot wrap"},
	{"dgx-a100:1", "\"switch\"", "\"torus 4x2 wrap 0\"", 6, 5, "expected such as"},
	{"dgx-a100:1", "\"switch\"", "\"torus 4x2 wrap 00\"", 6,
         5, "'gpu0' and 'gpu2' are neighbours in geometry 'torus 4x2 wrap 00', but no one link"},
	{"dgx-a100:2", "\"nvlink\"", "\"net\"", 17, 5, "contradicts"},
	{"dgx-a100:2", "id=\"priority\" value=\"1\"", "id=\"priority\" value=\"0\"", 0,
         0, "both have priority 0"},
	{"dgx-a100:2", "\"80000000000\"", "\"80000000001\"", 0, 0, "contradicts"},
	{"dgx-a100:2", "radical=\"8-15\"", "radical=\"7-15\"", 28, 5,
         "host 'gpu7' is there twice"},
	{"dgx-a100:2", "prefix=\"gpu\" suffix=\"\" radical=\"8-15\"",
         "prefix=\"g\" suffix=\"\" radical=\"7-15\"", 28, 5,
         "device 7 has two hosts on fabric 'nvlink': 'gpu7' and 'g7'"},
	{"dgx-a100:2", "id=\"node1\"", "id=\"net\"", 28, 5, "there twice"},
	{"tpu-v4:4x4x4", "topo_parameters=\"4,4,4\"", "topo_parameters=\"4,4\"", 6, 5,
         "is not a torus of 64 hosts"},
	{"tpu-v4:4x4x4", "topo_parameters=\"4,4,4\"", "topo_parameters=\"4,4,x\"", 6, 5,
         "is not a torus"},
	{"tpu-v4:4x4x4", "torus 4x4x4 wrap 111", "torus 8x8 wrap 11", 6, 5,
         "'chip0' and 'chip8' are neighbours"},
	{"tpu-v4:4x4x4", "torus 4x4x4 wrap 111", "torus 4x4x5 wrap 111", 6, 5,
         "domain 'pod' has 64 hosts"},
	{"tpu-v4:4x4x4", "torus 4x4x4 wrap 111", "switch", 6, 5,
         "needs a route of two links"},
	{"tpu-v4:4x4x4", "torus 4x4x4 wrap 111", "torus 4x4x4 wrap 11", 6, 5,
         "expected such as"},
	{"tpu-v5e:3x2", "<link_ctn id=\"ici_0_to_1\"/>",
         "<link_ctn id=\"ici_0_to_9\"/>", 0, 0, "there is no link 'ici_0_to_9'"},
	{"tpu-v5e:3x2", "<link_ctn id=\"ici_0_to_1\"/>", "", 0, 0,
         "the route has no links"},
	{"tpu-v5e:3x2", "src=\"chip0\" dst=\"chip2\"", "src=\"chip0\" dst=\"chip1\"", 0,
         0, "the route from 'chip0' to 'chip1' is there twice"},
	{"tpu-v5e:3x2", "src=\"chip0\" dst=\"chip3\"", "src=\"chip0\" dst=\"chip6\"", 0,
         0, "there is no host 'chip6'"},
	{"tpu-v5e:3x2", "symmetrical=\"NO\"", "symmetrical=\"YES\"", 0, 0, "there twice"},
	{"tpu-v5e:3x2", "<host id=\"chip1\"", "<host id=\"chip0\"", 0, 0,
         "host 'chip0' is there twice"},
	{"tpu-v5e:3x2", "link id=\"ici_0_to_1\"", "link id=\"ici_0_to_2\"", 0, 0,
         "link 'ici_0_to_2' is there twice"},
	{"tpu-v5e:3x2", "<link_ctn id=\"ici_0_to_1\"/><link_ctn id=\"ici_1_to_3\"/>",
         "<link_ctn id=\"ici_0_to_2\"/><link_ctn id=\"ici_2_to_3\"/>", 6, 5,
         "the route from 'chip0' to 'chip3' has ici_0_to_2 as its link 1, but"},
	{"tpu-v5e:3x2", "<link_ctn id=\"ici_0_to_1\"/><link_ctn id=\"ici_1_to_3\"/>",
         "<link_ctn id=\"ici_0_to_1\"/>", 6, 5, "has none as its link 2, but"},
	{"tpu-v5e:3x2", "host id=\"chip1\"", "host id=\"chip1\" state_file=\"off\"", 0,
         5, "state_file: times are of machines that do not change"},
	{"tpu-v5e:3x2", "link id=\"ici_0_to_1\"",
         "link id=\"ici_0_to_1\" bandwidth_file=\"slow\"", 0, 5, "bandwidth_file: times"},
	{"tpu-v4:4x4x4", "<cluster", "<cluster availability_file=\"slow\"", 6, 5,
         "availability_file: times"},
	{"tpu-v5e:3x2", "  </zone>", "  <trace id=\"a\" periodicity=\"1\"/></zone>", 0,
         0, "<trace> is not an element"},
};

/* Found by our reader: SimGrid is not started at all. */
START_TEST(file_fault_rows)
{
	struct arena *a = arena_new();
	const char *path = edit_platform(a, file_faults[_i].spec, file_faults[_i].from,
	                                 file_faults[_i].to);
	struct machine *m = NULL;
	struct text printed = {0};
	struct error e = {0};

	ck_assert_int_ne(platform_text(&printed, a, path, NULL, 0, false, NULL), OK);
	ck_assert_ptr_null(printed.s);
	ck_assert_int_ne(platform_machine(&m, a, path, NULL, 0, &e), OK);
	unlink(path);
	ck_assert_ptr_null(m);
	ck_assert_str_eq(e.at.file, path);
	ck_assert_msg(strstr(e.text, file_faults[_i].text) != NULL, "%s", e.text);
	if (file_faults[_i].line)
		ck_assert_msg(e.at.line == file_faults[_i].line, "line %u: %s",
		              e.at.line, e.text);
	if (file_faults[_i].col)
		ck_assert_msg(e.at.col == file_faults[_i].col, "col %u: %s", e.at.col,
		              e.text);
	arena_free(a);
}
END_TEST

/* Every prefix of a file is an error with a place, and no crash. */
START_TEST(truncated_files)
{
	struct arena *a = arena_new();
	struct text all = {0};
	struct error e = {0};

	ck_assert_int_eq(platform_text(&all, a, "dgx-a100:2", NULL, 0, false, &e), OK);
	for (size_t n = 0; n + 12 < all.length; n += 7) {
		const char *path = edit_write(a, all.s, n, ".xml");
		struct machine *m = NULL;

		e = (struct error){0};
		ck_assert_int_ne(platform_machine(&m, a, path, NULL, 0, &e), OK);
		ck_assert_uint_ge(e.at.line, 1);
		unlink(path);
	}
	text_free(&all);
	arena_free(a);
}
END_TEST

#define DOCTYPE "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"

static const struct {
	const char *content, *text;
} other_files[] = {
	{"", "the file is empty"},
	{"\n\n", "Start tag expected"},
	{"\x7f"
         "ELF\x01\x02",
         "Start tag expected"},
	{"tpu-v4:4x4x4\n", "Start tag expected"},
	{"<platform version=\"4.1\"/>", "<!DOCTYPE platform SYSTEM"},
	{"<html/>", "not a SimGrid platform"},
	{DOCTYPE "<platform version=\"4.1\"/>", "the platform has no hosts"},
	{DOCTYPE "<platform version=\"4.1\"><zone routing=\"Full\"/></platform>",
         "<zone> has no attribute 'id'"},
};

START_TEST(other_file_rows)
{
	struct arena *a = arena_new();
	const char *path = edit_write(a, other_files[_i].content,
	                              strlen(other_files[_i].content), ".xml");
	struct platform *p = NULL;
	struct error e = {0};

	ck_assert_int_ne(platform_load(&p, a, path, NULL, 0, &e), OK);
	unlink(path);
	ck_assert_msg(strstr(e.text, other_files[_i].text) != NULL, "%s", e.text);
	arena_free(a);
}
END_TEST

START_TEST(no_file)
{
	struct arena *a = arena_new();
	struct platform *p = NULL;
	struct error e = {0};

	ck_assert_int_eq(platform_load(&p, a, "platforms/none.xml", NULL, 0, &e), E_IO);
	ck_assert_str_eq(e.at.file, "platforms/none.xml");
	e = (struct error){0};
	ck_assert_int_eq(platform_load(&p, a, "platforms/", NULL, 0, &e), E_IO);
	arena_free(a);
}
END_TEST

/* Our reader cannot see these: the comparison with SimGrid does, or SimGrid itself. */
static const struct {
	const char *spec, *from, *to, *text;
} engine_faults[] = {
	/* the first axis is SimGrid's fastest: not reversed, 0 and 8 would be neighbours */
	{"tpu-v4:4x4x8", "topo_parameters=\"8,4,4\"", "topo_parameters=\"4,4,8\"",
         "are neighbours"},
	/* a backbone that all share */
	{"dgx-a100:1", " lat=", " bb_bw=\"1GBps\" bb_lat=\"0s\" lat=", "link 2"},
	/* SimGrid knows no such routing and ends the process */
	{"dgx-a100:1", "routing=\"Full\"", "routing=\"Fool\"", "Not a valid model"},
	{"tpu-v5e:3x2", "speed=\"1Gf\"", "speed=\"1Gx\"",
         "SimGrid refuses the file: unknown unit"},
};

START_TEST(engine_fault_rows)
{
	struct arena *a = arena_new();
	const char *path = edit_platform(a, engine_faults[_i].spec,
	                                 engine_faults[_i].from, engine_faults[_i].to);
	struct platform *p = NULL;
	struct error e = {0};

	ck_assert_int_ne(platform_load(&p, a, path, NULL, 0, &e), OK);
	unlink(path);
	ck_assert_ptr_null(p);
	ck_assert_msg(strstr(e.text, engine_faults[_i].text) != NULL, "%s", e.text);
	arena_free(a);
}
END_TEST

/*
 * `n` hosts in a graph; `routing` Full has a route written out for every pair but that of
 * `a` and `b`, the others a line of one link per hop, cut between the two.
 */
static const char *write_graph(struct arena *arena, const char *routing, int n, int a,
                               int b)
{
	bool full = !strcmp(routing, "Full");
	struct text t = {0};
	const char *path;

	text_printf(&t, "%s\n<platform version=\"4.1\"><zone id=\"z\" routing=\"%s\">\n",
	            DOCTYPE, routing);
	for (int d = 0; d < n; d++)
		text_printf(
			&t,
			"<host id=\"h%d\" speed=\"1Gf\"><prop id=\"fabric\" "
			"value=\"net\"/><prop id=\"domain\" value=\"all\"/><prop "
			"id=\"priority\" value=\"0\"/><prop id=\"profile\" "
			"value=\"nccl\"/><prop id=\"geometry\" value=\"graph\"/><prop "
			"id=\"memory_bytes\" value=\"1e9\"/><prop id=\"memory_Bps\" "
			"value=\"0\"/><prop id=\"launch_s\" value=\"0\"/></host>\n"
			"<link id=\"l%d\" bandwidth=\"1GBps\" latency=\"2us\"/>\n",
			d, d);
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
			if ((full || j == i + 1) && (i != a || j != b))
				text_printf(&t,
				            "<route src=\"h%d\" dst=\"h%d\"><link_ctn "
				            "id=\"l%d\"/></route>\n",
				            i, j, i);
	text_printf(&t, "</zone></platform>\n");
	path = edit_write(arena, t.s, t.length, ".xml");
	text_free(&t);
	return path;
}

static const struct {
	const char *routing;
	int n, a, b; /* no route from a to b, < 0: all are there */
	unsigned line;
	const char *text;
} graphs[] = {
	{"Full", 5, -1, -1, 0, NULL},
	{"Full", 5, 1, 3, 5, "there is no route from 'h1' to 'h3'"},
	{"Full", 150, 148, 149, 299, "there is no route from 'h148' to 'h149'"},
	{"Floyd", 5, -1, -1, 0, NULL},
	{"Floyd", 5, 3, 4, 3, "SimGrid finds no route from 'h0' to 'h4'"},
	{"Dijkstra", 5, 3, 4, 3, "SimGrid finds no route from 'h0' to 'h4'"},
	{"DijkstraCache", 5, -1, -1, 0, NULL},
	{"DijkstraCache", 5, 3, 4, 3, "SimGrid finds no route from 'h0' to 'h4'"},
	{"DijkstraCache", 150, -1, -1, 0, NULL},
	{"DijkstraCache", 150, 148, 149, 299,
         "SimGrid finds no route from 'h148' to 'h149'"},
};

/* SimGrid does not survive some of these questions: they are asked in the trial. */
START_TEST(graph_rows)
{
	struct arena *a = arena_new();
	const char *path = write_graph(a, graphs[_i].routing, graphs[_i].n,
	                               graphs[_i].a, graphs[_i].b);
	struct platform *p = NULL;
	struct error e = {0};

	platform_open(&p, a, path, NULL, 0, false, &e);
	unlink(path);
	ck_assert_msg((e.code == OK) == !graphs[_i].text, "%s", e.text);
	ck_assert_int_eq(p != NULL, !graphs[_i].text);
	if (p) {
		/* routes that are written out are not SimGrid's to tell */
		ck_assert_int_eq(p->host != NULL,
		                 strcmp(graphs[_i].routing, "Full") != 0);
		ck_assert_double_gt(machine_latency(p->machine, 0, 1, 3), 0);
	} else {
		ck_assert_msg(strstr(e.text, graphs[_i].text) != NULL, "%s", e.text);
		ck_assert_str_eq(e.at.file, path);
		ck_assert_uint_eq(e.at.line, graphs[_i].line);
	}
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("platform faults");
	TCase *tcase = tcase_create("platform faults");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, file_fault_rows, 0, COUNT(file_faults));
	tcase_add_test(tcase, truncated_files);
	tcase_add_loop_test(tcase, other_file_rows, 0, COUNT(other_files));
	tcase_add_test(tcase, no_file);
	tcase_add_loop_test(tcase, engine_fault_rows, 0, COUNT(engine_faults));
	tcase_add_loop_test(tcase, graph_rows, 0, COUNT(graphs));
	suite_add_tcase(suite, tcase);
	return suite;
}
