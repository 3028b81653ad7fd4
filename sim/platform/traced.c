/*
 * What SimGrid 3.32 is given to trace. Its tracer keeps the zones that are being read on a
 * stack, from which it takes one when a zone is sealed; but it empties the stack when the
 * file ends, and seals all zones when the simulation begins. So it dies of a file with
 * several zones, and knows nothing of the links of a cluster, which appear on sealing.
 * One zone that writes its links out has neither fault: here are all links of the machine,
 * and those hosts and routes that the messages take, which is what a simulation asks for.
 */
#include "platform/loader.h"

#include <libxml/entities.h>
#include <libxml/xmlmemory.h>
#include <stdlib.h>

/* A way that messages take; of devices that share a host, the first. */
struct way {
	int32_t fabric, src, dst;
};

static int by_way(const void *x, const void *y)
{
	const struct way *a = x, *b = y;

	if (a->fabric != b->fabric)
		return a->fabric < b->fabric ? -1 : 1;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

static struct way way_of(const struct machine *m, const struct message *msg)
{
	int32_t share = m->fabric[msg->fabric].share;

	if (share <= 1)
		return (struct way){msg->fabric, msg->src, msg->dst};
	return (struct way){msg->fabric, msg->src / share * share,
	                    msg->dst / share * share};
}

/* Names are the user's, in whose file they may have stood for what XML reserves. */
static void attribute(struct text *out, const char *key, const char *name)
{
	xmlChar *safe = xmlEncodeSpecialChars(NULL, (const xmlChar *)name);

	text_printf(out, " %s=\"%s\"", key, (const char *)safe);
	xmlFree(safe);
}

static const char *host_name(const struct loader *l, int32_t fabric, int32_t device)
{
	const struct machine *m = l->platform->machine;
	size_t i = (size_t)fabric * (size_t)m->ndevices + (size_t)device;

	return l->xml.host[l->graph->host_of[i]].name;
}

/* The hosts at either end of the ways, in the order of the machine's. */
static void hosts_print(struct text *out, const struct loader *l, const struct way *way,
                        int64_t n)
{
	const struct machine *m = l->platform->machine;
	size_t all = (size_t)m->nfabrics * (size_t)m->ndevices;
	bool *used = xmalloc(all, sizeof(*used));

	for (size_t i = 0; i < all; i++)
		used[i] = false;
	for (int64_t i = 0; i < n; i++) {
		size_t first = (size_t)way[i].fabric * (size_t)m->ndevices;

		used[first + (size_t)way[i].src] = true;
		used[first + (size_t)way[i].dst] = true;
	}
	for (int f = 0; f < m->nfabrics; f++)
		for (int32_t d = 0; d < m->ndevices; d++) {
			if (!used[(size_t)f * (size_t)m->ndevices + (size_t)d])
				continue;
			text_printf(out, "<host");
			attribute(out, "id", host_name(l, f, d));
			text_printf(out, " speed=\"1Gf\"/>\n");
		}
	free(used);
}

static void links_print(struct text *out, const struct machine *m)
{
	for (int32_t i = 0; i < m->nlinks; i++) {
		text_printf(out, "<link");
		attribute(out, "id", m->link[i].name);
		text_printf(out, " bandwidth=\"%.17gBps\" latency=\"%.17gs\"/>\n",
		            m->link[i].bandwidth_Bps, m->link[i].latency_s);
	}
}

static void route_print(struct text *out, const struct loader *l, const struct way *way)
{
	const struct machine *m = l->platform->machine;
	int32_t links[ROUTE_LINKS_MAX];
	int n = machine_route(m, way->fabric, way->src, way->dst, links,
	                      ROUTE_LINKS_MAX);

	if (n <= 0) /* the clock says which message has no route */
		return;
	text_printf(out, "<route");
	attribute(out, "src", host_name(l, way->fabric, way->src));
	attribute(out, "dst", host_name(l, way->fabric, way->dst));
	text_printf(out, " symmetrical=\"NO\">");
	for (int i = 0; i < n; i++) {
		text_printf(out, "<link_ctn");
		attribute(out, "id", m->link[links[i]].name);
		text_printf(out, "/>");
	}
	text_printf(out, "</route>\n");
}

void platform_traced_text(struct text *out, const struct loader *l)
{
	const struct machine *m = l->platform->machine;
	const struct schedule *s = l->traced;
	struct way *way = xmalloc((size_t)s->nmessages, sizeof(*way));
	int64_t n = 0;

	for (int64_t i = 0; i < s->nmessages; i++)
		way[i] = way_of(m, &s->message[i]);
	qsort(way, (size_t)s->nmessages, sizeof(*way), by_way);
	for (int64_t i = 0; i < s->nmessages; i++)
		if (!n || by_way(&way[n - 1], &way[i]) != 0)
			way[n++] = way[i];
	text_printf(out,
	            "<?xml version='1.0'?>\n"
	            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
	            "<platform version=\"4.1\">\n"
	            "<zone id=\"machine\" routing=\"Full\">\n");
	hosts_print(out, l, way, n);
	links_print(out, m);
	for (int64_t i = 0; i < n; i++)
		route_print(out, l, &way[i]);
	text_printf(out, "</zone>\n</platform>\n");
	free(way);
}
