#include "platform_xml.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct builder {
	const struct platform_xml *x;
	struct arena *arena;
	struct machine *m;
	int32_t *host_of;
	const struct xml_host *example[MACHINE_FABRICS_MAX]; /* a host of each fabric */
	struct error *error;
};

/* Records an error at a host; always a failure. */
#define fail(b, code, h, ...)                                                          \
	error_set((b)->error, code, platform_xml_where((b)->x, (h)->place), __VA_ARGS__)

static const struct xml_host *host_at(const struct builder *b, int f, int32_t d)
{
	int32_t h = b->host_of[(int64_t)f * b->m->ndevices + d];

	return h < 0 ? NULL : &b->x->host[h];
}

/* Devices are 0 to n - 1, where n - 1 is the largest number there is. */
static enum status count_devices(struct builder *b)
{
	const struct platform_xml *x = b->x;
	char *seen = arena_alloc(b->arena, (size_t)x->nhosts, 1);
	int32_t n = 0;

	for (int32_t h = 0; h < x->nhosts; h++) {
		const struct xml_host *host = &x->host[h];

		if (host->device >= x->nhosts)
			return fail(b, E_RANGE, host,
			            "host '%s' is of device %d, but %d hosts are no "
			            "more than "
			            "devices 0 to %d",
			            host->name, (int)host->device, (int)x->nhosts,
			            (int)x->nhosts - 1);
		seen[host->device] = 1;
		if (host->device >= n)
			n = host->device + 1;
	}
	for (int32_t d = 0; d < n; d++)
		if (!seen[d])
			return error_set(
				b->error, E_RANGE, (struct where){.file = x->path},
				"devices must be numbered 0 to %d, but no host is of "
				"device %d",
				(int)n - 1, (int)d);
	b->m->ndevices = n;
	return OK;
}

/*
 * The fabric of that name, made if it is new; -1 and an error where there are too many.
 */
static int fabric_of(struct builder *b, const struct xml_host *host)
{
	const struct xml_props *p = host->props;
	struct machine *m = b->m;
	int f = 0;

	while (f < m->nfabrics && strcmp(m->fabric[f].name, p->fabric) != 0)
		f++;
	if (f < m->nfabrics)
		return f;
	if (f == MACHINE_FABRICS_MAX) {
		fail(b, E_RANGE, host, "fabric '%s' is one too many: at most %d",
		     p->fabric, (int)MACHINE_FABRICS_MAX);
		return -1;
	}
	m->fabric[f] = (struct fabric){
		.name = p->fabric, .profile = p->profile, .priority = p->priority};
	b->example[f] = host;
	m->nfabrics++;
	return f;
}

static enum status find_fabrics(struct builder *b)
{
	struct machine *m = b->m;

	for (int32_t h = 0; h < b->x->nhosts; h++) {
		const struct xml_host *host = &b->x->host[h], *other;
		const struct xml_props *p = host->props, *q;
		int f = fabric_of(b, host);

		if (f < 0)
			return b->error->code;
		other = b->example[f];
		q = other->props;
		if (p != q && (p->priority != q->priority ||
		               strcmp(p->profile, q->profile) != 0 ||
		               strcmp(p->geometry, q->geometry) != 0))
			return fail(b, E_TYPE, host,
			            "host '%s' contradicts '%s': one fabric has one "
			            "priority, "
			            "profile and geometry",
			            host->name, other->name);
	}
	for (int i = 1; i < m->nfabrics; i++)
		for (int j = i; j > 0; j--) {
			struct fabric fabric = m->fabric[j];
			const struct xml_host *example = b->example[j];

			if (m->fabric[j - 1].priority == fabric.priority)
				return fail(
					b, E_TYPE, example,
					"fabrics '%s' and '%s' both have priority %d",
					m->fabric[j - 1].name, fabric.name,
					fabric.priority);
			if (m->fabric[j - 1].priority < fabric.priority)
				break;
			m->fabric[j] = m->fabric[j - 1];
			b->example[j] = b->example[j - 1];
			m->fabric[j - 1] = fabric;
			b->example[j - 1] = example;
		}
	return OK;
}

/* Which host a device has on each fabric, and what they say about the device. */
static enum status place_hosts(struct builder *b)
{
	struct machine *m = b->m;
	struct device *device;
	char *known;

	device = arena_alloc(b->arena, (size_t)m->ndevices, sizeof(*device));
	known = arena_alloc(b->arena, (size_t)m->ndevices, 1);
	b->host_of = arena_alloc(b->arena, (size_t)m->ndevices * (size_t)m->nfabrics,
	                         sizeof(*b->host_of));
	for (int64_t i = 0; i < (int64_t)m->ndevices * m->nfabrics; i++)
		b->host_of[i] = -1;
	for (int32_t h = 0; h < b->x->nhosts; h++) {
		const struct xml_host *host = &b->x->host[h];
		const struct xml_props *p = host->props;
		int f = fabric_of(b, host);
		struct device is = {p->memory_bytes, p->memory_Bps, p->launch_s};
		struct device *was = &device[host->device];
		const struct xml_host *other = host_at(b, f, host->device);

		if (other)
			return fail(
				b, E_TYPE, host,
				"device %d has two hosts on fabric '%s': '%s' and '%s'",
				(int)host->device, p->fabric, other->name, host->name);
		if (known[host->device] &&
		    (is.memory_bytes != was->memory_bytes ||
		     is.memory_Bps != was->memory_Bps || is.launch_s != was->launch_s))
			return fail(b, E_TYPE, host,
			            "host '%s' contradicts another host of device %d: "
			            "memory "
			            "and launch are the device's",
			            host->name, (int)host->device);
		known[host->device] = 1;
		*was = is;
		b->host_of[(int64_t)f * m->ndevices + host->device] = h;
	}
	m->device = device;
	return OK;
}

/* Domains of a fabric, numbered by their first device. */
static void find_domains(struct builder *b, int f)
{
	struct fabric *fab = &b->m->fabric[f];
	int32_t n = b->m->ndevices;
	int32_t *domain = arena_alloc(b->arena, (size_t)n, sizeof(*domain));
	const char **name = arena_alloc(b->arena, (size_t)n, sizeof(*name));

	fab->ndomains = 0;
	for (int32_t d = 0; d < n; d++) {
		const struct xml_host *host = host_at(b, f, d);
		int32_t i = fab->ndomains - 1;

		domain[d] = -1;
		if (!host)
			continue;
		while (i >= 0 && strcmp(name[i], host->props->domain) != 0)
			i--;
		if (i < 0) {
			i = fab->ndomains++;
			name[i] = host->props->domain;
		}
		domain[d] = i;
	}
	fab->domain = domain;
}

/* "torus 4x4x8 wrap 111", "switch" or "graph". */
static enum status read_geometry(struct builder *b, int f)
{
	const struct xml_host *host = b->example[f];
	const char *text = host->props->geometry, *p = text;
	struct fabric *fab = &b->m->fabric[f];

	if (!strcmp(text, "switch") || !strcmp(text, "graph")) {
		fab->geometry = *text == 's' ? GEOMETRY_SWITCH : GEOMETRY_GRAPH;
		return OK;
	}
	fab->geometry = GEOMETRY_TORUS;
	if (strncmp(p, "torus ", 6) != 0)
		goto fault;
	for (p += 5; *p == (fab->naxes ? 'x' : ' ') && fab->naxes < TORUS_AXES_MAX;) {
		char *end;
		long size = isdigit((unsigned char)p[1]) ? strtol(p + 1, &end, 10) : 0;

		if (size < 1 || size > b->m->ndevices)
			goto fault;
		fab->shape[fab->naxes++] = (int32_t)size;
		p = end;
	}
	if (strncmp(p, " wrap ", 6) != 0)
		goto fault;
	p += 6;
	for (int a = 0; a < fab->naxes; a++, p++) {
		if (*p != '0' && *p != '1')
			goto fault;
		fab->wrap[a] = *p == '1';
		if (fab->wrap[a] && fab->shape[a] < 3)
			return fail(b, E_RANGE, host,
			            "geometry '%s': an axis of %d cannot wrap", text,
			            (int)fab->shape[a]);
	}
	if (!*p)
		return OK;
fault:
	return fail(
		b, E_SYNTAX, host,
		"geometry '%s', expected such as 'torus 4x4x8 wrap 111', 'switch' or "
		"'graph'",
		text);
}

/* Devices fill each domain in the order of their numbers, last axis fastest. */
static enum status place_devices(struct builder *b, int f)
{
	struct fabric *fab = &b->m->fabric[f];
	int32_t n = b->m->ndevices;
	int64_t places = 1;
	int32_t *place, *at, *filled;

	for (int a = 0; a < fab->naxes; a++)
		if ((places *= fab->shape[a]) > n)
			break;
	filled = arena_alloc(b->arena, (size_t)fab->ndomains, sizeof(*filled));
	for (int32_t d = 0; d < n; d++)
		if (fab->domain[d] >= 0)
			filled[fab->domain[d]]++;
	for (int32_t d = 0; d < n; d++)
		if (fab->domain[d] >= 0 && filled[fab->domain[d]] != places)
			return fail(
				b, E_TYPE, host_at(b, f, d),
				"domain '%s' has %d hosts, but its geometry is '%s'",
				host_at(b, f, d)->props->domain,
				(int)filled[fab->domain[d]],
				host_at(b, f, d)->props->geometry);
	place = arena_alloc(b->arena, (size_t)n, sizeof(*place));
	at = arena_alloc(b->arena, (size_t)(places * fab->ndomains), sizeof(*at));
	memset(filled, 0, (size_t)fab->ndomains * sizeof(*filled));
	for (int32_t d = 0; d < n; d++) {
		int32_t domain = fab->domain[d];

		if (domain < 0)
			continue;
		place[d] = filled[domain]++;
		at[domain * places + place[d]] = d;
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
		port[i] = platform_xml_hop(b->x, b->host_of[(int64_t)f * n + d],
		                           b->host_of[(int64_t)f * n + to]);
		if (port[i] < 0)
			return fail(b, E_TYPE, host_at(b, f, d),
			            "'%s' and '%s' are neighbours in geometry '%s', "
			            "but no one "
			            "link leads from the first to the second",
			            host_at(b, f, d)->name, host_at(b, f, to)->name,
			            b->example[f]->props->geometry);
	}
	fab->port = port;
	return OK;
}

/* The links of a host in a flat cluster; one for both ways where it is shared. */
static bool cluster_ports(const struct builder *b, const struct xml_host *host,
                          int32_t *port)
{
	static const char *const ends[] = {"_UP", "_DOWN"};
	char name[512];

	if (!host->cluster)
		return false;
	for (int i = 0; i < 2; i++) {
		int n = snprintf(name, sizeof(name), "%s_link_%d%s", host->cluster,
		                 (int)host->number, ends[i]);

		port[i] = platform_xml_link(b->x, name);
		if (port[i] < 0 && n < (int)sizeof(name)) {
			name[n - (int)strlen(ends[i])] = '\0';
			port[i] = platform_xml_link(b->x, name);
		}
	}
	return port[0] >= 0 && port[1] >= 0;
}

/* The way up from src and down to dst, from a route written out. */
static enum status route_ports(struct builder *b, int f, int32_t src, int32_t dst,
                               int32_t *port)
{
	const int32_t *host = b->host_of + (int64_t)f * b->m->ndevices;
	const struct xml_route *route = platform_xml_route(b->x, host[src], host[dst]);

	if (!route || route->nlinks != 2)
		return fail(b, E_TYPE, host_at(b, f, src),
		            "geometry 'switch' needs a route of two links, up and "
		            "down, from "
		            "'%s' to '%s'",
		            host_at(b, f, src)->name, host_at(b, f, dst)->name);
	port[2 * (int64_t)src] = route->first;
	port[2 * (int64_t)dst + 1] = route->last;
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
		    cluster_ports(b, host_at(b, f, d), &port[2 * (int64_t)d]))
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
	fab->port = port;
	return OK;
}

enum status platform_xml_machine(struct machine **out, const int32_t **host_of,
                                 const struct platform_xml *x, const char *name,
                                 struct error *e)
{
	struct error local = {0};
	struct builder b = {.x = x, .arena = x->arena, .error = e ? e : &local};

	b.m = arena_alloc(x->arena, 1, sizeof(*b.m));
	b.m->name = arena_strdup(x->arena, name);
	b.m->nlinks = x->nlinks;
	b.m->link = x->link;
	if (count_devices(&b) != OK || find_fabrics(&b) != OK || place_hosts(&b) != OK)
		return b.error->code;
	for (int f = 0; f < b.m->nfabrics; f++) {
		enum status status;

		find_domains(&b, f);
		status = read_geometry(&b, f);
		if (status == OK && b.m->fabric[f].geometry == GEOMETRY_TORUS)
			status = torus_ports(&b, f);
		else if (status == OK && b.m->fabric[f].geometry == GEOMETRY_SWITCH)
			status = switch_ports(&b, f);
		if (status != OK)
			return status;
	}
	*out = b.m;
	*host_of = b.host_of;
	return OK;
}
