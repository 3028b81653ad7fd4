#include "platform/xml.h"

#include "base/hash.h"
#include "base/list.h"

#include <stdio.h>
#include <string.h>

struct where platform_xml_where(const struct platform_xml *xml, struct xml_place place)
{
	struct where at = {.file = xml->path, .line = place.line, .col = 1};
	const char *line = xml->text, *end = xml->text + xml->length;
	size_t n = strlen(place.element);

	for (unsigned i = 1; i < place.line && line; i++) {
		line = memchr(line, '\n', (size_t)(end - line));
		line = line ? line + 1 : NULL;
	}
	for (const char *p = line; p && p + n < end && *p != '\n'; p++)
		if (*p == '<' && !memcmp(p + 1, place.element, n)) {
			at.col = (unsigned)(p - line) + 1;
			break;
		}
	return at;
}

static uint64_t name_hash(const char *s)
{
	return hash_bytes(HASH_START, s, strlen(s));
}

static uint64_t pair_hash(int32_t src, int32_t dst)
{
	uint64_t h =
		((uint64_t)(uint32_t)src << 32 | (uint32_t)dst) * 11400714819323198485u;

	return h ^ h >> 29;
}

int32_t platform_xml_link(const struct platform_xml *xml, const char *name)
{
	const struct table *t = &xml->links_by_name;
	uint64_t hash = name_hash(name);
	size_t at;

	for (int32_t i = table_first(t, hash, &at); i >= 0; i = table_next(t, hash, &at))
		if (!strcmp(xml->link[i].name, name))
			return i;
	return -1;
}

int32_t platform_xml_host(const struct platform_xml *xml, const char *name)
{
	const struct table *t = &xml->hosts_by_name;
	uint64_t hash = name_hash(name);
	size_t at;

	for (int32_t i = table_first(t, hash, &at); i >= 0; i = table_next(t, hash, &at))
		if (!strcmp(xml->host[i].name, name))
			return i;
	return -1;
}

const struct xml_route *platform_xml_route(const struct platform_xml *xml, int32_t src,
                                           int32_t dst)
{
	const struct table *t = &xml->routes_by_ends;
	uint64_t hash = pair_hash(src, dst);
	size_t at;

	for (int32_t i = table_first(t, hash, &at); i >= 0; i = table_next(t, hash, &at))
		if (xml->route[i].src == src && xml->route[i].dst == dst)
			return &xml->route[i];
	return NULL;
}

int32_t platform_xml_hop(const struct platform_xml *xml, int32_t src, int32_t dst)
{
	const struct xml_host *a = &xml->host[src], *b = &xml->host[dst];
	const struct xml_route *route = platform_xml_route(xml, src, dst);
	char name[512];

	if (route)
		return route->nlinks == 1 ? xml->route_link[route->first] : -1;
	if (!a->cluster || !b->cluster || strcmp(a->cluster, b->cluster) != 0)
		return -1;
	for (int down = 0; down < 2; down++)
		for (int split = 1; split >= 0; split--) {
			int32_t link;

			snprintf(name, sizeof(name), "%s_link_from_%d_to_%d%s",
			         a->cluster, (int)(down ? b->rank : a->rank),
			         (int)(down ? a->rank : b->rank),
			         !split ? ""
			         : down ? "_DOWN"
			                : "_UP");
			link = platform_xml_link(xml, name);
			if (link >= 0)
				return link;
		}
	return -1;
}

void platform_xml_reserve(struct platform_xml *xml, int64_t hosts, int64_t links)
{
	table_reserve(&xml->hosts_by_name, (size_t)hosts);
	table_reserve(&xml->links_by_name, (size_t)links);
	xml->host = list_grow(xml->arena, xml->host, xml->nhosts, hosts,
	                      &xml->hosts_room, sizeof(*xml->host));
	xml->link = list_grow(xml->arena, xml->link, xml->nlinks, links,
	                      &xml->links_room, sizeof(*xml->link));
}

bool platform_xml_add_host(struct platform_xml *xml, const struct xml_host *host)
{
	if (platform_xml_host(xml, host->name) >= 0)
		return false;
	table_add(&xml->hosts_by_name, name_hash(host->name), xml->nhosts);
	xml->host = list_grow(xml->arena, xml->host, xml->nhosts, 1, &xml->hosts_room,
	                      sizeof(*xml->host));
	xml->host[xml->nhosts++] = *host;
	return true;
}

bool platform_xml_add_link(struct platform_xml *xml, const struct link *link)
{
	if (platform_xml_link(xml, link->name) >= 0)
		return false;
	table_add(&xml->links_by_name, name_hash(link->name), xml->nlinks);
	xml->link = list_grow(xml->arena, xml->link, xml->nlinks, 1, &xml->links_room,
	                      sizeof(*xml->link));
	xml->link[xml->nlinks++] = *link;
	return true;
}

void platform_xml_add_route_link(struct platform_xml *xml, int32_t link)
{
	xml->route_link = list_grow(xml->arena, xml->route_link, xml->nroute_links, 1,
	                            &xml->route_links_room, sizeof(*xml->route_link));
	xml->route_link[xml->nroute_links++] = link;
}

bool platform_xml_add_route(struct platform_xml *xml, int32_t src, int32_t dst)
{
	struct xml_route route = {.src = src, .dst = dst};

	if (xml->nroutes)
		route.first = xml->route[xml->nroutes - 1].first +
		              xml->route[xml->nroutes - 1].nlinks;
	route.nlinks = xml->nroute_links - route.first;
	if (platform_xml_route(xml, src, dst))
		return false;
	table_add(&xml->routes_by_ends, pair_hash(src, dst), xml->nroutes);
	xml->route = list_grow(xml->arena, xml->route, xml->nroutes, 1,
	                       &xml->routes_room, sizeof(*xml->route));
	xml->route[xml->nroutes++] = route;
	return true;
}

bool platform_xml_unit(double *out, const char *unit, bool rate)
{
	static const struct {
		const char *name;
		double factor;
	} times[] = {{"w", 604800}, {"d", 86400}, {"h", 3600},  {"m", 60},    {"s", 1},
	             {"ms", 1e-3},  {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
	static const char prefixes[] = "kMGTPEZY";
	double base = 1000, prefix = 1;
	const char *found;

	*out = 1;
	if (!*unit)
		return true;
	if (!rate) {
		for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
			if (!strcmp(unit, times[i].name)) {
				*out = times[i].factor;
				return true;
			}
		return false;
	}
	found = strchr(prefixes, *unit == 'K' ? 'k' : *unit);
	if (found) {
		unit++;
		if (*unit == 'i') {
			base = 1024;
			unit++;
		}
		for (const char *p = prefixes; p <= found; p++)
			prefix *= base;
	}
	*out = !strcmp(unit, "bps") ? prefix / 8 : prefix;
	return !strcmp(unit, "bps") || !strcmp(unit, "Bps");
}
