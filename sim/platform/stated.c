/* What hosts state of their fabric, against the routes that the file writes out. */
#include "platform/builder.h"

#include <string.h>

/* Returns the fabric on which a route joins two devices of one domain, -1 for none. */
static int fabric_of_route(const struct builder *b, const struct xml_route *r)
{
	int64_t n = b->m->ndevices;
	int32_t src = b->xml->host[r->src].device, dst = b->xml->host[r->dst].device;

	for (int f = 0; f < b->m->nfabrics; f++)
		if (b->host_of[f * n + src] == r->src &&
		    b->host_of[f * n + dst] == r->dst &&
		    b->m->fabric[f].domain[src] == b->m->fabric[f].domain[dst])
			return f;
	return -1;
}

static enum status compare_stated(const struct builder *b, int f,
                                  const struct xml_route *r)
{
	const struct xml_host *src = &b->xml->host[r->src], *dst = &b->xml->host[r->dst];
	const int32_t *have = b->xml->route_link + r->first;
	int32_t want[ROUTE_LINKS_MAX];
	int i = 0,
	    n = machine_route(b->m, f, src->device, dst->device, want, ROUTE_LINKS_MAX);

	while (i < n && i < r->nlinks && want[i] == have[i])
		i++;
	if (i == n && i == r->nlinks)
		return OK;
	return builder_fail(b, E_TYPE, src,
	                    "the route from '%s' to '%s' has %s as its link %d, but "
	                    "geometry '%s' has %s",
	                    src->name, dst->name,
	                    i < r->nlinks ? b->xml->link[have[i]].name : "none", i + 1,
	                    src->props->geometry,
	                    i < n ? b->xml->link[want[i]].name : "none");
}

/*
 * Pairs of hosts of a fabric whose routes have to be written out: those of domains that
 * are not one cluster.
 */
static int64_t pairs_to_write(const struct builder *b, int f)
{
	const struct fabric *fab = &b->m->fabric[f];
	size_t ndomains = (size_t)fab->ndomains;
	int64_t *hosts = arena_alloc(b->arena, ndomains, sizeof(*hosts)), pairs = 0;
	const char **cluster = arena_alloc(b->arena, ndomains, sizeof(*cluster));
	bool *several = arena_alloc(b->arena, ndomains, sizeof(*several));

	for (int32_t d = 0; d < b->m->ndevices; d++) {
		const struct xml_host *host = builder_host(b, f, d);
		int32_t domain = fab->domain[d];

		if (domain < 0 || host->device != d)
			continue;
		if (!hosts[domain]++)
			cluster[domain] = host->cluster;
		several[domain] = several[domain] || !host->cluster ||
		                  strcmp(host->cluster, cluster[domain]) != 0;
	}
	for (size_t i = 0; i < ndomains; i++)
		if (several[i])
			pairs += hosts[i] * (hosts[i] - 1);
	return pairs;
}

enum status builder_check_stated(struct builder *b, struct platform_graph *g)
{
	int64_t written[MACHINE_FABRICS_MAX] = {0};

	g->stated = !b->xml->bypassed;
	for (int32_t i = 0; i < b->xml->nroutes && !b->xml->bypassed; i++) {
		const struct xml_route *r = &b->xml->route[i];
		int f = r->src == r->dst ? -1 : fabric_of_route(b, r);

		if (f < 0 || b->m->fabric[f].geometry == GEOMETRY_GRAPH)
			continue;
		written[f]++;
		if (compare_stated(b, f, r) != OK)
			return b->error->code;
	}
	for (int f = 0; f < b->m->nfabrics; f++)
		if (b->m->fabric[f].geometry != GEOMETRY_GRAPH)
			g->stated = g->stated && written[f] >= pairs_to_write(b, f);
	return OK;
}
