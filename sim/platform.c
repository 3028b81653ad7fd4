#include "platform.h"

#include "base/rng.h"
#include "families.h"
#include "platform_xml.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xbt/dynar.h>

enum { OTHER_PAIRS = 1000 };

/* A platform on its way into SimGrid. */
struct loader {
	struct platform *platform;
	struct platform_xml xml;
	const int32_t *host_of;
	bool generated;
	struct error *error;
};

static bool is_file(const char *spec)
{
	size_t n = strlen(spec);

	return strchr(spec, '/') || (n > 4 && !strcmp(spec + n - 4, ".xml"));
}

static enum status read_file(struct text *out, const char *path, struct error *e)
{
	struct where at = {.file = path};
	char block[65536];
	FILE *in = fopen(path, "rb");
	size_t n;
	int fault;

	if (!in)
		return error_set(e, E_IO, at, "cannot be read: %s", strerror(errno));
	while ((n = fread(block, 1, sizeof(block), in)) > 0)
		text_append(out, block, n);
	fault = ferror(in) ? errno : 0;
	fclose(in);
	if (!fault)
		return OK;
	return error_set(e, E_IO, at, "cannot be read: %s", strerror(fault));
}

enum status platform_text(struct text *out, struct arena *a, const char *spec,
                          const char *const *set, int nset, struct error *e)
{
	if (!is_file(spec))
		return platform_generate(out, a, spec, set, nset, e);
	if (nset)
		return error_set(e, E_TYPE, where_option("--set", set[0]),
		                 "settings are for family:shape, but %s is a file",
		                 spec);
	return read_file(out, spec, e);
}

/* The file's text and what our reader makes of it. */
static enum status read_platform(struct loader *l, struct arena *a, const char *spec,
                                 const char *const *set, int nset)
{
	struct text text = {0};
	enum status status = platform_text(&text, a, spec, set, nset, l->error);
	size_t length = text.length;

	l->platform = arena_alloc(a, 1, sizeof(*l->platform));
	l->platform->arena = a;
	l->generated = !is_file(spec);
	spec = arena_strdup(a, spec);
	if (status == OK)
		status = platform_xml_read(&l->xml, a, spec, text_take(&text, a),
		                           length, l->error);
	text_free(&text);
	if (status != OK)
		return status;
	return platform_xml_machine(&l->platform->machine, &l->host_of, &l->xml, spec,
	                            l->error);
}

enum status platform_machine(struct machine **out, struct arena *a, const char *spec,
                             const char *const *set, int nset, struct error *e)
{
	struct error local = {0};
	struct loader l = {.error = e ? e : &local};

	if (read_platform(&l, a, spec, set, nset) == OK)
		*out = l.platform->machine;
	return l.error->code;
}

/*
 * SimGrid's settings. Its defaults are made for TCP on Ethernet and for times of
 * seconds: they add to latencies, cap windows and round to 1e-5 s. The solver's
 * precision is an absolute bandwidth, and fails where it is below the rounding of the
 * bandwidths in use.
 */
static void engine_init(const struct machine *m)
{
	char precision[64];
	double widest_Bps = 1;
	char *argv[] = {
		"shardsim",
		"--cfg=host/model:ptask_L07",
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
		NULL
	};
	int argc = (int)(sizeof(argv) / sizeof(*argv)) - 1;

	for (int32_t l = 0; l < m->nlinks; l++)
		widest_Bps = fmax(widest_Bps, m->link[l].bandwidth_Bps);
	snprintf(precision, sizeof(precision), "--cfg=maxmin/precision:%g",
	         fmin(1e-13 * widest_Bps, 0.1));
	simgrid_init(&argc, argv);
}

/*
 * SimGrid reads files only: the text goes through one that has no name, so that nothing
 * is left behind when SimGrid ends the process.
 */
static enum status engine_read(struct loader *l)
{
	struct where at = {.file = l->xml.path};
	int fd = memfd_create("platform", 0);
	FILE *out = fd >= 0 ? fdopen(fd, "wb") : NULL;
	char path[64];

	if (!out || fwrite(l->xml.text, 1, l->xml.length, out) != l->xml.length ||
	    fflush(out) != 0)
		error_set(l->error, E_IO, at, "cannot be handed to SimGrid: %s",
		          strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (l->error->code == OK)
		simgrid_load_platform(path);
	if (out)
		fclose(out);
	return l->error->code;
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

static enum status engine_hosts(struct loader *l)
{
	const struct machine *m = l->platform->machine;
	size_t n = (size_t)m->nfabrics * (size_t)m->ndevices;

	l->platform->host = arena_alloc(l->platform->arena, n, sizeof(void *));
	for (size_t i = 0; i < n; i++) {
		const char *name;

		if (l->host_of[i] < 0)
			continue;
		name = l->xml.host[l->host_of[i]].name;
		l->platform->host[i] = sg_host_by_name(name);
		if (!l->platform->host[i])
			return error_set(l->error, E_TYPE,
			                 (struct where){.file = l->xml.path},
			                 "SimGrid has no host '%s'", name);
	}
	return OK;
}

/* A machine_route_fn: SimGrid's own route. Graph zones answer from the first run on. */
static int engine_route(const struct machine *m, int f, int32_t src, int32_t dst,
                        int32_t *links, int capacity)
{
	const struct loader *l = m->ask_state;
	void **host = l->platform->host + (size_t)f * (size_t)m->ndevices;
	xbt_dynar_t route = xbt_dynar_new(sizeof(sg_link_t), NULL);
	int n;

	sg_host_get_route(host[src], host[dst], route);
	n = (int)xbt_dynar_length(route);
	if (n > capacity)
		n = -1;
	for (int i = 0; i < n; i++) {
		sg_link_t link = xbt_dynar_get_as(route, i, sg_link_t);

		links[i] = platform_xml_link(&l->xml, sg_link_get_name(link));
		assert(links[i] >= 0);
	}
	xbt_dynar_free(&route);
	return n;
}

/* The route of one pair must be what the geometry says. */
static void compare_route(struct loader *l, int f, int32_t src, int32_t dst)
{
	const struct machine *m = l->platform->machine;
	const int32_t *host = l->host_of + (size_t)f * (size_t)m->ndevices;
	int32_t want[ROUTE_LINKS_MAX], have[ROUTE_LINKS_MAX];
	int nwant = machine_route(m, f, src, dst, want, ROUTE_LINKS_MAX);
	int nhave = engine_route(m, f, src, dst, have, ROUTE_LINKS_MAX), i = 0;

	if (l->error->code != OK)
		return;
	while (i < nwant && i < nhave && want[i] == have[i])
		i++;
	if (i == nwant && i == nhave)
		return;
	error_set(l->error, E_TYPE,
	          platform_xml_where(&l->xml, l->xml.host[host[src]].place),
	          "the route from '%s' to '%s' has %s%s as its link %d in SimGrid, but "
	          "geometry '%s' has %s%s",
	          l->xml.host[host[src]].name, l->xml.host[host[dst]].name,
	          i < nhave ? "" : "no link",
	          i < nhave ? l->xml.link[have[i]].name : "", i + 1,
	          l->xml.host[host[src]].props->geometry, i < nwant ? "" : "no link",
	          i < nwant ? l->xml.link[want[i]].name : "");
}

static void compare_neighbours(struct loader *l, int f)
{
	const struct machine *m = l->platform->machine;
	const struct fabric *fab = &m->fabric[f];

	if (fab->geometry != GEOMETRY_TORUS)
		return;
	for (int32_t d = 0; d < m->ndevices; d++)
		for (int i = 0; i < 2 * fab->naxes && fab->domain[d] >= 0; i++) {
			int32_t to = fabric_neighbour(fab, d, i / 2, i % 2 ? -1 : 1);

			if (to >= 0 && to != d)
				compare_route(l, f, d, to);
		}
}

/*
 * The devices of a fabric by domain: those of domain i are
 * member[start[i]..start[i+1]).
 */
struct members {
	int32_t *start, *member,
		*position; /* position[d]: where device d is in member */
};

static struct members find_members(const struct machine *m, const struct fabric *fab)
{
	size_t n = (size_t)m->ndevices, domains = (size_t)fab->ndomains;
	int32_t *filled = xmalloc(domains, sizeof(*filled));
	struct members by = {.start = xmalloc(domains + 1, sizeof(*by.start)),
	                     .member = xmalloc(n, sizeof(*by.member)),
	                     .position = xmalloc(n, sizeof(*by.position))};

	memset(by.start, 0, (domains + 1) * sizeof(*by.start));
	for (size_t d = 0; d < n; d++)
		if (fab->domain[d] >= 0)
			by.start[fab->domain[d] + 1]++;
	for (size_t i = 0; i < domains; i++) {
		by.start[i + 1] += by.start[i];
		filled[i] = by.start[i];
	}
	for (size_t d = 0; d < n; d++)
		if (fab->domain[d] >= 0) {
			by.position[d] = filled[fab->domain[d]]++;
			by.member[by.position[d]] = (int32_t)d;
		}
	free(filled);
	return by;
}

/*
 * Pairs of one domain: every device and the next one of its domain (for a switch these
 * are all its ports), then seeded others.
 */
static void compare_pairs(struct loader *l, int f, struct rng *rng)
{
	const struct machine *m = l->platform->machine;
	const struct fabric *fab = &m->fabric[f];
	struct members by = find_members(m, fab);

	for (int32_t i = 0; i < m->ndevices + OTHER_PAIRS; i++) {
		bool next = i < m->ndevices;
		int32_t src = next ? i : (int32_t)rng_below(rng, (uint32_t)m->ndevices);
		int32_t domain = fab->domain[src], first, size, dst;

		if (domain < 0)
			continue;
		first = by.start[domain];
		size = by.start[domain + 1] - first;
		dst = next ? (by.position[src] - first + 1) % size
		           : (int32_t)rng_below(rng, (uint32_t)size);
		dst = by.member[first + dst];
		if (src != dst)
			compare_route(l, f, src, dst);
	}
	free(by.start);
	free(by.member);
	free(by.position);
}

/* An actor: graph zones know their routes only while the simulation runs. */
static void comparer(int argc, char **argv)
{
	struct loader *l = sg_actor_get_data(sg_actor_self());
	const struct machine *m = l->platform->machine;
	struct rng *rng = rng_new(1);

	(void)argc;
	(void)argv;
	for (int f = 0; f < m->nfabrics; f++)
		if (m->fabric[f].geometry != GEOMETRY_GRAPH) {
			compare_neighbours(l, f);
			compare_pairs(l, f, rng);
		}
	rng_free(rng);
}

static enum status engine_start(struct loader *l)
{
	struct machine *m = l->platform->machine;
	sg_actor_t actor;
	size_t i = 0;

	engine_init(m);
	if (engine_read(l) != OK || engine_hosts(l) != OK || engine_links(l) != OK)
		return l->error->code;
	m->ask = engine_route;
	m->ask_state = l;
	while (!l->platform->host[i])
		i++;
	actor = sg_actor_init("comparer", l->platform->host[i]);
	sg_actor_set_data(actor, l);
	sg_actor_start(actor, comparer, 0, NULL);
	simgrid_run();
	return l->error->code;
}

/* What the child says on its one pipe: our error, or SimGrid's last words. */
static void trial_child(struct loader *l, int out)
{
	struct error *e = l->error;
	ssize_t n;

	dup2(out, STDERR_FILENO);
	if (engine_start(l) == OK)
		_exit(0);
	n = write(out, e->text, strlen(e->text));
	_exit(n > 0 ? 1 : 2);
}

/*
 * The last line that says something, without the brackets of SimGrid's log. A line that
 * starts with the place of the fault in the temporary file gives that to `at`.
 */
static const char *last_words(char *text, struct where *at)
{
	static const char parse[] = "Parse error at ", exiting[] = "Exiting now.";
	char *line, *end, *bracket;

	for (;;) {
		end = strrchr(text, '\n');
		line = end ? end + 1 : text;
		bracket = strstr(line, "/ERROR] ");
		if (!bracket)
			bracket = strstr(line, "/CRITICAL] ");
		if (bracket)
			line = strchr(bracket, ' ') + 1;
		if (!end || (*line && strcmp(line, exiting) != 0))
			break;
		*end = '\0';
	}
	end = strncmp(line, parse, strlen(parse)) ? NULL : strchr(line, ':');
	if (!end)
		return line;
	at->line = (unsigned)strtoul(end + 1, &end, 10);
	at->col = 1;
	return *end == ':' ? end + 1 + strspn(end + 1, " ") : line;
}

/*
 * Loads and compares in a child first. `e` is what the child found, or that it died and
 * of what.
 */
static enum status trial(struct loader *l)
{
	struct where at = {.file = l->xml.path};
	struct text words = {0};
	char block[4096];
	int pipes[2], status = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(pipes) != 0)
		return error_set(l->error, E_IO, at, "no pipe: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(pipes[0]);
		trial_child(l, pipes[1]);
	}
	close(pipes[1]);
	if (pid < 0) {
		close(pipes[0]);
		return error_set(l->error, E_IO, at, "no process: %s", strerror(errno));
	}
	while ((n = read(pipes[0], block, sizeof(block))) > 0 ||
	       (n < 0 && errno == EINTR))
		text_append(&words, block, n > 0 ? (size_t)n : 0);
	close(pipes[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	text_append(&words, "", 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
		error_set(l->error, E_TYPE, at, "%s", words.s);
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		const char *why = last_words(words.s, &at);

		error_set(l->error, E_TYPE, at, "SimGrid refuses the file: %s", why);
	}
	text_free(&words);
	return l->error->code;
}

enum status platform_load(struct platform **out, struct arena *a, const char *spec,
                          const char *const *set, int nset, struct error *e)
{
	struct loader *l = arena_alloc(a, 1, sizeof(*l));
	struct error local = {0};
	enum status status;

	l->error = e ? e : &local;
	status = read_platform(l, a, spec, set, nset);
	if (status == OK && !l->generated)
		status = trial(l);
	if (status == OK)
		status = engine_start(l);
	if (status == OK)
		*out = l->platform;
	l->error = NULL;
	return status;
}
