/*
 * The platform file of slices of chips on a grid. A slice is a cluster where SimGrid
 * has such a cluster, else its links and routes are written out. A switch joins the
 * devices of each chip, and another one joins all slices.
 */
#include "family/xml.h"

#include <stdlib.h>
#include <string.h>

/*
 * Appends a slice as SimGrid's own torus, which always wraps and counts its first axis
 * fastest.
 */
static void slice_cluster(struct text *out, const struct family_machine *m,
                          int32_t first, int32_t chips, struct port port)
{
	const struct family *f = &m->family;
	struct text lengths = {0};
	struct cluster c = {.id = m->slices > 1 ? port.domain : "ici",
	                    .prefix = "chip",
	                    .topology = "TORUS",
	                    .first = first,
	                    .n = chips,
	                    .bandwidth_Bps = f->figure[ICI_BANDWIDTH],
	                    .latency_s = f->figure[ICI_LATENCY]};

	for (int a = f->naxes - 1; a >= 0; a--)
		text_printf(&lengths, "%d%s", (int)m->shape[a], a ? "," : "");
	c.parameters = lengths.s;
	xml_cluster(out, f, &c, port);
	text_free(&lengths);
}

/* The wires of one slice whose first chip is `first`. */
struct wires {
	const struct machine *machine;
	int32_t first, chips;
	const int32_t *from, *to; /* the chips at the ends of each link */
	const double *left;       /* how much of its bandwidth is left; 0 if missing */
	bool brief;               /* only the routes of one link are wanted */
};

static bool brief(const struct family_machine *m)
{
	return m->brief && !overlay_missing(m);
}

static struct wires wires_make(struct arena *a, const struct family_machine *m,
                               int32_t first)
{
	const struct family *f = &m->family;
	struct link link = {f->name, f->figure[ICI_BANDWIDTH], f->figure[ICI_LATENCY]};
	struct wires wires = {.first = first, .brief = brief(m)};
	const struct fabric *fabric;
	int32_t *from, *to;
	double *left;

	wires.machine = m->twist ? machine_twisted(a, f->naxes, m->shape, link,
	                                           (struct device){0})
	                         : machine_torus(a, f->naxes, m->shape, m->wrap, link,
	                                         (struct device){0});
	wires.chips = wires.machine->ndevices;
	fabric = &wires.machine->fabric[0];
	from = arena_alloc(a, (size_t)wires.machine->nlinks, sizeof(*from));
	to = arena_alloc(a, (size_t)wires.machine->nlinks, sizeof(*to));
	left = arena_alloc(a, (size_t)wires.machine->nlinks, sizeof(*left));
	for (int32_t p = 0; p < wires.chips * 2 * f->naxes; p++) {
		int32_t l = fabric->port[p], d = p / (2 * f->naxes);

		if (l < 0)
			continue;
		from[l] = d;
		to[l] = fabric_neighbour(fabric, d, p / 2 % f->naxes, p % 2 ? -1 : 1);
		left[l] = overlay_cable(m, f->cores, first + d, first + to[l]);
	}
	wires.from = from;
	wires.to = to;
	wires.left = left;
	return wires;
}

static bool wires_join(const void *self, int32_t a, int32_t b)
{
	const struct wires *wires = self;

	for (int32_t l = 0; l < wires->machine->nlinks; l++)
		if (wires->from[l] == a % wires->chips &&
		    wires->to[l] == b % wires->chips)
			return a / wires->chips == b / wires->chips;
	return false;
}

static void route_open(struct text *out, const struct wires *wires, int32_t src,
                       int32_t dst)
{
	text_printf(out, "    <route src=\"chip%d\" dst=\"chip%d\" symmetrical=\"NO\">",
	            (int)(wires->first + src), (int)(wires->first + dst));
}

static void route_link(struct text *out, const struct wires *wires, int32_t l)
{
	text_printf(out, "<link_ctn id=\"ici_%d_to_%d\"/>",
	            (int)(wires->first + wires->from[l]),
	            (int)(wires->first + wires->to[l]));
}

/*
 * Finds a way with the fewest links from `src` to each chip, and stores its last link
 * in `way[chip]`, -1 where there is no way. Of several ways it takes the one whose
 * links come first in the order of the ports, the last axis first.
 */
static void ways_round(int32_t *way, int32_t *queue, const struct wires *wires,
                       int32_t src)
{
	const struct fabric *fabric = &wires->machine->fabric[0];
	int32_t n = 1;

	memset(way, -1, (size_t)wires->chips * sizeof(*way));
	queue[0] = src;
	for (int32_t done = 0; done < n; done++)
		for (int p = 2 * fabric->naxes; p-- > 0;) {
			int32_t l = fabric->port[queue[done] * 2 * fabric->naxes + p];

			if (l < 0 || wires->left[l] == 0 || wires->to[l] == src ||
			    way[wires->to[l]] >= 0)
				continue;
			way[wires->to[l]] = l;
			queue[n++] = wires->to[l];
		}
}

static void way_links(struct text *out, const struct wires *wires, const int32_t *way,
                      int32_t src, int32_t dst)
{
	if (wires->from[way[dst]] != src)
		way_links(out, wires, way, src, wires->from[way[dst]]);
	route_link(out, wires, way[dst]);
}

/* Appends the links that leave a chip, each as a route. */
static enum status neighbour_routes(struct text *out, const struct wires *wires,
                                    int32_t src)
{
	const struct fabric *fabric = &wires->machine->fabric[0];

	for (int p = 0; p < 2 * fabric->naxes; p++) {
		int32_t l = fabric->port[src * 2 * fabric->naxes + p];

		if (l < 0)
			continue;
		route_open(out, wires, src, wires->to[l]);
		route_link(out, wires, l);
		text_printf(out, "</route>\n");
	}
	return OK;
}

/*
 * Appends the routes from a chip: those of machine_route(), or ways round missing
 * links.
 */
static enum status routes_from(struct text *out, const struct wires *wires, int32_t src,
                               const int32_t *way, const char *spec, struct error *e)
{
	int32_t links[ROUTE_LINKS_MAX];

	if (wires->brief)
		return neighbour_routes(out, wires, src);
	for (int32_t dst = 0; dst < wires->chips; dst++) {
		int n = machine_route(wires->machine, 0, src, dst, links,
		                      ROUTE_LINKS_MAX);
		bool whole = true;

		if (n <= 0)
			continue;
		for (int i = 0; i < n; i++)
			whole = whole && wires->left[links[i]] > 0;
		if (!whole && way[dst] < 0)
			return error_set(e, E_TYPE, where_option("--platform", spec),
			                 "the missing links leave no way from chip %d "
			                 "to chip %d",
			                 (int)(wires->first + src),
			                 (int)(wires->first + dst));
		route_open(out, wires, src, dst);
		for (int i = 0; i < n && whole; i++)
			route_link(out, wires, links[i]);
		if (!whole)
			way_links(out, wires, way, src, dst);
		text_printf(out, "</route>\n");
	}
	return OK;
}

/*
 * Appends a slice that is no cluster: its hosts, one link per direction of each cable,
 * and all routes as the machine takes them. SimGrid's shortest-path zones would break
 * ties by the order of the hosts, which no machine does and which doubles the load of
 * some links.
 */
static enum status slice_written(struct text *out, const struct family_machine *m,
                                 const struct wires *wires, struct port port,
                                 const char *spec, struct error *e)
{
	const struct family *f = &m->family;
	int32_t *way = xmalloc(2 * (size_t)wires->chips, sizeof(*way));
	enum status status = OK;

	for (int32_t d = 0; d < wires->chips; d++) {
		port.slow = overlay_device(m, (wires->first + d) * f->cores, f->cores);
		xml_host(out, f, "chip", wires->first + d, port);
	}
	for (int32_t l = 0; l < wires->machine->nlinks; l++) {
		char name[64];

		snprintf(name, sizeof(name), "ici_%d_to_%d",
		         (int)(wires->first + wires->from[l]),
		         (int)(wires->first + wires->to[l]));
		if (wires->left[l] > 0)
			xml_link(out, name, f->figure[ICI_BANDWIDTH] * wires->left[l],
			         f->figure[ICI_LATENCY]);
	}
	for (int32_t src = 0; src < wires->chips && status == OK; src++) {
		if (overlay_missing(m))
			ways_round(way, way + wires->chips, wires, src);
		status = routes_from(out, wires, src, way, spec, e);
	}
	free(way);
	return status;
}

static enum status slices_written(struct text *out, const struct family_machine *m,
                                  int32_t chips, struct port port, const char *spec,
                                  struct error *e)
{
	bool zones = m->slices > 1 || m->family.cores > 1;
	enum status status = OK;

	for (int32_t i = 0; i < m->slices && status == OK; i++) {
		struct arena *a = arena_new();
		struct wires wires = wires_make(a, m, i * chips);
		char name[32];

		snprintf(name, sizeof(name), "pod%d", (int)i);
		port.domain = m->slices > 1 ? name : "pod";
		if (zones)
			text_printf(out, "    <zone id=\"%s\" routing=\"Full\">\n",
			            port.domain);
		status = overlay_check(m, m->family.cores, wires_join, &wires, e);
		if (status == OK)
			status = slice_written(out, m, &wires, port, spec, e);
		if (zones)
			text_printf(out, "    </zone>\n");
		arena_free(a);
	}
	return status;
}

/*
 * Joins the devices of each chip by a switch, with as few clusters for them as can be.
 */
static void cores_generate(struct text *out, const struct family_machine *m)
{
	const struct family *f = &m->family;
	struct port port = {.fabric = "core",
	                    .domain = "chip",
	                    .geometry = "switch",
	                    .devices = 1,
	                    .domain_devices = f->cores};
	int32_t first = 0;

	while (first < m->ndevices) {
		char name[32];
		int32_t end = first + f->cores;
		struct cluster c = {.id = name,
		                    .prefix = "core",
		                    .first = first,
		                    .latency_s = f->figure[CORE_LATENCY] / 2};

		port.slow = overlay_device(m, first, f->cores);
		c.bandwidth_Bps = f->figure[CORE_BANDWIDTH] * port.slow;
		while (end < m->ndevices && overlay_device(m, end, f->cores) == port.slow)
			end += f->cores;
		c.n = end - first;
		snprintf(name, sizeof(name),
		         first || end < m->ndevices ? "core_%d" : "core", (int)first);
		xml_cluster(out, f, &c, port);
		first = end;
	}
}

static void dcn_generate(struct text *out, const struct family_machine *m)
{
	const struct family *f = &m->family;
	struct cluster c = {.id = "net",
	                    .prefix = "dcn",
	                    .n = m->ndevices / f->cores,
	                    .bandwidth_Bps = f->figure[DCN_BANDWIDTH],
	                    .latency_s = f->figure[DCN_LATENCY] / 2};

	xml_switch(out, m, &c,
	           (struct port){.fabric = "net",
	                         .domain = "net",
	                         .geometry = "switch",
	                         .priority = f->cores > 1 ? 2 : 1,
	                         .devices = f->cores});
}

/*
 * Prints the geometry, such as "torus 4x4x8 wrap 111" or "twisted 4x4x8", or where
 * links are missing "graph 4x4x8 wrap 111" or "graph".
 */
static void geometry_print(struct text *out, const struct family_machine *m)
{
	bool missing = overlay_missing(m);

	text_printf(out, missing ? "graph" : m->twist ? "twisted" : "torus");
	if (missing && m->twist)
		return;
	text_printf(out, " ");
	for (int a = 0; a < m->family.naxes; a++)
		text_printf(out, "%s%d", a ? "x" : "", (int)m->shape[a]);
	if (m->twist)
		return;
	text_printf(out, " wrap ");
	for (int a = 0; a < m->family.naxes; a++)
		text_printf(out, "%d", m->wrap[a]);
}

static enum status written_refuse(const struct family_machine *m, int32_t chips,
                                  const char *spec, struct error *e)
{
	return error_set(e, E_RANGE, where_option("--platform", spec),
	                 "%s, so all routes are written out: for at most %d chips, or "
	                 "of several slices for as many pairs, but this has %s%d",
	                 m->noverlays ? "slow or missing links make this irregular"
	                 : m->twist   ? "this torus is twisted"
	                              : "axes of this shape do not wrap",
	                 (int)WRITTEN_HOSTS_MAX, m->slices > 1 ? "several times " : "",
	                 (int)chips);
}

/* Puts larger fabrics first, since SimGrid takes longer with them last. */
enum status torus_generate(struct text *out, const struct family_machine *m,
                           const char *spec, struct error *e)
{
	const struct family *f = &m->family;
	int32_t chips = m->ndevices / m->slices / f->cores;
	int64_t pairs = (int64_t)chips * chips *
	                (m->noverlays ? m->slices * m->slices : m->slices);
	struct text geometry = {0};
	struct port port = {.fabric = "ici",
	                    .domain = "pod",
	                    .priority = f->cores > 1,
	                    .devices = f->cores};
	bool own = !m->twist && !m->noverlays;

	for (int a = 0; a < f->naxes; a++)
		own = own && m->wrap[a];
	if (!own && !brief(m) && pairs > (int64_t)WRITTEN_HOSTS_MAX * WRITTEN_HOSTS_MAX)
		return written_refuse(m, chips, spec, e);
	if (m->slices > 1)
		dcn_generate(out, m);
	if (f->cores > 1)
		cores_generate(out, m);
	geometry_print(&geometry, m);
	port.geometry = geometry.s;
	if (!own)
		slices_written(out, m, chips, port, spec, e);
	for (int32_t i = 0; i < m->slices && own; i++) {
		char name[32];

		snprintf(name, sizeof(name), "pod%d", (int)i);
		port.domain = m->slices > 1 ? name : "pod";
		slice_cluster(out, m, i * chips, chips, port);
	}
	text_free(&geometry);
	return e->code;
}
