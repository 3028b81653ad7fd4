#include "platform/loader.h"

#include "cost/fair.h"
#include "facts/families.h"
#include "family/xml.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xbt/dynar.h>

/*
 * Sets SimGrid's options, for single flows or for parallel tasks. Its defaults are made
 * for TCP on Ethernet and for times of seconds: they add to latencies, cap windows and
 * round to 1e-5 s. The solver's precision is an absolute bandwidth, and fails where it
 * is below the rounding of the bandwidths in use.
 *
 * In the model CM02, as in TCP, flows share a link in inverse proportion to their
 * latencies; flows without a latency get equal shares. So SimGrid is told of no
 * latency, and whoever starts a flow waits for it. Each flow has an actor, whose stack
 * is kept small.
 */
static void engine_init(const struct machine *m, bool flows)
{
	char precision[64];
	char *argv[] =
	{ "shardsim",
	  flows ? "--cfg=network/model:CM02" : "--cfg=host/model:ptask_L07",
	  flows ? "--cfg=network/latency-factor:0" : "--cfg=network/latency-factor:1",
	  flows ? "--cfg=contexts/stack-size:512" : "--cfg=contexts/stack-size:8192",
	  "--cfg=network/crosstraffic:0",
	  "--cfg=network/TCP-gamma:0",
	  "--cfg=surf/precision:1e-9",
	  "--log=root.thres:error",
	  precision,
#if defined(__SANITIZE_ADDRESS__)
	  "--cfg=contexts/factory:thread",
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
	  "--cfg=contexts/factory:thread",
#endif
#endif
	  NULL };
	int argc = (int)(sizeof(argv) / sizeof(*argv)) - 1;

	snprintf(precision, sizeof(precision), "--cfg=maxmin/precision:%g",
	         fair_precision_Bps(m));
	simgrid_init(&argc, argv);
}

/*
 * Has SimGrid read the text. It reads files only, so the text goes through a file
 * without a name, and nothing is left behind when SimGrid ends the process.
 */
static enum status engine_load(struct loader *l, const char *text, size_t length)
{
	struct where at = {.file = l->xml.path};
	int fd = memfd_create("platform", 0);
	FILE *out = fd >= 0 ? fdopen(fd, "wb") : NULL;
	char path[64];

	if (!out || fwrite(text, 1, length, out) != length || fflush(out) != 0)
		error_set(l->error, E_IO, at, "cannot be handed to SimGrid: %s",
		          strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (l->error->code == OK)
		simgrid_load_platform(path);
	if (out)
		fclose(out);
	return l->error->code;
}

/*
 * Has SimGrid read the whole text; of a generated platform our reader had the brief
 * one.
 */
static enum status engine_read(struct loader *l)
{
	struct text whole = {0};
	enum status status;

	if (!l->generated)
		return engine_load(l, l->xml.text, l->xml.length);
	status = platform_generate(&whole, NULL, l->platform->arena, l->spec, l->set,
	                           l->nset, false, l->error);
	if (status == OK)
		status = engine_load(l, whole.s, whole.length);
	text_free(&whole);
	return status;
}

static bool about(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

/* Compares the links, and adds those that only SimGrid knows to the machine. */
static enum status engine_links(struct loader *l)
{
	int n = (int)sg_link_count();
	sg_link_t *links = sg_link_list();
	struct where at = {.file = l->xml.path};
	int32_t known = 0;

	for (int i = 0; i < n; i++) {
		struct link is = {arena_strdup(l->xml.arena, sg_link_get_name(links[i])),
		                  sg_link_get_bandwidth(links[i]),
		                  sg_link_get_latency(links[i])};
		int32_t at_link = platform_xml_link(&l->xml, is.name);
		const struct link *says;

		if (at_link < 0 && !strcmp(is.name, "__loopback__"))
			continue;
		if (at_link < 0) {
			platform_xml_add_link(&l->xml, &is);
			continue;
		}
		known++;
		says = &l->xml.link[at_link];
		if (!about(is.bandwidth_Bps, says->bandwidth_Bps) ||
		    !about(is.latency_s, says->latency_s))
			error_set(l->error, E_TYPE, at,
			          "link '%s' has %.15g B/s and %.15g s in SimGrid, but "
			          "the "
			          "file says %.15g and %.15g",
			          is.name, is.bandwidth_Bps, is.latency_s,
			          says->bandwidth_Bps, says->latency_s);
	}
	free(links);
	if (known != l->platform->machine->nlinks)
		error_set(l->error, E_TYPE, at, "SimGrid has %d of the file's %d links",
		          (int)known, (int)l->platform->machine->nlinks);
	l->platform->machine->link = l->xml.link;
	l->platform->machine->nlinks = l->xml.nlinks;
	return l->error->code;
}

/*
 * Takes all hosts at once, because SimGrid looks for a single one in every zone.
 */
static enum status engine_hosts(struct loader *l)
{
	const struct machine *m = l->platform->machine;
	size_t n = (size_t)m->nfabrics * (size_t)m->ndevices;
	void **of_host = xmalloc((size_t)l->xml.nhosts, sizeof(*of_host));
	sg_host_t *hosts = sg_host_list();
	size_t count = sg_host_count();

	for (int32_t h = 0; h < l->xml.nhosts; h++)
		of_host[h] = NULL;
	for (size_t i = 0; i < count; i++) {
		int32_t h = platform_xml_host(&l->xml, sg_host_get_name(hosts[i]));

		if (h >= 0)
			of_host[h] = hosts[i];
	}
	l->platform->host = arena_alloc(l->platform->arena, n, sizeof(void *));
	for (size_t i = 0; i < n && l->error->code == OK; i++) {
		int32_t h = l->graph->host_of[i];

		if (h < 0)
			continue;
		l->platform->host[i] = of_host[h];
		if (!of_host[h])
			error_set(l->error, E_TYPE, (struct where){.file = l->xml.path},
			          "SimGrid has no host '%s'", l->xml.host[h].name);
	}
	free(of_host);
	free(hosts);
	return l->error->code;
}

/* Is a machine_route_fn with SimGrid's own routes; graphs have them once it runs. */
static int engine_route(const struct machine *m, int f, int32_t src, int32_t dst,
                        int32_t *links, int capacity)
{
	const struct platform_graph *g = m->ask_state;
	const struct loader *l = g->simgrid_state;
	void **host = l->platform->host + (size_t)f * (size_t)m->ndevices;
	xbt_dynar_t route = xbt_dynar_new(sizeof(sg_link_t), NULL);
	int n;

	sg_host_get_route(host[src], host[dst], route);
	n = (int)xbt_dynar_length(route);
	if (n > capacity || (!n && src != dst))
		n = -1;
	for (int i = 0; i < n; i++) {
		sg_link_t link = xbt_dynar_get_as(route, i, sg_link_t);

		links[i] = platform_xml_link(&l->xml, sg_link_get_name(link));
		assert(links[i] >= 0);
	}
	xbt_dynar_free(&route);
	return n;
}

/* Is an actor, because graph zones know their routes only while the simulation runs. */
static void comparer(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	platform_compare(sg_actor_get_data(sg_actor_self()));
}

static enum status engine_start(struct loader *l)
{
	struct machine *m = l->platform->machine;
	sg_actor_t actor;
	size_t i = 0;

	engine_init(m, l->flows);
	if (engine_read(l) != OK || engine_hosts(l) != OK || engine_links(l) != OK)
		return l->error->code;
	l->route = l->graph->simgrid = engine_route;
	l->graph->simgrid_state = l;
	while (!l->platform->host[i])
		i++;
	actor = sg_actor_init("comparer", l->platform->host[i]);
	sg_actor_set_data(actor, l);
	sg_actor_start(actor, comparer, 0, NULL);
	simgrid_run();
	return l->error->code;
}

#define RESERVE ((size_t)8 << 20)

/* Where to go on after an abort() of SimGrid; NULL in other threads, and otherwise. */
static _Thread_local sigjmp_buf *after_abort;

static void leave_abort(int number)
{
	(void)number;
	if (after_abort)
		siglongjmp(*after_abort, 1);
}

/*
 * SimGrid calls abort() where memory runs out, which is an error of this platform's clock
 * and of nothing else. After it SimGrid is not to be used again in this process. Its memory
 * is then lost, so that some is held in reserve for what is still to be done.
 */
static enum status engine_start_guarded(struct loader *l)
{
	struct sigaction was, now = {.sa_handler = leave_abort};
	void *reserve = malloc(RESERVE);
	sigjmp_buf here;

	sigaction(SIGABRT, &now, &was);
	if (reserve && sigsetjmp(here, 1) == 0) {
		after_abort = &here;
		engine_start(l);
	} else {
		l->platform->host = NULL;
		error_set(
			l->error, E_IO, (struct where){.file = l->xml.path},
			"SimGrid gave up while it loaded the platform, most likely for "
			"lack of memory");
	}
	after_abort = NULL;
	sigaction(SIGABRT, &was, NULL);
	free(reserve);
	return l->error->code;
}

enum status platform_engine_start(struct loader *l)
{
	if (platform_simgrid_load(l->error) != OK)
		return l->error->code;
	/* What kills a trial is for its parent to tell. */
	return l->asked ? engine_start(l) : engine_start_guarded(l);
}
