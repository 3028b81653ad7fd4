#include "platform/builder.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum status geometry_fault(struct builder *b, int f)
{
	return builder_fail(b, E_SYNTAX, b->example[f],
	                    "geometry '%s', expected such as 'torus 4x4x8 wrap 111', "
	                    "'twisted 4x4x8', 'switch' or 'graph'",
	                    b->example[f]->props->geometry);
}

/* Reads the "4x4x8" of a geometry and returns what is after it, NULL if it is none. */
static const char *read_geometry_shape(struct builder *b, int f, const char *p)
{
	struct fabric *fab = &b->m->fabric[f];

	for (p--; *p == (fab->naxes ? 'x' : ' ') && fab->naxes < TORUS_AXES_MAX;) {
		char *end;
		long size = isdigit((unsigned char)p[1]) ? strtol(p + 1, &end, 10) : 0;

		if (size < 1 || size > b->m->ndevices)
			return NULL;
		fab->shape[fab->naxes++] = (int32_t)size;
		p = end;
	}
	return p;
}

static enum status read_twisted(struct builder *b, int f)
{
	struct fabric *fab = &b->m->fabric[f];

	fab->twist = fabric_twist(fab->naxes, fab->shape);
	if (!fab->twist)
		return builder_fail(
			b, E_RANGE, b->example[f],
			"geometry '%s': the axes of a twisted torus are n or 2n "
			"long, and both are there",
			b->example[f]->props->geometry);
	for (int a = 0; a < fab->naxes; a++)
		fab->wrap[a] = fab->shape[a] > fab->twist;
	return OK;
}

/*
 * Reads "torus 4x4x8 wrap 111", "twisted 4x4x8", "switch" or "graph"; "graph 4x4x8 wrap
 * 111" is a torus that lacks cables.
 */
static enum status read_geometry(struct builder *b, int f)
{
	const char *p = b->example[f]->props->geometry;
	struct fabric *fab = &b->m->fabric[f];
	bool twisted = !strncmp(p, "twisted ", 8), graph = !strncmp(p, "graph ", 6);

	if (!strcmp(p, "switch") || !strcmp(p, "graph")) {
		fab->geometry = *p == 's' ? GEOMETRY_SWITCH : GEOMETRY_GRAPH;
		return OK;
	}
	fab->geometry = graph ? GEOMETRY_GRAPH : GEOMETRY_TORUS;
	if (!twisted && !graph && strncmp(p, "torus ", 6) != 0)
		return geometry_fault(b, f);
	p = read_geometry_shape(b, f, strchr(p, ' ') + 1);
	if (p && twisted && !*p)
		return read_twisted(b, f);
	if (!p || twisted || strncmp(p, " wrap ", 6) != 0)
		return geometry_fault(b, f);
	p += 6;
	for (int a = 0; a < fab->naxes; a++, p++) {
		if (*p != '0' && *p != '1')
			return geometry_fault(b, f);
		fab->wrap[a] = *p == '1';
		if (fab->wrap[a] && fab->shape[a] < 3)
			return builder_fail(b, E_RANGE, b->example[f],
			                    "geometry '%s': an axis of %d cannot wrap",
			                    b->example[f]->props->geometry,
			                    (int)fab->shape[a]);
	}
	return *p ? geometry_fault(b, f) : OK;
}

/* Fills each domain with devices in the order of their numbers, last axis fastest. */
static enum status place_devices(struct builder *b, int f)
{
	struct fabric *fab = &b->m->fabric[f];
	int32_t n = b->m->ndevices;
	int64_t places = 1;
	int32_t *place, *at, *filled;

	for (int a = 0; a < fab->naxes; a++)
		if ((places *= fab->shape[a]) > n)
			break;
	places *= fab->share; /* in devices, until they are filled */
	filled = arena_alloc(b->arena, (size_t)fab->ndomains, sizeof(*filled));
	for (int32_t d = 0; d < n; d++)
		if (fab->domain[d] >= 0)
			filled[fab->domain[d]]++;
	for (int32_t d = 0; d < n; d++)
		if (fab->domain[d] >= 0 && filled[fab->domain[d]] != places)
			return builder_fail(
				b, E_TYPE, builder_host(b, f, d),
				"domain '%s' has %d hosts, but its geometry is '%s'",
				builder_host(b, f, d)->props->domain,
				(int)(filled[fab->domain[d]] / fab->share),
				builder_host(b, f, d)->props->geometry);
	places /= fab->share;
	place = arena_alloc(b->arena, (size_t)n, sizeof(*place));
	at = arena_alloc(b->arena, (size_t)(places * fab->ndomains), sizeof(*at));
	memset(filled, 0, (size_t)fab->ndomains * sizeof(*filled));
	for (int32_t d = 0; d < n; d++) {
		int32_t domain = fab->domain[d];

		if (domain < 0)
			continue;
		place[d] = filled[domain]++ / fab->share;
		at[domain * places + place[d]] = d / fab->share * fab->share;
	}
	fab->place = place;
	fab->at = at;
	return OK;
}

static enum status torus_ports(struct builder *b, int f)
{
	struct fabric *fab = &b->m->fabric[f];
	int32_t n = b->m->ndevices;
	int32_t *port = arena_alloc(b->arena, (size_t)n * 2 * (size_t)fab->naxes,
	                            sizeof(*port));

	if (place_devices(b, f) != OK)
		return b->error->code;
	for (int64_t i = 0; i < (int64_t)n * 2 * fab->naxes; i++) {
		int32_t d = (int32_t)(i / (2 * fab->naxes)), to;

		port[i] = -1;
		to = fab->domain[d] < 0
		             ? -1
		             : fabric_neighbour(fab, d, (int)(i / 2) % fab->naxes,
		                                i % 2 ? -1 : 1);
		if (to < 0)
			continue;
		port[i] = platform_xml_hop(b->xml, b->host_of[(int64_t)f * n + d],
		                           b->host_of[(int64_t)f * n + to]);
		if (port[i] < 0)
			return builder_fail(
				b, E_TYPE, builder_host(b, f, d),
				"'%s' and '%s' are neighbours in geometry '%s', "
				"but no one "
				"link leads from the first to the second",
				builder_host(b, f, d)->name,
				builder_host(b, f, to)->name,
				b->example[f]->props->geometry);
	}
	fab->port = port;
	return OK;
}

/* Returns whether the links lead from one device to another, cable by cable. */
static bool follows_cables(const int32_t *ends, int32_t src, int32_t dst,
                           const int32_t *links, int n)
{
	for (int i = 0; i < n; i++) {
		if (ends[2 * (int64_t)links[i]] != src)
			return false;
		src = ends[2 * (int64_t)links[i] + 1];
	}
	return src == dst;
}

/*
 * Returns whether all routes of a fabric follow cables. `ends` has the two ends of each
 * link, or -1.
 */
static bool all_follow(const struct machine *m, int f, const int32_t *ends)
{
	const struct fabric *fab = &m->fabric[f];
	int32_t places = fabric_places(fab);
	int32_t *links = xmalloc(ROUTE_LINKS_MAX, sizeof(*links));
	bool all = true;

	for (int32_t src = 0; src < m->ndevices && all; src++) {
		const int32_t *at;

		if (fab->domain[src] < 0)
			continue;
		at = fab->at + (int64_t)fab->domain[src] * places;
		for (int32_t i = 0; i < places && all; i++) {
			int n = machine_route(m, f, src, at[i], links, ROUTE_LINKS_MAX);

			all = n >= 0 &&
			      follows_cables(ends, src / fab->share * fab->share, at[i],
			                     links, n);
		}
	}
	free(links);
	return all;
}

/*
 * Finds the cables of a torus that lacks some and whose routes are written out: they
 * are the routes of one link between neighbours. They become its ports if all routes
 * follow them.
 */
static void cable_ports(struct builder *b, int f)
{
	struct fabric *fab = &b->m->fabric[f];
	const int32_t *host = b->host_of + (int64_t)f * b->m->ndevices;
	size_t nports = (size_t)b->m->ndevices * 2 * (size_t)fab->naxes;
	int32_t *port = arena_alloc(b->arena, nports, sizeof(*port));
	size_t nlinks = 2 * (size_t)b->m->nlinks;
	int32_t *ends = xmalloc(nlinks, sizeof(*ends));

	memset(ends, -1, nlinks * sizeof(*ends));
	for (size_t i = 0; i < nports; i++) {
		int32_t d = (int32_t)(i / (2 * (size_t)fab->naxes)), to = -1;

		if (fab->domain[d] >= 0)
			to = fabric_neighbour(fab, d, (int)(i / 2) % fab->naxes,
			                      i % 2 ? -1 : 1);
		port[i] = to < 0 ? -1 : platform_xml_hop(b->xml, host[d], host[to]);
		if (port[i] < 0)
			continue;
		ends[2 * (int64_t)port[i]] = d / fab->share * fab->share;
		ends[2 * (int64_t)port[i] + 1] = to;
	}
	if (all_follow(b->m, f, ends))
		fab->port = port;
	free(ends);
}

/* Finds the links of a host in a flat cluster; one for both ways where it is shared. */
static bool cluster_ports(const struct builder *b, const struct xml_host *host,
                          int32_t *port)
{
	static const char *const ends[] = {"_UP", "_DOWN"};
	char name[512];

	port[0] = host->up;
	port[1] = host->down;
	if (host->up >= 0)
		return true;
	if (!host->cluster)
		return false;
	for (int i = 0; i < 2; i++) {
		int n = snprintf(name, sizeof(name), "%s_link_%d%s", host->cluster,
		                 (int)host->number, ends[i]);

		port[i] = platform_xml_link(b->xml, name);
		if (port[i] < 0 && n < (int)sizeof(name)) {
			name[n - (int)strlen(ends[i])] = '\0';
			port[i] = platform_xml_link(b->xml, name);
		}
	}
	return port[0] >= 0 && port[1] >= 0;
}

/* Finds the way up from src and down to dst from a route written out. */
static enum status route_ports(struct builder *b, int f, int32_t src, int32_t dst,
                               int32_t *port)
{
	const int32_t *host = b->host_of + (int64_t)f * b->m->ndevices;
	const struct xml_route *route = platform_xml_route(b->xml, host[src], host[dst]);

	if (!route || route->nlinks != 2)
		return builder_fail(
			b, E_TYPE, builder_host(b, f, src),
			"geometry 'switch' needs a route of two links, up and "
			"down, from "
			"'%s' to '%s'",
			builder_host(b, f, src)->name, builder_host(b, f, dst)->name);
	port[2 * (int64_t)src] = b->xml->route_link[route->first];
	port[2 * (int64_t)dst + 1] = b->xml->route_link[route->first + 1];
	return OK;
}

static enum status switch_ports(struct builder *b, int f)
{
	struct fabric *fab = &b->m->fabric[f];
	int32_t n = b->m->ndevices;
	int32_t *port = arena_alloc(b->arena, 2 * (size_t)n, sizeof(*port));
	int32_t *first, *last; /* device of each domain that has no cluster ports */

	first = arena_alloc(b->arena, 2 * (size_t)fab->ndomains, sizeof(*first));
	last = first + fab->ndomains;
	memset(first, -1, 2 * (size_t)fab->ndomains * sizeof(*first));
	for (int32_t d = 0; d < n; d++) {
		int32_t domain = fab->domain[d];

		if (domain < 0 ||
		    cluster_ports(b, builder_host(b, f, d), &port[2 * (int64_t)d]))
			continue;
		if (d % fab->share) /* as the first one of the host, at the end */
			continue;
		if (first[domain] < 0)
			first[domain] = d;
		else if (route_ports(b, f, last[domain], d, port) != OK)
			return b->error->code;
		last[domain] = d;
	}
	for (int32_t i = 0; i < fab->ndomains; i++)
		if (first[i] != last[i] &&
		    route_ports(b, f, last[i], first[i], port) != OK)
			return b->error->code;
	for (int32_t d = 0; d < n; d++)
		memcpy(&port[2 * (int64_t)d],
		       &port[2 * (int64_t)(d / fab->share * fab->share)],
		       2 * sizeof(*port));
	fab->port = port;
	return OK;
}

enum status builder_wire(struct builder *b, struct platform_graph *g, int f)
{
	enum status status;

	status = read_geometry(b, f);
	if (status != OK)
		return status;
	switch (b->m->fabric[f].geometry) {
	case GEOMETRY_TORUS:
		return torus_ports(b, f);
	case GEOMETRY_SWITCH:
		return switch_ports(b, f);
	case GEOMETRY_GRAPH:
		if (b->m->fabric[f].naxes && place_devices(b, f) != OK)
			return b->error->code;
		break;
	}
	b->m->ask = platform_graph_route;
	status = platform_graph_fabric(b->m, g, f, b->error);
	if (status == OK && b->m->fabric[f].naxes && !g->open)
		cable_ports(b, f);
	return status;
}
