#include "clocks_suite.h"
#include "tests/tests.h"

#include "platform/platform.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * Files as other SimGrid programs have them, after the forms that SimGrid's manual
 * documents: no host has a property of ours. What the machine must be is told from the
 * file by hand; how long steps take on it SimGrid itself says.
 */
#define BOB                                                                            \
	"<cluster id=\"bob\" prefix=\"node-\" suffix=\".org\" speed=\"1Gf\" "          \
	"bw=\"125MBps\" "                                                              \
	"lat=\"50us\" radical="

static const struct foreign {
	const char *xml;
	int32_t ndevices;
	enum geometry geometry;
	int naxes;
	int32_t hops; /* links from the first device to the last */
} files[] = {
	{BOB "\"0-15\"/>", 16, GEOMETRY_SWITCH, 0, 2},
	/* Numbers that do not begin at 0 and have gaps. */
	{BOB "\"100-107,300-307\"/>", 16, GEOMETRY_SWITCH, 0, 2},
	/* One link for both ways. */
	{BOB "\"0-15\" sharing_policy=\"SHARED\"/>", 16, GEOMETRY_SWITCH, 0, 2},
	{BOB "\"0-15\" loopback_bw=\"100MBps\" loopback_lat=\"0\"/>", 16,
         GEOMETRY_SWITCH, 0, 2},
	/* Up, the backbone, down. */
	{BOB "\"0-15\" bb_bw=\"2.25GBps\" bb_lat=\"500us\"/>", 16, GEOMETRY_GRAPH, 0, 3},
	/* The first axis is the fastest: the last of 5 x 4 is a step back on both. */
	{BOB "\"0-19\" topology=\"TORUS\" topo_parameters=\"4,5\"/>", 20,
         GEOMETRY_TORUS, 2, 2},
	{BOB "\"0-26\" topology=\"TORUS\" topo_parameters=\"3,1,3,3\"/>", 27,
         GEOMETRY_TORUS, 3, 3},
	{BOB "\"0-15\" topology=\"TORUS\" topo_parameters=\"16\"/>", 16, GEOMETRY_TORUS,
         1, 1},
	{BOB "\"0-19\" topology=\"TORUS\" topo_parameters=\"4,5\" "
             "sharing_policy=\"SHARED\"/>",
         20, GEOMETRY_TORUS, 2, 2},
	/* An axis of two has two cables there. */
	{BOB "\"0-15\" topology=\"TORUS\" topo_parameters=\"4,2,2\"/>", 16,
         GEOMETRY_GRAPH, 0, 3},
	/* To the other leaf over a spine: two links up, two down. */
	{BOB "\"0-15\" topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\"/>", 16,
         GEOMETRY_GRAPH, 0, 4},
	/* Two groups of four routers in a row, two hosts each. */
	{BOB "\"0-15\" topology=\"DRAGONFLY\" topo_parameters=\"2,2;1,1;4,2;2\"/>", 16,
         GEOMETRY_GRAPH, 0, 5},
	/* Two clusters and a link between their routers: up, the link, down. */
	{"<zone id=\"world\" routing=\"Full\">"
         "<cluster id=\"a\" prefix=\"a-\" suffix=\"\" radical=\"0-7\" speed=\"1Gf\" "
         "bw=\"125MBps\" lat=\"50us\" router_id=\"ra\"/>"
         "<cluster id=\"b\" prefix=\"b-\" suffix=\"\" radical=\"0-7\" speed=\"1Gf\" "
         "bw=\"1GBps\" lat=\"5us\" router_id=\"rb\"/>"
         "<link id=\"between\" bandwidth=\"500MBps\" latency=\"5ms\"/>"
         "<zoneRoute src=\"a\" dst=\"b\" gw_src=\"ra\" gw_dst=\"rb\"><link_ctn "
         "id=\"between\"/></zoneRoute></zone>",
         16, GEOMETRY_GRAPH, 0, 3},
	/* A cabinet, whose hosts have links of their own, on a backbone. */
	{"<zone id=\"site\" routing=\"Cluster\"><prop id=\"wattage\" value=\"3\"/>"
         "<cabinet id=\"c\" prefix=\"h\" suffix=\".org\" radical=\"1-8\" speed=\"1Gf\" "
         "bw=\"1.25GBps\" lat=\"24us\"/>"
         "<backbone id=\"bb\" bandwidth=\"1.25GBps\" latency=\"0\"/></zone>",
         8, GEOMETRY_GRAPH, 0, 3},
	/* Routes written out, and one that a host has to itself over a FATPIPE. */
	{"<zone id=\"z\" routing=\"Full\"><host id=\"Tremblay\" speed=\"98Mf\"/>"
         "<host id=\"Jupiter\" speed=\"76Mf\"/><host id=\"Fafard\" speed=\"76Mf\"/>"
         "<host id=\"Ginette\" speed=\"48Mf\"/>"
         "<link id=\"1\" bandwidth=\"41.3MBps\" latency=\"59us\"/>"
         "<link id=\"2\" bandwidth=\"25MBps\" latency=\"20us\"/>"
         "<link id=\"3\" bandwidth=\"34MBps\" latency=\"1ms\"/>"
         "<link id=\"self\" bandwidth=\"498MBps\" latency=\"15us\" "
         "sharing_policy=\"FATPIPE\"/>"
         "<route src=\"Tremblay\" dst=\"Tremblay\"><link_ctn id=\"self\"/></route>"
         "<route src=\"Tremblay\" dst=\"Jupiter\"><link_ctn id=\"1\"/></route>"
         "<route src=\"Tremblay\" dst=\"Fafard\"><link_ctn id=\"1\"/><link_ctn "
         "id=\"2\"/></route>"
         "<route src=\"Tremblay\" dst=\"Ginette\"><link_ctn id=\"3\"/></route>"
         "<route src=\"Jupiter\" dst=\"Fafard\"><link_ctn id=\"2\"/></route>"
         "<route src=\"Jupiter\" dst=\"Ginette\"><link_ctn id=\"3\"/><link_ctn "
         "id=\"1\"/></route>"
         "<route src=\"Fafard\" dst=\"Ginette\"><link_ctn id=\"2\"/><link_ctn "
         "id=\"3\"/></route></zone>",
         4, GEOMETRY_GRAPH, 0, 1},
	/* Shortest paths along a line of four. */
	{"<zone id=\"z\" routing=\"Floyd\"><host id=\"A\" speed=\"1Gf\"/><host "
         "id=\"B\" "
         "speed=\"1Gf\"/><host id=\"C\" speed=\"1Gf\"/><host id=\"D\" speed=\"1Gf\"/>"
         "<link id=\"1\" bandwidth=\"41.3MBps\" latency=\"59us\"/>"
         "<link id=\"2\" bandwidth=\"25MBps\" latency=\"20us\"/>"
         "<link id=\"3\" bandwidth=\"34MBps\" latency=\"1ms\"/>"
         "<route src=\"A\" dst=\"B\"><link_ctn id=\"1\"/></route>"
         "<route src=\"B\" dst=\"C\"><link_ctn id=\"2\"/></route>"
         "<route src=\"C\" dst=\"D\"><link_ctn id=\"3\"/></route></zone>",
         4, GEOMETRY_GRAPH, 0, 3},
};

/* Writes a platform file around the text and returns its path. */
static char *file_write(const char *xml)
{
	const char *tmp = getenv("TMPDIR");
	static char path[200];
	FILE *out;
	int fd;

	snprintf(path, sizeof(path), "%s/foreign-XXXXXX.xml", tmp ? tmp : "/tmp");
	fd = mkstemps(path, 4);
	ck_assert_int_ge(fd, 0);
	out = fdopen(fd, "w");
	fprintf(out,
	        "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM "
	        "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n%s\n"
	        "</platform>\n",
	        xml);
	ck_assert_int_eq(fclose(out), 0);
	return path;
}

START_TEST(machines_are_told)
{
	const struct foreign *f = &files[_i];
	struct arena *a = arena_new();
	char *path = file_write(f->xml), says[40];
	struct platform *p;
	struct error e = {0};

	ck_assert_msg(platform_load(&p, a, path, NULL, 0, &e) == OK, "%s", e.text);
	unlink(path);
	ck_assert_int_eq(p->machine->ndevices, f->ndevices);
	ck_assert_int_eq(p->machine->nfabrics, 1);
	ck_assert_int_eq(p->machine->fabric[0].geometry, f->geometry);
	ck_assert_int_eq(p->machine->fabric[0].naxes, f->naxes);
	ck_assert_str_eq(p->machine->fabric[0].profile, "plain");
	ck_assert_double_eq(p->machine->device[f->ndevices - 1].launch_s, 0);
	ck_assert_double_eq(p->machine->device[0].memory_bytes, 0);
	ck_assert_double_eq(p->machine->device[0].memory_Bps, 0);
	ck_assert_int_eq(machine_hops(p->machine, 0, 0, f->ndevices - 1), f->hops);
	snprintf(says, sizeof(says), "taken as %d devices", (int)f->ndevices);
	ck_assert_ptr_nonnull(p->machine->note);
	ck_assert_ptr_nonnull(strstr(p->machine->note, says));
	arena_free(a);
}
END_TEST

/* Every step of every planner's plan of a whole suite takes as long as in SimGrid. */
START_TEST(fluid_is_simgrid)
{
	char *path = file_write(files[_i].xml);
	const struct clocks_suite of = {"sim/tests/foreign.yaml", path, 1};
	struct clocks_compared is = clocks_suite_compare(&of);

	unlink(path);
	ck_assert_int_eq(is.differ, 0);
	ck_assert_int_eq(is.refused, 0);
	ck_assert_int_gt(is.steps, 0);
}
END_TEST

/* What is wrong with such a file; the second line of the text is line 4 of the file. */
static const struct {
	const char *xml, *text;
	unsigned line;
} faults[] = {
	{"<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/><host id=\"b\" "
         "speed=\"1Gf\"/>\n<link id=\"fat\" bandwidth=\"1GBps\" "
         "sharing_policy=\"FATPIPE\"/>\n"
         "<route src=\"a\" dst=\"b\"><link_ctn id=\"fat\"/></route></zone>",
         "link 'fat' is a FATPIPE, which nobody shares", 6},
	/* Some hosts say what they are and others do not, both ways round. */
	{BOB "\"0-3\"/>\n<cluster id=\"c\" prefix=\"x\" suffix=\"\" radical=\"4-7\" "
             "speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\"><prop id=\"fabric\" "
             "value=\"net\"/></cluster>",
         "has properties that hosts before it lack", 5},
	{"<cluster id=\"c\" prefix=\"x\" suffix=\"\" radical=\"4-7\" speed=\"1Gf\" "
         "bw=\"1GBps\" "
         "lat=\"1us\"><prop id=\"fabric\" value=\"net\"/></cluster>",
         "have no property 'domain', 'priority', 'profile'", 4},
	{BOB
         "\"0-3\"/>\n<peer id=\"p\" speed=\"1Gf\" bw_in=\"1GBps\" bw_out=\"1GBps\"/>",
         "<peer> is not an element of a platform that is read here", 5},
	{BOB "\"0-3\" sharing_policy=\"FATPIPE\"/>", "expected SPLITDUPLEX or SHARED", 4},
};

START_TEST(faults_have_places)
{
	struct arena *a = arena_new();
	char *path = file_write(faults[_i].xml);
	struct machine *m;
	struct error e = {0};

	ck_assert_int_ne(platform_machine(&m, a, path, NULL, 0, &e), OK);
	unlink(path);
	ck_assert_msg(strstr(e.text, faults[_i].text), "%s", e.text);
	ck_assert_uint_eq(e.at.line, faults[_i].line);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("foreign");
	TCase *tcase = tcase_create("foreign");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, machines_are_told, 0, COUNT(files));
	tcase_add_loop_test(tcase, fluid_is_simgrid, 0, COUNT(files));
	tcase_add_loop_test(tcase, faults_have_places, 0, COUNT(faults));
	suite_add_tcase(suite, tcase);
	return suite;
}
