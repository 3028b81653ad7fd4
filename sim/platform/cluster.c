#include "platform/reader.h"

#include "array/mesh.h"
#include "platform/topology.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum status reader_add_host(struct reader *r, const xmlNode *node, struct xml_host *host)
{
	const char *digits = host->name + strlen(host->name);
	bool plain = host->props == r->plain;
	long number;

	while (digits > host->name && isdigit((unsigned char)digits[-1]))
		digits--;
	errno = 0;
	number = strtol(digits, NULL, 10);
	if (plain)
		number = r->xml->nhosts;
	else if (!*digits || errno || number > INT32_MAX / host->props->share - 1)
		return reader_fail(r, E_SYNTAX, node,
		                   "host '%s' does not end in the number of its device",
		                   host->name);
	host->device = (int32_t)number * host->props->share;
	if (!platform_xml_add_host(r->xml, host))
		return reader_fail(r, E_SYNTAX, node, "host '%s' is there twice",
		                   host->name);
	return OK;
}

enum status reader_add_link(struct reader *r, const xmlNode *node, const char *name,
                            const char *policy, struct link link)
{
	static const char *const ends[] = {"_UP", "_DOWN"};
	bool split = !strcmp(policy, "SPLITDUPLEX");

	if (!split && strcmp(policy, "SHARED") != 0)
		return reader_fail(
			r, E_SYNTAX, node,
			"sharing_policy=\"%s\" of '%s', expected SPLITDUPLEX or SHARED",
			policy, name);
	for (int i = 0; i < (split ? 2 : 1); i++) {
		link.name =
			arena_printf(r->xml->arena, "%s%s", name, split ? ends[i] : "");
		if (!platform_xml_add_link(r->xml, &link))
			return reader_fail(r, E_SYNTAX, node,
			                   "link '%s' is there twice", name);
	}
	return OK;
}

struct cluster {
	const char *id; /* NULL: a cabinet */
	const char *policy, *prefix, *suffix;
	struct link link;
	const struct xml_props *props;
	int32_t n;
	const char *link_prefix; /* "<id>_link_" */
	int32_t copy,
		ncopies; /* which one of so many clusters it is, see read_copies() */
};

/*
 * Returns the arena's text of a number between two texts. Large machines have a million
 * of them, for which printf() is slow.
 */
static const char *numbered(struct arena *a, const char *before, int32_t number,
                            const char *behind)
{
	size_t n = strlen(before), m = strlen(behind);
	char digits[12], *p = digits + sizeof(digits), *out;
	size_t length;

	do
		*--p = (char)('0' + number % 10);
	while (number /= 10);
	length = (size_t)(digits + sizeof(digits) - p);
	out = arena_alloc(a, n + length + m + 1, 1);
	memcpy(out, before, n);
	memcpy(out + n, p, length);
	memcpy(out + n + length, behind, m);
	return out;
}

/* Adds the links of a host of a flat cluster. */
static enum status host_links(struct reader *r, const xmlNode *node,
                              const struct cluster *c, struct xml_host *host)
{
	struct arena *a = r->xml->arena;
	struct link link = c->link;

	host->up = r->xml->nlinks;
	if (!c->id || strcmp(c->policy, "SPLITDUPLEX") != 0) {
		host->down = host->up;
		if (!c->id)
			host->up = host->down = -1;
		return reader_add_link(
			r, node,
			c->id ? numbered(a, c->link_prefix, host->number, "")
			      : arena_printf(a, "link_%s", host->name),
			c->policy, c->link);
	}
	host->down = host->up + 1;
	for (int down = 0; down < 2; down++) {
		link.name = numbered(a, c->link_prefix, host->number,
		                     down ? "_DOWN" : "_UP");
		if (!platform_xml_add_link(r->xml, &link))
			return reader_fail(r, E_SYNTAX, node,
			                   "link '%s%d' is there twice", c->link_prefix,
			                   (int)host->number);
	}
	return OK;
}

static enum status cluster_host(struct reader *r, const xmlNode *node,
                                struct cluster *c, bool flat, int32_t number)
{
	struct xml_host host = {.place = reader_place(r, node),
	                        .props = c->props,
	                        .cluster = c->id,
	                        .rank = c->n++,
	                        .number = number,
	                        .up = -1,
	                        .down = -1,
	                        .zone = -1};

	host.name = numbered(r->xml->arena, c->prefix, number, c->suffix);
	if (flat && host_links(r, node, c, &host) != OK)
		return r->error->code;
	return reader_add_host(r, node, &host);
}

/* Calls cluster_host() for each number of a list "0-3,8,10-11". */
static enum status read_radical(struct reader *r, const xmlNode *node,
                                struct cluster *c, bool flat)
{
	const char *radical = reader_required(r, node, "radical"), *p = radical;

	while (p && *p) {
		char *end;
		long lo, hi;

		lo = hi = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : -1;
		if (lo >= 0 && *end == '-')
			hi = isdigit((unsigned char)end[1]) ? strtol(end + 1, &end, 10)
			                                    : -1;
		if (lo < 0 || hi < lo || (*end && *end != ','))
			return reader_fail(
				r, E_SYNTAX, node,
				"radical=\"%s\", expected numbers such as 0-7,12",
				radical);
		if (hi >= MESH_DEVICES_MAX)
			return reader_fail(r, E_RANGE, node,
			                   "radical=\"%s\", expected numbers up to %d",
			                   radical, MESH_DEVICES_MAX - 1);
		platform_xml_reserve(r->xml, (hi - lo + 1) * c->ncopies,
		                     flat ? 2 * (hi - lo + 1) * c->ncopies : 0);
		for (long i = lo; i <= hi; i++)
			if (cluster_host(r, node, c, flat, (int32_t)i) != OK)
				return r->error->code;
		p = *end ? end + 1 : end;
	}
	if (p && !c->n)
		return reader_fail(r, E_SYNTAX, node, "the cluster has no hosts");
	return r->error->code;
}

/* Adds the links of SimGrid's torus: one cable from each node up each dimension. */
static enum status read_torus(struct reader *r, const xmlNode *node, struct cluster *c)
{
	const char *text = reader_required(r, node, "topo_parameters"), *p = text;
	int64_t stride = 1;

	while (p && *p && stride <= c->n) {
		char *end;
		long size = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : 0;

		if (size < 1 || size > c->n || (*end && *end != ','))
			break;
		for (int64_t i = 0; i < c->n && size > 1; i++) {
			int64_t at = i / stride % size;
			int64_t to = i + ((at + 1) % size - at) * stride;
			const char *name =
				arena_printf(r->xml->arena, "%s_link_from_%d_to_%d",
			                     c->id, (int)i, (int)to);

			if (reader_add_link(r, node, name, c->policy, c->link) != OK)
				return r->error->code;
		}
		stride *= size;
		p = *end ? end + 1 : end;
	}
	if (text && (*p || stride != c->n))
		return reader_fail(r, E_RANGE, node,
		                   "topo_parameters=\"%s\" is not a torus of %d hosts",
		                   text, (int)c->n);
	return r->error->code;
}

/* Reads fat trees and dragonflies; others are for SimGrid to know. */
static enum status read_topology(struct reader *r, const xmlNode *node,
                                 struct cluster *c, const char *kind)
{
	const char *text = reader_required(r, node, "topo_parameters");
	struct cable cable = {c->link, !strcmp(c->policy, "SPLITDUPLEX")};
	const struct topology *topology;

	if (!text)
		return r->error->code;
	if (!cable.split && strcmp(c->policy, "SHARED") != 0)
		return reader_fail(
			r, E_SYNTAX, node,
			"sharing_policy=\"%s\" of '%s', expected SPLITDUPLEX or SHARED",
			c->policy, c->id);
	if (topology_make(&topology, r->xml, kind, text, c->n, cable,
	                  platform_xml_where(r->xml, reader_place(r, node)),
	                  r->error) != OK)
		return r->error->code;
	for (int32_t i = 0; i < c->n; i++)
		r->xml->host[r->xml->nhosts - c->n + i].topology = topology;
	return OK;
}

/* Checks backbones and limiters; SimGrid knows them, but only as shared links. */
static enum status read_backbone(struct reader *r, const xmlNode *node)
{
	const char *policy = reader_attribute(r, node, "bb_sharing_policy");

	r->xml->bypassed = r->xml->bypassed || reader_attribute(r, node, "bb_bw") ||
	                   reader_attribute(r, node, "limiter_link");
	if (!policy || !strcmp(policy, "SHARED"))
		return OK;
	return reader_fail(r, E_SYNTAX, node,
	                   "bb_sharing_policy=\"%s\", expected SHARED", policy);
}

/*
 * Reads the other clusters for which the one in a brief text stands, "copies" of them with
 * it: numbers go on, names of clusters end in the number of theirs, and the hosts have one
 * list of properties, whose domain_devices keep the clusters apart.
 */
static enum status read_copies(struct reader *r, const xmlNode *node, struct cluster *c,
                               const char *id)
{
	int32_t each = c->n;

	for (c->copy = 1; c->copy < c->ncopies; c->copy++) {
		c->id = numbered(r->xml->arena, id, c->copy, "");
		c->link_prefix = arena_printf(r->xml->arena, "%s_link_", c->id);
		c->n = 0;
		for (int32_t i = 0; i < each; i++)
			if (cluster_host(r, node, c, true, c->copy * each + i) != OK)
				return r->error->code;
	}
	return OK;
}

/* Reads what clusters and cabinets have: hosts and the links to each. */
static enum status read_hosts(struct reader *r, const xmlNode *node, struct cluster *c,
                              bool flat)
{
	c->prefix = reader_required(r, node, "prefix");
	c->suffix = reader_required(r, node, "suffix");
	if (!c->prefix || !c->suffix || !reader_required(r, node, "speed") ||
	    reader_quantity(r, node, "bw", true, &c->link.bandwidth_Bps) != OK ||
	    reader_quantity(r, node, "lat", false, &c->link.latency_s) != OK)
		return r->error->code;
	c->props = reader_props(r, node);
	return c->props ? read_radical(r, node, c, flat) : r->error->code;
}

enum status reader_cabinet(struct reader *r, const xmlNode *node)
{
	struct cluster c = {.policy = "SPLITDUPLEX", .ncopies = 1};

	if (reader_steady(r, node) != OK || !reader_required(r, node, "id"))
		return r->error->code;
	return read_hosts(r, node, &c, true);
}

enum status reader_cluster(struct reader *r, const xmlNode *node)
{
	const char *topology = reader_attribute(r, node, "topology");
	bool flat = !topology || !strcmp(topology, "FLAT");
	struct cluster c = {.id = reader_required(r, node, "id"),
	                    .policy = reader_attribute(r, node, "sharing_policy"),
	                    .ncopies = 1};
	const char *copies = r->brief ? reader_attribute(r, node, "copies") : NULL;
	const char *id = c.id;

	if (reader_steady(r, node) != OK || read_backbone(r, node) != OK)
		return r->error->code;
	if (!c.policy)
		c.policy = "SPLITDUPLEX";
	if (copies) {
		c.ncopies = (int32_t)strtol(copies, NULL, 10);
		c.id = numbered(r->xml->arena, id, 0, "");
	}
	if (!c.id)
		return r->error->code;
	c.link_prefix = arena_printf(r->xml->arena, "%s_link_", c.id);
	if (read_hosts(r, node, &c, flat) != OK || read_copies(r, node, &c, id) != OK)
		return r->error->code;
	if (c.props == r->plain)
		reader_plain_cluster(r, node);
	if (flat)
		return OK;
	if (!strcmp(topology, "TORUS"))
		return read_torus(r, node, &c);
	return read_topology(r, node, &c, topology);
}
