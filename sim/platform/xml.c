#include "platform/xml.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

struct where platform_xml_where(const struct platform_xml *x, struct xml_place place)
{
	struct where at = {.file = x->path, .line = place.line, .col = 1};
	const char *line = x->text, *end = x->text + x->length;
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

static size_t hash_text(const char *s)
{
	return hash_bytes(HASH_START, s, strlen(s));
}

static size_t hash_pair(int32_t src, int32_t dst)
{
	uint64_t h =
		((uint64_t)(uint32_t)src << 32 | (uint32_t)dst) * 11400714819323198485u;

	return (size_t)(h ^ h >> 29);
}

static size_t hash_item(const struct platform_xml *x, const struct xml_index *index,
                        int32_t i)
{
	if (index == &x->host_index)
		return hash_text(x->host[i].name);
	if (index == &x->link_index)
		return hash_text(x->link[i].name);
	return hash_pair(x->route[i].src, x->route[i].dst);
}

static void index_put(const struct platform_xml *x, struct xml_index *index, int32_t i)
{
	size_t at = hash_item(x, index, i) & (index->size - 1);

	while (index->slot[at] >= 0)
		at = (at + 1) & (index->size - 1);
	index->slot[at] = i;
}

/* Adds item `i`, which is new; the index is at most half full. */
static void index_add(struct platform_xml *x, struct xml_index *index, int32_t i)
{
	if (2 * (index->used + 1) > index->size) {
		index->size = index->size ? 2 * index->size : 64;
		index->slot = arena_alloc(x->arena, index->size, sizeof(*index->slot));
		memset(index->slot, -1, index->size * sizeof(*index->slot));
		for (int32_t k = 0; k < i; k++)
			index_put(x, index, k);
	}
	index_put(x, index, i);
	index->used++;
}

int32_t platform_xml_link(const struct platform_xml *x, const char *name)
{
	const struct xml_index *index = &x->link_index;
	size_t at = hash_text(name);

	for (; index->size; at++) {
		int32_t i = index->slot[at & (index->size - 1)];

		if (i < 0 || !strcmp(x->link[i].name, name))
			return i;
	}
	return -1;
}

int32_t platform_xml_host(const struct platform_xml *x, const char *name)
{
	const struct xml_index *index = &x->host_index;
	size_t at = hash_text(name);

	for (; index->size; at++) {
		int32_t i = index->slot[at & (index->size - 1)];

		if (i < 0 || !strcmp(x->host[i].name, name))
			return i;
	}
	return -1;
}

const struct xml_route *platform_xml_route(const struct platform_xml *x, int32_t src,
                                           int32_t dst)
{
	const struct xml_index *index = &x->route_index;
	size_t at = hash_pair(src, dst);

	for (; index->size; at++) {
		int32_t i = index->slot[at & (index->size - 1)];

		if (i < 0)
			return NULL;
		if (x->route[i].src == src && x->route[i].dst == dst)
			return &x->route[i];
	}
	return NULL;
}

int32_t platform_xml_hop(const struct platform_xml *x, int32_t src, int32_t dst)
{
	const struct xml_host *a = &x->host[src], *b = &x->host[dst];
	const struct xml_route *route = platform_xml_route(x, src, dst);
	char name[512];

	if (route)
		return route->nlinks == 1 ? x->route_link[route->first] : -1;
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
			link = platform_xml_link(x, name);
			if (link >= 0)
				return link;
		}
	return -1;
}

/* Room for item number n: the array, doubled in the arena when it is full. */
static void *room(struct arena *a, void *old, int32_t n, int32_t *capacity, size_t size)
{
	void *grown;

	if (n < *capacity)
		return old;
	*capacity = *capacity ? 2 * *capacity : 64;
	grown = arena_alloc(a, (size_t)*capacity, size);
	if (n)
		memcpy(grown, old, (size_t)n * size);
	return grown;
}

bool platform_xml_add_host(struct platform_xml *x, const struct xml_host *host)
{
	if (platform_xml_host(x, host->name) >= 0)
		return false;
	x->host = room(x->arena, x->host, x->nhosts, &x->hosts_capacity,
	               sizeof(*x->host));
	x->host[x->nhosts] = *host;
	index_add(x, &x->host_index, x->nhosts++);
	return true;
}

bool platform_xml_add_link(struct platform_xml *x, const struct link *link)
{
	if (platform_xml_link(x, link->name) >= 0)
		return false;
	x->link = room(x->arena, x->link, x->nlinks, &x->links_capacity,
	               sizeof(*x->link));
	x->link[x->nlinks] = *link;
	index_add(x, &x->link_index, x->nlinks++);
	return true;
}

void platform_xml_add_route_link(struct platform_xml *x, int32_t link)
{
	x->route_link = room(x->arena, x->route_link, x->nroute_links,
	                     &x->route_links_capacity, sizeof(*x->route_link));
	x->route_link[x->nroute_links++] = link;
}

bool platform_xml_add_route(struct platform_xml *x, int32_t src, int32_t dst)
{
	struct xml_route route = {.src = src, .dst = dst};

	if (x->nroutes)
		route.first = x->route[x->nroutes - 1].first +
		              x->route[x->nroutes - 1].nlinks;
	route.nlinks = x->nroute_links - route.first;
	if (platform_xml_route(x, src, dst))
		return false;
	x->route = room(x->arena, x->route, x->nroutes, &x->routes_capacity,
	                sizeof(*x->route));
	x->route[x->nroutes] = route;
	index_add(x, &x->route_index, x->nroutes++);
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
