#include "platform/topology.h"

#include "base/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns whether the routes between the hosts are written out: both hosts are then in
 * one zone that does so.
 */
static bool is_written(const struct platform_xml *xml, const struct xml_host *a,
                       const struct xml_host *b)
{
	return a->zone >= 0 && a->zone == b->zone && !xml->bypassed;
}

bool platform_graph_known(const struct platform_xml *xml, const struct xml_host *a,
                          const struct xml_host *b)
{
	if (a->topology || b->topology)
		return a->topology == b->topology && !xml->bypassed;
	return is_written(xml, a, b);
}

int platform_graph_route(const struct machine *m, int f, int32_t src, int32_t dst,
                         int32_t *links, int capacity)
{
	const struct platform_graph *g = m->ask_state;
	const int32_t *host = g->host_of + (int64_t)f * m->ndevices;
	const struct xml_host *a = &g->xml->host[host[src]];
	const struct xml_host *b = &g->xml->host[host[dst]];
	const struct xml_route *route;

	if (!platform_graph_known(g->xml, a, b))
		return g->simgrid ? g->simgrid(m, f, src, dst, links, capacity) : -1;
	if (a->topology)
		return topology_route(a->topology, a->rank, b->rank, links, capacity);
	route = platform_xml_route(g->xml, host[src], host[dst]);
	if (!route || route->nlinks > capacity)
		return -1;
	memcpy(links, g->xml->route_link + route->first,
	       (size_t)route->nlinks * sizeof(*links));
	return route->nlinks;
}

/* The links that routes of one device begin and end with, while they are collected. */
struct ends {
	struct machine *m;
	const struct platform_graph *graph;
	int f;
	int32_t *first; /* fabric.end_first */
	int32_t *end;   /* NULL while they are counted */
};

/*
 * Adds `n` links of the end number `i` = 2 * device + to; it is called once to count
 * them, then again to fill them in.
 */
static void ends_add(struct ends *e, int64_t i, const int32_t *links, int32_t n)
{
	if (e->end)
		memcpy(e->end + e->first[i], links, (size_t)n * sizeof(*links));
	e->first[i] += n;
}

/* Counts or fills in what the routes between the hosts of a graph say. */
static void ends_pass(struct ends *e)
{
	const struct platform_xml *xml = e->graph->xml;
	const struct fabric *fab = &e->m->fabric[e->f];
	const int32_t *host_of = e->graph->host_of + (int64_t)e->f * e->m->ndevices;
	LIST(int32_t) links = {0};

	for (int64_t i = 0; i < 2 * (int64_t)e->m->ndevices; i++) {
		const struct xml_host *host =
			fab->domain[i / 2] < 0 ? NULL : &xml->host[host_of[i / 2]];
		int32_t n;

		if (!host || !host->topology)
			continue;
		n = topology_ends(host->topology, host->rank, i % 2, NULL);
		list_reserve(&links, NULL, n);
		topology_ends(host->topology, host->rank, i % 2, links.at);
		ends_add(e, i, links.at, n);
	}
	free(links.at);
	for (int32_t k = 0; k < xml->nroutes; k++) {
		const struct xml_route *r = &xml->route[k];
		const int32_t *link = xml->route_link + r->first;
		const int32_t host[] = {r->src, r->dst};

		for (int to = 0; to < 2; to++) {
			const struct xml_host *h = &xml->host[host[to]];
			int32_t share = h->props->share;

			if (r->src == r->dst || h->topology)
				continue;
			for (int32_t d = h->device; d < h->device + share; d++)
				if (fab->domain[d] >= 0 && host_of[d] == host[to])
					ends_add(e, 2 * (int64_t)d + to,
					         to ? link + r->nlinks - 1 : link, 1);
		}
	}
}

/*
 * Sorts every list and leaves each link in it once; `first` then is where they begin.
 */
static void ends_tidy(struct ends *e, int64_t nlists)
{
	int32_t n = 0;

	for (int64_t i = 0, begin = 0; i < nlists; i++) {
		int32_t end = e->first[i], kept = n;

		qsort(e->end + begin, (size_t)(end - begin), sizeof(*e->end),
		      compare_int32);
		e->first[i] = n;
		for (int64_t k = begin; k < end; k++)
			if (n == kept || e->end[n - 1] != e->end[k])
				e->end[n++] = e->end[k];
		begin = end;
	}
	e->first[nlists] = n;
}

static void find_ends(struct machine *m, const struct platform_graph *g, int f)
{
	struct ends e = {.m = m, .graph = g, .f = f};
	int64_t nlists = 2 * (int64_t)m->ndevices;
	int64_t total = 0;

	e.first = arena_alloc(g->xml->arena, (size_t)nlists + 1, sizeof(*e.first));
	ends_pass(&e);
	for (int64_t i = 0; i < nlists; i++) {
		int32_t n = e.first[i];

		if (total > INT32_MAX - n)
			return; /* the ends are not known, then */
		e.first[i] = (int32_t)total;
		total += n;
	}
	e.end = arena_alloc(g->xml->arena, (size_t)total + 1, sizeof(*e.end));
	ends_pass(&e);
	ends_tidy(&e, nlists);
	m->fabric[f].end_first = e.first;
	m->fabric[f].end = e.end;
}

/*
 * Finds whether our reader knows all routes of each domain, and whether none is missing
 * where it should. The members of a domain are compared with its first member, or all
 * pairs where routes are written out.
 */
static enum status find_routes(const struct machine *m, const struct platform_graph *g,
                               int f, int32_t *first, bool *open, struct error *e)
{
	const struct fabric *fab = &m->fabric[f];
	const struct platform_xml *xml = g->xml;
	const int32_t *host_of = g->host_of + (int64_t)f * m->ndevices;

	for (int32_t d = 0; d < m->ndevices; d++) {
		int32_t domain = fab->domain[d];
		const struct xml_host *host = &xml->host[domain < 0 ? 0 : host_of[d]];

		if (domain < 0)
			continue;
		if (first[domain] < 0)
			first[domain] = d;
		if (!platform_graph_known(xml, host, &xml->host[host_of[first[domain]]]))
			*open = true;
		for (int32_t o = first[domain]; is_written(xml, host, host) && o < d;
		     o++) {
			const struct xml_host *other = &xml->host[host_of[o]];
			bool there;

			if (fab->domain[o] != domain || host == other ||
			    !is_written(xml, host, other))
				continue;
			there = platform_xml_route(xml, host_of[o], host_of[d]) != NULL;
			if (there && platform_xml_route(xml, host_of[d], host_of[o]))
				continue;
			if (there)
				other = host;
			return error_set(
				e, E_TYPE, platform_xml_where(xml, other->place),
				"there is no route from '%s' to '%s'", other->name,
				xml->host[host_of[there ? o : d]].name);
		}
	}
	return OK;
}

enum status platform_graph_fabric(struct machine *m, struct platform_graph *g, int f,
                                  struct error *e)
{
	size_t n = (size_t)m->fabric[f].ndomains;
	int32_t *first = xmalloc(n, sizeof(*first));
	bool open = false;
	enum status status;

	memset(first, -1, n * sizeof(*first));
	status = find_routes(m, g, f, first, &open, e);
	free(first);
	g->open = g->open || open;
	if (status == OK && !open)
		find_ends(m, g, f);
	return status;
}
