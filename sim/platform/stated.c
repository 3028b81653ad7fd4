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

enum status builder_check_stated(struct builder *b)
{
	for (int32_t i = 0; i < b->xml->nroutes && !b->xml->bypassed; i++) {
		const struct xml_route *r = &b->xml->route[i];
		int f = r->src == r->dst ? -1 : fabric_of_route(b, r);

		if (f < 0 || b->m->fabric[f].geometry == GEOMETRY_GRAPH)
			continue;
		if (compare_stated(b, f, r) != OK)
			return b->error->code;
	}
	return OK;
}
