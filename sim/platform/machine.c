#include "platform/builder.h"

#include "base/hash.h"
#include "base/list.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/* Counts the devices, which must be 0 to n - 1, where n - 1 is the largest number. */
static enum status count_devices(struct builder *b)
{
	const struct platform_xml *xml = b->xml;
	int64_t most = 0;
	char *seen;
	int32_t n = 0;

	for (int32_t h = 0; h < xml->nhosts; h++)
		most += xml->host[h].props->share;
	if (most > INT32_MAX)
		return error_set(b->error, E_RANGE, (struct where){.file = xml->path},
		                 "more than %d devices", INT32_MAX);
	seen = arena_alloc(b->arena, (size_t)most, 1);
	for (int32_t h = 0; h < xml->nhosts; h++) {
		const struct xml_host *host = &xml->host[h];
		int32_t share = host->props->share;

		if (host->device > most - share)
			return builder_fail(
				b, E_RANGE, host,
				"host '%s' is of device %d, but %d hosts are no "
				"more than "
				"devices 0 to %d",
				host->name, (int)host->device, (int)xml->nhosts,
				(int)most - 1);
		memset(seen + host->device, 1, (size_t)share);
		if (host->device + share > n)
			n = host->device + share;
	}
	for (int32_t d = 0; d < n; d++)
		if (!seen[d])
			return error_set(
				b->error, E_RANGE, (struct where){.file = xml->path},
				"devices must be numbered 0 to %d, but no host is of "
				"device %d",
				(int)n - 1, (int)d);
	b->m->ndevices = n;
	return OK;
}

/*
 * Returns the fabric of that name, made if it is new; -1 and an error where there are too many.
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
		builder_fail(b, E_RANGE, host, "fabric '%s' is one too many: at most %d",
		             p->fabric, (int)MACHINE_FABRICS_MAX);
		return -1;
	}
	m->fabric[f] = (struct fabric){.name = p->fabric,
	                               .profile = p->profile,
	                               .priority = p->priority,
	                               .share = p->share};
	b->example[f] = host;
	m->nfabrics++;
	return f;
}

static enum status find_fabrics(struct builder *b)
{
	struct machine *m = b->m;

	for (int32_t h = 0; h < b->xml->nhosts; h++) {
		const struct xml_host *host = &b->xml->host[h], *other;
		const struct xml_props *p = host->props, *q;
		int f = fabric_of(b, host);

		if (f < 0)
			return b->error->code;
		other = b->example[f];
		q = other->props;
		if (p != q && (p->priority != q->priority || p->share != q->share ||
		               strcmp(p->profile, q->profile) != 0 ||
		               strcmp(p->geometry, q->geometry) != 0))
			return builder_fail(
				b, E_TYPE, host,
				"host '%s' contradicts '%s': one fabric has one "
				"priority, profile, geometry and number of devices "
				"of a host",
				host->name, other->name);
	}
	for (int i = 1; i < m->nfabrics; i++)
		for (int j = i; j > 0; j--) {
			struct fabric fabric = m->fabric[j];
			const struct xml_host *example = b->example[j];

			if (m->fabric[j - 1].priority == fabric.priority)
				return builder_fail(
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

/* Takes what a host says of one of its devices, as other hosts may have said before. */
static enum status place_host(struct builder *b, int f, int32_t h, int32_t d,
                              struct device *was, char *known)
{
	const struct xml_host *host = &b->xml->host[h], *other = builder_host(b, f, d);
	const struct xml_props *p = host->props;
	struct device is = {p->memory_bytes, p->memory_Bps, p->launch_s};

	if (other)
		return builder_fail(
			b, E_TYPE, host,
			"device %d has two hosts on fabric '%s': '%s' and '%s'", (int)d,
			p->fabric, other->name, host->name);
	if (*known && (is.memory_bytes != was->memory_bytes ||
	               is.memory_Bps != was->memory_Bps || is.launch_s != was->launch_s))
		return builder_fail(
			b, E_TYPE, host,
			"host '%s' contradicts another host of device %d: memory "
			"and launch are the device's",
			host->name, (int)d);
	*known = 1;
	*was = is;
	b->host_of[(int64_t)f * b->m->ndevices + d] = h;
	return OK;
}

/* Finds which host a device has on each fabric, and what they say about the device. */
static enum status place_hosts(struct builder *b)
{
	struct machine *m = b->m;
	struct device *device;
	char *known;

	device = arena_alloc(b->arena, (size_t)m->ndevices, sizeof(*device));
	known = arena_alloc(b->arena, (size_t)m->ndevices, 1);
	b->host_of = arena_alloc(b->arena, (size_t)m->ndevices * (size_t)m->nfabrics,
	                         sizeof(*b->host_of));
	memset(b->host_of, -1,
	       (size_t)m->ndevices * (size_t)m->nfabrics * sizeof(*b->host_of));
	m->tuning = b->xml->host[0].props->tuning;
	for (int32_t h = 0; h < b->xml->nhosts; h++) {
		const struct xml_host *host = &b->xml->host[h];
		int f = fabric_of(b, host);

		for (int32_t d = host->device; d < host->device + host->props->share;
		     d++)
			if (place_host(b, f, h, d, &device[d], &known[d]) != OK)
				return b->error->code;
		for (int i = 0; i < TUNINGS; i++)
			if (host->props->tuning.value[i] != m->tuning.value[i])
				return builder_fail(
					b, E_TYPE, host,
					"host '%s' contradicts '%s': a machine has "
					"one set of constants, but %s is %.15g "
					"and %.15g",
					host->name, b->xml->host[0].name,
					tuning_name(i), host->props->tuning.value[i],
					m->tuning.value[i]);
	}
	m->device = device;
	return OK;
}

/*
 * Checks that another fabric joins devices that share a port, for they cannot reach each other through it, so another fabric must
 * join them.
 */
static enum status check_shared(struct builder *b, int f)
{
	const struct machine *m = b->m;
	int32_t share = m->fabric[f].share;

	for (int32_t d = 0; d < m->ndevices && share > 1; d++) {
		int32_t first = d / share * share;

		if (!builder_host(b, f, d) || machine_fabric(m, first, d) >= 0)
			continue;
		return builder_fail(
			b, E_TYPE, builder_host(b, f, d),
			"devices %d and %d share host '%s', but no other fabric "
			"joins them",
			(int)first, (int)d, builder_host(b, f, d)->name);
	}
	return OK;
}

/* Distinct names, numbered as they came. */
struct names {
	LIST(const char *) name;
	struct table table;
};

/* Returns the number of the name, the next one where it is new. */
static int32_t names_number(struct names *all, const char *name)
{
	uint64_t hash = hash_bytes(HASH_START, name, strlen(name));
	int32_t n = (int32_t)all->name.n;
	size_t at;

	for (int32_t i = table_first(&all->table, hash, &at); i >= 0;
	     i = table_next(&all->table, hash, &at))
		if (!strcmp(all->name.at[i], name))
			return i;
	table_add(&all->table, hash, n);
	*list_add(&all->name, NULL) = name;
	return n;
}

/*
 * Returns the name of a device's domain; with domain_devices the hosts' name and the number of
 * the domain, so that one cluster can have many.
 */
static const char *domain_name(const struct builder *b, const struct xml_host *host,
                               int32_t d)
{
	int32_t each = host->props->domain_devices;

	if (!each)
		return host->props->domain;
	return arena_printf(b->arena, "%s%d", host->props->domain, (int)(d / each));
}

/* Finds the domains of a fabric, numbered by their first device. */
static void find_domains(struct builder *b, int f)
{
	struct fabric *fab = &b->m->fabric[f];
	int32_t n = b->m->ndevices;
	int32_t *domain = arena_alloc(b->arena, (size_t)n, sizeof(*domain));
	struct names names = {0};

	for (int32_t d = 0; d < n; d++) {
		const struct xml_host *host = builder_host(b, f, d);

		domain[d] = host ? names_number(&names, domain_name(b, host, d)) : -1;
	}
	fab->ndomains = (int32_t)names.name.n;
	free(names.name.at);
	table_free(&names.table);
	fab->domain = domain;
}

enum status platform_xml_machine(struct machine **out, struct platform_graph **graph,
                                 const struct platform_xml *xml, const char *name,
                                 struct error *e)
{
	struct error local = {0};
	struct builder b = {.xml = xml, .arena = xml->arena, .error = e ? e : &local};
	struct platform_graph *g = arena_alloc(xml->arena, 1, sizeof(*g));

	b.m = arena_alloc(xml->arena, 1, sizeof(*b.m));
	b.m->name = arena_strdup(xml->arena, name);
	b.m->nlinks = xml->nlinks;
	b.m->link = xml->link;
	if (count_devices(&b) != OK || find_fabrics(&b) != OK || place_hosts(&b) != OK)
		return b.error->code;
	*g = (struct platform_graph){.xml = xml, .host_of = b.host_of};
	b.m->ask_state = g;
	for (int f = 0; f < b.m->nfabrics; f++)
		find_domains(&b, f);
	for (int f = 0; f < b.m->nfabrics; f++)
		if (check_shared(&b, f) != OK || builder_wire(&b, g, f) != OK)
			return b.error->code;
	if (builder_check_stated(&b) != OK)
		return b.error->code;
	*out = b.m;
	*graph = g;
	return OK;
}
