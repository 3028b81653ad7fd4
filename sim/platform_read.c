#include "platform_xml.h"

#include "collective/collective.h"

#include <ctype.h>
#include <errno.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct platform_xml *x;
	struct error *error;
	int depth;
	bool routers; /* there are some, so a name need not be a host's */
};

static struct xml_place node_place(const struct reader *r, const xmlNode *node)
{
	return (struct xml_place){
		.element = arena_strdup(r->x->arena, (const char *)node->name),
		.line = (unsigned)xmlGetLineNo((xmlNode *)node)};
}

/* Records an error at the element; always a failure. */
#define fail(r, code, node, ...)                                                       \
	error_set((r)->error, code, platform_xml_where((r)->x, node_place(r, node)),   \
	          __VA_ARGS__)

/* The attribute, copied to the arena; NULL if it is not there. */
static const char *attribute(const struct reader *r, const xmlNode *node,
                             const char *name)
{
	xmlChar *value = xmlGetProp(node, (const xmlChar *)name);
	const char *copy;

	if (!value)
		return NULL;
	copy = arena_strdup(r->x->arena, (const char *)value);
	xmlFree(value);
	return copy;
}

static const char *required(const struct reader *r, const xmlNode *node,
                            const char *name)
{
	const char *value = attribute(r, node, name);

	if (!value)
		fail(r, E_SYNTAX, node, "<%s> has no attribute '%s'",
		     (const char *)node->name, name);
	return value;
}

/* A bandwidth (above 0) or a latency (0 or more). */
static enum status quantity(const struct reader *r, const xmlNode *node,
                            const char *name, bool rate, double *out)
{
	const char *text = required(r, node, name);
	char *end;
	double factor;

	if (!text)
		return r->error->code;
	*out = strtod(text, &end);
	while (isspace((unsigned char)*end))
		end++;
	if (end == text || !isfinite(*out) || !platform_xml_unit(&factor, end, rate))
		return fail(r, E_SYNTAX, node, "%s=\"%s\" is not a %s such as %s", name,
		            text, rate ? "bandwidth" : "time", rate ? "45GBps" : "1us");
	*out *= factor;
	if (*out < 0 || (rate && *out == 0))
		return fail(r, E_RANGE, node, "%s=\"%s\" is not above 0", name, text);
	return OK;
}

/* A plain number of a property; -1 and an error where it is not one, or below 0. */
static double prop_number(const struct reader *r, const xmlNode *node, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end != text && !*end && isfinite(value) && value >= 0)
		return value;
	fail(r, E_SYNTAX, node, "'%s' is not a number of at least 0", text);
	return -1;
}

static enum status read_prop(struct reader *r, const xmlNode *node, struct xml_props *p)
{
	const char *id = required(r, node, "id"), *value = required(r, node, "value");

	if (!id || !value)
		return r->error->code;
	if (!strcmp(id, "fabric"))
		p->fabric = value;
	else if (!strcmp(id, "domain"))
		p->domain = value;
	else if (!strcmp(id, "profile")) {
		p->profile = value;
		profile_check(value, platform_xml_where(r->x, node_place(r, node)),
		              r->error);
	} else if (!strcmp(id, "geometry"))
		p->geometry = value;
	else if (!strcmp(id, "memory_bytes"))
		p->memory_bytes = prop_number(r, node, value);
	else if (!strcmp(id, "memory_Bps"))
		p->memory_Bps = prop_number(r, node, value);
	else if (!strcmp(id, "launch_s"))
		p->launch_s = prop_number(r, node, value);
	else if (!strcmp(id, "priority")) {
		double priority = prop_number(r, node, value);

		if (priority >= 0 && (priority > 1000 || priority != floor(priority)))
			return fail(r, E_RANGE, node,
			            "the priority is a whole number up to 1000");
		p->priority = (int32_t)priority;
	}
	return r->error->code;
}

/* The properties among the children; every one that shardsim needs must be there. */
static const struct xml_props *read_props(struct reader *r, const xmlNode *node)
{
	struct xml_props *p = arena_alloc(r->x->arena, 1, sizeof(*p));
	const char *missing;

	*p = (struct xml_props){
		.priority = -1, .memory_bytes = -1, .memory_Bps = -1, .launch_s = -1};
	for (const xmlNode *c = node->children; c; c = c->next)
		if (c->type == XML_ELEMENT_NODE &&
		    !strcmp((const char *)c->name, "prop") && read_prop(r, c, p) != OK)
			return NULL;
	missing = !p->fabric            ? "fabric"
	          : !p->domain          ? "domain"
	          : p->priority < 0     ? "priority"
	          : !p->profile         ? "profile"
	          : !p->geometry        ? "geometry"
	          : p->memory_bytes < 0 ? "memory_bytes"
	          : p->memory_Bps < 0   ? "memory_Bps"
	          : p->launch_s < 0     ? "launch_s"
	                                : NULL;
	if (!missing)
		return p;
	fail(r, E_SYNTAX, node, "the hosts of <%s> have no property '%s'",
	     (const char *)node->name, missing);
	return NULL;
}

static enum status add_host(struct reader *r, const xmlNode *node, struct xml_host *host)
{
	const char *digits = host->name + strlen(host->name);
	long number;

	while (digits > host->name && isdigit((unsigned char)digits[-1]))
		digits--;
	errno = 0;
	number = strtol(digits, NULL, 10);
	if (!*digits || errno || number > INT32_MAX)
		return fail(r, E_SYNTAX, node,
		            "host '%s' does not end in the number of its device",
		            host->name);
	host->device = (int32_t)number;
	if (!platform_xml_add_host(r->x, host))
		return fail(r, E_SYNTAX, node, "host '%s' is there twice", host->name);
	return OK;
}

/* One link, or the two of a split-duplex one. */
static enum status add_link(struct reader *r, const xmlNode *node, const char *name,
                            const char *policy, struct link link)
{
	static const char *const ends[] = {"_UP", "_DOWN"};
	bool split = !strcmp(policy, "SPLITDUPLEX");

	if (!split && strcmp(policy, "SHARED") != 0)
		return fail(
			r, E_SYNTAX, node,
			"sharing_policy=\"%s\" of '%s', expected SPLITDUPLEX or SHARED",
			policy, name);
	for (int i = 0; i < (split ? 2 : 1); i++) {
		link.name =
			arena_printf(r->x->arena, "%s%s", name, split ? ends[i] : "");
		if (!platform_xml_add_link(r->x, &link))
			return fail(r, E_SYNTAX, node, "link '%s' is there twice", name);
	}
	return OK;
}

static enum status read_host(struct reader *r, const xmlNode *node)
{
	struct xml_host host = {.place = node_place(r, node), .rank = -1, .number = -1};

	host.name = required(r, node, "id");
	if (!host.name || !required(r, node, "speed"))
		return r->error->code;
	host.props = read_props(r, node);
	return host.props ? add_host(r, node, &host) : r->error->code;
}

static enum status read_link(struct reader *r, const xmlNode *node)
{
	const char *id = required(r, node, "id");
	const char *policy = attribute(r, node, "sharing_policy");
	struct link link;

	if (!id || quantity(r, node, "bandwidth", true, &link.bandwidth_Bps) != OK)
		return r->error->code;
	link.latency_s = 0;
	if (attribute(r, node, "latency") &&
	    quantity(r, node, "latency", false, &link.latency_s) != OK)
		return r->error->code;
	return add_link(r, node, id, policy ? policy : "SHARED", link);
}

struct cluster {
	const char *id, *policy, *prefix, *suffix;
	struct link link;
	const struct xml_props *props;
	int32_t n;
};

static enum status cluster_host(struct reader *r, const xmlNode *node,
                                struct cluster *c, bool flat, int32_t number)
{
	struct xml_host host = {.place = node_place(r, node),
	                        .props = c->props,
	                        .cluster = c->id,
	                        .rank = c->n++,
	                        .number = number};

	host.name =
		arena_printf(r->x->arena, "%s%d%s", c->prefix, (int)number, c->suffix);
	if (flat && add_link(r, node,
	                     arena_printf(r->x->arena, "%s_link_%d", c->id, (int)number),
	                     c->policy, c->link) != OK)
		return r->error->code;
	return add_host(r, node, &host);
}

/* "0-3,8,10-11": calls cluster_host for each number. */
static enum status read_radical(struct reader *r, const xmlNode *node,
                                struct cluster *c, bool flat)
{
	const char *radical = required(r, node, "radical"), *p = radical;

	while (p && *p) {
		char *end;
		long lo, hi;

		lo = hi = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : -1;
		if (lo >= 0 && *end == '-')
			hi = isdigit((unsigned char)end[1]) ? strtol(end + 1, &end, 10)
			                                    : -1;
		if (lo < 0 || hi < lo || hi > 10000000 || (*end && *end != ','))
			return fail(r, E_SYNTAX, node,
			            "radical=\"%s\", expected numbers such as 0-7,12",
			            radical);
		for (long i = lo; i <= hi; i++)
			if (cluster_host(r, node, c, flat, (int32_t)i) != OK)
				return r->error->code;
		p = *end ? end + 1 : end;
	}
	if (p && !c->n)
		return fail(r, E_SYNTAX, node, "the cluster has no hosts");
	return r->error->code;
}

/* The links of SimGrid's torus: one cable from each node up each dimension. */
static enum status read_torus(struct reader *r, const xmlNode *node, struct cluster *c)
{
	const char *text = required(r, node, "topo_parameters"), *p = text;
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
				arena_printf(r->x->arena, "%s_link_from_%d_to_%d",
			                     c->id, (int)i, (int)to);

			if (add_link(r, node, name, c->policy, c->link) != OK)
				return r->error->code;
		}
		stride *= size;
		p = *end ? end + 1 : end;
	}
	if (text && (*p || stride != c->n))
		return fail(r, E_RANGE, node,
		            "topo_parameters=\"%s\" is not a torus of %d hosts", text,
		            (int)c->n);
	return r->error->code;
}

static enum status read_cluster(struct reader *r, const xmlNode *node)
{
	const char *topology = attribute(r, node, "topology");
	bool flat = !topology || !strcmp(topology, "FLAT");
	struct cluster c = {.id = required(r, node, "id"),
	                    .policy = attribute(r, node, "sharing_policy"),
	                    .prefix = required(r, node, "prefix"),
	                    .suffix = required(r, node, "suffix")};

	if (!c.id || !c.prefix || !c.suffix || !required(r, node, "speed") ||
	    quantity(r, node, "bw", true, &c.link.bandwidth_Bps) != OK ||
	    quantity(r, node, "lat", false, &c.link.latency_s) != OK)
		return r->error->code;
	if (!c.policy)
		c.policy = "SPLITDUPLEX";
	c.props = read_props(r, node);
	if (!c.props || read_radical(r, node, &c, flat) != OK)
		return r->error->code;
	if (topology && !strcmp(topology, "TORUS"))
		return read_torus(r, node, &c);
	return OK;
}

/* The link that a <link_ctn> names, `back` when the route is gone the other way. */
static int32_t read_link_ctn(struct reader *r, const xmlNode *node, bool back)
{
	const char *id = required(r, node, "id");
	const char *direction = attribute(r, node, "direction"), *end = "";
	int32_t link;

	if (!id)
		return -1;
	if (direction && !strcmp(direction, "UP"))
		end = back ? "_DOWN" : "_UP";
	else if (direction && !strcmp(direction, "DOWN"))
		end = back ? "_UP" : "_DOWN";
	link = platform_xml_link(r->x, arena_printf(r->x->arena, "%s%s", id, end));
	if (link < 0)
		fail(r, E_SYNTAX, node, "there is no link '%s%s'", id, end);
	return link;
}

static enum status read_route(struct reader *r, const xmlNode *node)
{
	const char *src = required(r, node, "src"), *dst = required(r, node, "dst");
	const char *symmetrical = attribute(r, node, "symmetrical");
	bool both = !symmetrical || strcasecmp(symmetrical, "NO") != 0;
	struct xml_route route = {.nlinks = 0}, reverse;

	if (!src || !dst)
		return r->error->code;
	route.src = platform_xml_host(r->x, src);
	route.dst = platform_xml_host(r->x, dst);
	if ((route.src < 0 || route.dst < 0) && !r->routers)
		return fail(r, E_SYNTAX, node, "there is no host '%s'",
		            route.src < 0 ? src : dst);
	if (route.src < 0 || route.dst < 0)
		return OK; /* of a router: SimGrid's business */
	reverse = (struct xml_route){.src = route.dst, .dst = route.src};
	for (const xmlNode *c = node->children; c; c = c->next) {
		if (c->type != XML_ELEMENT_NODE ||
		    strcmp((const char *)c->name, "link_ctn") != 0)
			continue;
		route.last = read_link_ctn(r, c, false);
		if (both)
			reverse.first = read_link_ctn(r, c, true);
		if (r->error->code != OK)
			return r->error->code;
		if (!route.nlinks++) {
			route.first = route.last;
			reverse.last = reverse.first;
		}
	}
	reverse.nlinks = route.nlinks;
	if (!route.nlinks)
		return fail(r, E_SYNTAX, node, "the route has no links");
	if (!platform_xml_add_route(r->x, &route) ||
	    (both && route.src != route.dst && !platform_xml_add_route(r->x, &reverse)))
		return fail(r, E_SYNTAX, node,
		            "the route from '%s' to '%s' is there twice", src, dst);
	return OK;
}

static enum status read_zone(struct reader *r, const xmlNode *node);

/* One element inside a zone; what only SimGrid needs to know is passed over. */
static enum status read_element(struct reader *r, const xmlNode *node)
{
	static const char *const passed[] = {
		"prop",         "router", "zoneRoute", "bypassRoute", "bypassZoneRoute",
		"backbone",     "disk",   "config",    "host_link",   "trace",
		"trace_connect"};
	static const struct {
		const char *name;
		enum status (*read)(struct reader *r, const xmlNode *node);
	} known[] = {{"host", read_host},
	             {"link", read_link},
	             {"cluster", read_cluster},
	             {"route", read_route},
	             {"zone", read_zone}};
	const char *name = (const char *)node->name;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name, known[i].name))
			return known[i].read(r, node);
	r->routers = r->routers || !strcmp(name, "router");
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		if (!strcmp(name, passed[i]))
			return OK;
	return fail(r, E_SYNTAX, node, "<%s> is not an element of a platform", name);
}

static enum status read_zone(struct reader *r, const xmlNode *node)
{
	if (strcmp((const char *)node->name, "platform") != 0 &&
	    (!required(r, node, "id") || !required(r, node, "routing")))
		return r->error->code;
	if (++r->depth > 100)
		return fail(r, E_RANGE, node, "zones are nested more than 100 deep");
	for (const xmlNode *c = node->children; c; c = c->next)
		if (c->type == XML_ELEMENT_NODE && read_element(r, c) != OK)
			return r->error->code;
	r->depth--;
	return OK;
}

static enum status read_root(struct reader *r, const xmlDoc *doc)
{
	const xmlNode *root = xmlDocGetRootElement((xmlDoc *)doc);
	const char *version;

	if (!root || strcmp((const char *)root->name, "platform") != 0)
		return error_set(
			r->error, E_SYNTAX,
			(struct where){.file = r->x->path, .line = 1, .col = 1},
			"not a SimGrid platform, expected <platform version=\"4.1\">");
	if (!doc->intSubset)
		return fail(r, E_SYNTAX, root,
		            "expected before this, as SimGrid insists on it: "
		            "<!DOCTYPE platform SYSTEM "
		            "\"https://simgrid.org/simgrid.dtd\">");
	version = required(r, root, "version");
	if (!version)
		return r->error->code;
	if (strcmp(version, "4.1") != 0)
		return fail(r, E_SYNTAX, root, "version=\"%s\", expected 4.1", version);
	if (read_zone(r, root) != OK)
		return r->error->code;
	if (!r->x->nhosts)
		return fail(r, E_SYNTAX, root, "the platform has no hosts");
	return OK;
}

enum status platform_xml_read(struct platform_xml *out, struct arena *a,
                              const char *path, const char *text, size_t length,
                              struct error *e)
{
	const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
	                    XML_PARSE_BIG_LINES;
	struct error local = {0};
	struct reader r = {.x = out, .error = e ? e : &local};
	struct where at = {.file = path, .line = 1, .col = 1};
	xmlParserCtxt *parser;
	xmlDoc *doc = NULL;

	*out = (struct platform_xml){
		.arena = a, .path = path, .text = text, .length = length};
	if (!length || length > INT_MAX)
		return error_set(e, E_SYNTAX, at, "the file is %s",
		                 length ? "too large" : "empty");
	parser = xmlNewParserCtxt();
	if (parser)
		doc = xmlCtxtReadMemory(parser, text, (int)length, path, NULL, options);
	if (!doc) {
		const xmlError *fault = parser ? &parser->lastError : NULL;
		const char *why = fault && fault->message ? fault->message : "not XML";

		if (fault && fault->line > 0) {
			at.line = (unsigned)fault->line;
			at.col = (unsigned)fault->int2;
		}
		error_set(r.error, E_SYNTAX, at, "%.*s", (int)strcspn(why, "\n"), why);
	} else {
		read_root(&r, doc);
	}
	xmlFreeDoc(doc);
	xmlFreeParserCtxt(parser);
	return r.error->code;
}
