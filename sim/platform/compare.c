#include "platform/loader.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/*
 * All routes of a graph are asked for in a domain of at most GRAPH_ALL_PAIRS_HOSTS
 * hosts.
 */
enum { OTHER_PAIRS = 1000, GRAPH_ALL_PAIRS_HOSTS = 128 };

/* Notes which route is about to be asked for, in case SimGrid does not survive it. */
static void note_route(struct loader *l, int f, int32_t src, int32_t dst)
{
	const int32_t *host =
		l->graph->host_of + (size_t)f * (size_t)l->platform->machine->ndevices;

	if (l->asked)
		*l->asked = (struct asked){.src = host[src], .dst = host[dst]};
}

/* Checks that a graph has a route of one pair; it states none to compare it with. */
static void require_route(struct loader *l, int f, int32_t src, int32_t dst)
{
	const struct machine *m = l->platform->machine;
	const int32_t *host = l->graph->host_of + (size_t)f * (size_t)m->ndevices;
	int32_t have[ROUTE_LINKS_MAX];
	int n;

	if (l->error->code != OK)
		return;
	note_route(l, f, src, dst);
	n = l->route(m, f, src, dst, have, ROUTE_LINKS_MAX);
	if (n < 0)
		error_set(
			l->error, E_TYPE,
			platform_xml_where(&l->xml, l->xml.host[host[src]].place),
			"SimGrid finds no route from '%s' to '%s' of at most %d links",
			l->xml.host[host[src]].name, l->xml.host[host[dst]].name,
			(int)ROUTE_LINKS_MAX);
}

/* Checks that the route of one pair is what the geometry says. */
static void compare_route(struct loader *l, int f, int32_t src, int32_t dst)
{
	const struct machine *m = l->platform->machine;
	const int32_t *host = l->graph->host_of + (size_t)f * (size_t)m->ndevices;
	int32_t want[ROUTE_LINKS_MAX], have[ROUTE_LINKS_MAX];
	int nwant, nhave, i = 0;

	if (l->error->code != OK)
		return;
	note_route(l, f, src, dst);
	nwant = machine_route(m, f, src, dst, want, ROUTE_LINKS_MAX);
	nhave = l->route(m, f, src, dst, have, ROUTE_LINKS_MAX);
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

static void members_free(struct members *by)
{
	free(by->start);
	free(by->member);
	free(by->position);
}

static void check_route(struct loader *l, int f, int32_t src, int32_t dst)
{
	const struct machine *m = l->platform->machine;
	const struct fabric *fab = &m->fabric[f];
	const int32_t *host = l->graph->host_of + (size_t)f * (size_t)m->ndevices;

	if (src == dst || fabric_shared(fab, src, dst))
		return;
	if (fab->geometry != GEOMETRY_GRAPH ||
	    platform_graph_known(&l->xml, &l->xml.host[host[src]],
	                         &l->xml.host[host[dst]]))
		compare_route(l, f, src, dst);
	else
		require_route(l, f, src, dst);
}

/*
 * Compares pairs of one domain: every device with the next one of its domain, the last
 * with the first, then seeded others. For a switch these are all its ports. Where
 * SimGrid finds shortest paths, that ring of routes means that all other routes exist.
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
		check_route(l, f, src, dst);
	}
	members_free(&by);
}

/* Compares all pairs of the domains that are small. */
static void check_all(struct loader *l, int f)
{
	const struct machine *m = l->platform->machine;
	const struct fabric *fab = &m->fabric[f];
	struct members by = find_members(m, fab);

	for (int32_t src = 0; src < m->ndevices; src++) {
		int32_t domain = fab->domain[src];

		if (domain < 0 ||
		    by.start[domain + 1] - by.start[domain] > GRAPH_ALL_PAIRS_HOSTS)
			continue;
		for (int32_t i = by.start[domain]; i < by.start[domain + 1]; i++)
			check_route(l, f, src, by.member[i]);
	}
	members_free(&by);
}

void platform_compare(struct loader *l)
{
	const struct machine *m = l->platform->machine;
	struct rng *rng = rng_new(1);

	for (int f = 0; f < m->nfabrics; f++) {
		if (m->fabric[f].geometry == GEOMETRY_GRAPH)
			check_all(l, f);
		compare_neighbours(l, f);
		compare_pairs(l, f, rng);
	}
	if (l->asked)
		l->asked->src = -1;
	rng_free(rng);
}
