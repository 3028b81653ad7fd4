#include "platform/reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static enum status read_host(struct reader *r, const xmlNode *node)
{
	struct xml_host host = {.place = reader_place(r, node),
	                        .rank = -1,
	                        .number = -1,
	                        .up = -1,
	                        .down = -1,
	                        .zone = r->zone[r->depth]};

	host.name = reader_required(r, node, "id");
	if (!host.name || reader_steady(r, node) != OK ||
	    !reader_required(r, node, "speed"))
		return r->error->code;
	host.props = reader_props(r, node);
	return host.props ? reader_add_host(r, node, &host) : r->error->code;
}

static enum status read_link(struct reader *r, const xmlNode *node)
{
	const char *id = reader_required(r, node, "id");
	const char *policy = reader_attribute(r, node, "sharing_policy");
	struct link link;

	if (!id || reader_steady(r, node) != OK ||
	    reader_quantity(r, node, "bandwidth", true, &link.bandwidth_Bps) != OK)
		return r->error->code;
	link.latency_s = 0;
	if (reader_attribute(r, node, "latency") &&
	    reader_quantity(r, node, "latency", false, &link.latency_s) != OK)
		return r->error->code;
	if (policy && !strcmp(policy, "FATPIPE")) {
		*list_add(&r->fatpipe, r->xml->arena) = id;
		return OK;
	}
	return reader_add_link(r, node, id, policy ? policy : "SHARED", link);
}

/*
 * Returns the link that a <link_ctn> names, `back` when the route is gone the other
 * way.
 */
static int32_t read_link_ctn(struct reader *r, const xmlNode *node, bool back)
{
	const char *id = reader_peek(r, node, "id"), *end = "";
	const char *direction = reader_peek(r, node, "direction");
	char name[256];
	int32_t link;

	if (!id) {
		reader_required(r, node, "id");
		return -1;
	}
	if (direction && !strcmp(direction, "UP"))
		end = back ? "_DOWN" : "_UP";
	else if (direction && !strcmp(direction, "DOWN"))
		end = back ? "_UP" : "_DOWN";
	if (*end && snprintf(name, sizeof(name), "%s%s", id, end) < (int)sizeof(name))
		link = platform_xml_link(r->xml, name);
	else
		link = platform_xml_link(
			r->xml,
			*end ? arena_printf(r->xml->arena, "%s%s", id, end) : id);
	if (link < 0)
		reader_fail(r, E_SYNTAX, node, "there is no link '%s%s'", id, end);
	return link;
}

static bool is_link_ctn(const xmlNode *c)
{
	return c->type == XML_ELEMENT_NODE &&
	       !strcmp((const char *)c->name, "link_ctn");
}

/* Adds the links of a route, or of its way back, and the route. */
static enum status route_links(struct reader *r, const xmlNode *node, int32_t src,
                               int32_t dst, bool back)
{
	int n = 0;

	for (const xmlNode *c = back ? node->last : node->children; c;
	     c = back ? c->prev : c->next) {
		int32_t link = is_link_ctn(c) ? read_link_ctn(r, c, back) : -1;

		if (r->error->code != OK)
			return r->error->code;
		if (link < 0)
			continue;
		if (++n > ROUTE_LINKS_MAX)
			return reader_fail(r, E_RANGE, node,
			                   "the route has more than %d links",
			                   (int)ROUTE_LINKS_MAX);
		platform_xml_add_route_link(r->xml, link);
	}
	if (!n)
		return reader_fail(r, E_SYNTAX, node, "the route has no links");
	if (!platform_xml_add_route(r->xml, src, dst))
		return reader_fail(r, E_SYNTAX, node,
		                   "the route from '%s' to '%s' is there twice",
		                   r->xml->host[back ? dst : src].name,
		                   r->xml->host[back ? src : dst].name);
	return OK;
}

static enum status read_route(struct reader *r, const xmlNode *node)
{
	const char *src = reader_peek(r, node, "src"),
		   *dst = reader_peek(r, node, "dst");
	const char *symmetrical = reader_peek(r, node, "symmetrical");
	bool both = !symmetrical || strcasecmp(symmetrical, "NO") != 0;
	int32_t from, to;

	if (!src || !dst) {
		reader_required(r, node, src ? "dst" : "src");
		return r->error->code;
	}
	from = platform_xml_host(r->xml, src);
	to = platform_xml_host(r->xml, dst);
	if ((from < 0 || to < 0) && !r->routers)
		return reader_fail(r, E_SYNTAX, node, "there is no host '%s'",
		                   from < 0 ? src : dst);
	if (reader_no_fatpipe(r, node) != OK)
		return r->error->code;
	if (from < 0 || to < 0 || (from == to && r->fatpipe.n))
		return OK; /* of a router or to itself: SimGrid's business */
	if (route_links(r, node, from, to, false) == OK && both && from != to)
		route_links(r, node, to, from, true);
	return r->error->code;
}

/* Reads one element inside a zone; what only SimGrid needs to know is passed over. */
static enum status read_element(struct reader *r, const xmlNode *node)
{
	static const char *const passed[] = {
		"prop",     "router", "zoneRoute", "bypassRoute", "bypassZoneRoute",
		"backbone", "disk",   "config",    "host_link"};
	static const struct {
		const char *name;
		enum status (*read)(struct reader *r, const xmlNode *node);
	} known[] = {{"host", read_host},
	             {"link", read_link},
	             {"cluster", reader_cluster},
	             {"cabinet", reader_cabinet},
	             {"route", read_route}};
	const char *name = (const char *)node->name;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name, known[i].name))
			return known[i].read(r, node);
	r->routers = r->routers || !strcmp(name, "router");
	r->xml->bypassed = r->xml->bypassed || !strcmp(name, "bypassRoute");
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		if (!strcmp(name, passed[i]))
			return reader_no_fatpipe(r, node);
	return reader_fail(r, E_SYNTAX, node,
	                   "<%s> is not an element of a platform that is read here",
	                   name);
}

static enum status open_zone(struct reader *r, const xmlNode *node)
{
	const char *routing = NULL;

	if (strcmp((const char *)node->name, "platform") != 0 &&
	    (!reader_required(r, node, "id") ||
	     !(routing = reader_required(r, node, "routing"))))
		return r->error->code;
	if (++r->depth > ZONES_DEPTH_MAX)
		return reader_fail(r, E_RANGE, node,
		                   "zones are nested more than %d deep",
		                   (int)ZONES_DEPTH_MAX);
	r->nzones++;
	r->zone[r->depth] = routing && !strcmp(routing, "Full") ? r->nzones : -1;
	return OK;
}

static enum status open_root(struct reader *r, const xmlNode *root)
{
	const xmlDoc *doc = xmlTextReaderCurrentDoc(r->stream);
	const char *version;

	if (strcmp((const char *)root->name, "platform") != 0)
		return error_set(
			r->error, E_SYNTAX,
			(struct where){.file = r->xml->path, .line = 1, .col = 1},
			"not a SimGrid platform, expected <platform version=\"4.1\">");
	if (!doc || !doc->intSubset)
		return reader_fail(r, E_SYNTAX, root,
		                   "expected before this, as SimGrid insists on it: "
		                   "<!DOCTYPE platform SYSTEM "
		                   "\"https://simgrid.org/simgrid.dtd\">");
	version = reader_required(r, root, "version");
	if (!version)
		return r->error->code;
	if (strcmp(version, "4.1") != 0)
		return reader_fail(r, E_SYNTAX, root, "version=\"%s\", expected 4.1",
		                   version);
	return open_zone(r, root);
}

/*
 * Reads the node that the stream is at: it enters a zone, and reads any other element
 * whole and goes behind it. Returns as xmlTextReaderRead() does: 1, 0 at the end, or -1
 * on an error of the XML.
 */
static int read_node(struct reader *r)
{
	int type = xmlTextReaderNodeType(r->stream);
	const xmlNode *node = xmlTextReaderCurrentNode(r->stream);
	bool empty = xmlTextReaderIsEmptyElement(r->stream) == 1;

	if (type == XML_READER_TYPE_END_ELEMENT)
		r->depth--;
	if (type != XML_READER_TYPE_ELEMENT)
		return xmlTextReaderRead(r->stream);
	if (r->depth == 0 || !strcmp((const char *)node->name, "zone")) {
		if ((r->depth ? open_zone(r, node) : open_root(r, node)) == OK && empty)
			r->depth--;
		return xmlTextReaderRead(r->stream);
	}
	node = xmlTextReaderExpand(r->stream);
	if (!node)
		return -1;
	read_element(r, node);
	return xmlTextReaderNext(r->stream);
}

/* The first thing that was wrong with the XML. */
struct fault {
	int code, line, col; /* code 0: nothing */
	char why[160];
};

static void note_fault(void *data, xmlError *e)
{
	struct fault *f = data;
	const char *why = e->message ? e->message : "not XML";

	if (e->level < XML_ERR_ERROR || f->code)
		return;
	*f = (struct fault){.code = e->code, .line = e->line, .col = e->int2};
	snprintf(f->why, sizeof(f->why), "%.*s", (int)strcspn(why, "\n"), why);
}

/*
 * Returns what is wrong in words; libxml2 has one message for several faults of a
 * stream.
 */
static const char *fault_text(const struct fault *f, struct reader *r)
{
	if (!r->depth && !r->nzones)
		return "Start tag expected, '<' not found";
	if (!f->code || (f->code == XML_ERR_DOCUMENT_END && r->depth))
		return "the file ends where an element is still open";
	return f->why;
}

static void read_stream(struct reader *r)
{
	const struct platform_xml *xml = r->xml;
	struct where at = {.file = xml->path, .line = 1, .col = 1};
	struct fault fault = {0};
	int more = -1;

	xmlTextReaderSetStructuredErrorHandler(r->stream, note_fault, &fault);
	more = xmlTextReaderRead(r->stream);
	while (more == 1 && r->error->code == OK)
		more = read_node(r);
	if (r->error->code != OK)
		return;
	if (more < 0 && fault.line > 0) {
		at.line = (unsigned)fault.line;
		at.col = (unsigned)fault.col;
	}
	if (more < 0)
		error_set(r->error, E_SYNTAX, at, "%s", fault_text(&fault, r));
	else if (!xml->nhosts)
		error_set(r->error, E_SYNTAX, at, "the platform has no hosts");
}

/* Returns the text behind the first `end`, or the end of the text. */
static const char *behind(const char *p, const char *stop, const char *end)
{
	const char *found = memmem(p, (size_t)(stop - p), end, strlen(end));

	return found ? found + strlen(end) : stop;
}

/*
 * Returns where the DOCTYPE begins to declare something of its own, NULL if it does not. Only
 * comments and instructions may stand before it.
 */
static const char *own_declarations(const char *p, const char *stop)
{
	static const char doctype[] = "<!DOCTYPE", mark[] = "\xef\xbb\xbf";

	if (stop - p > 3 && !memcmp(p, mark, 3))
		p += 3;
	for (;;) {
		while (p < stop && strchr(" \t\r\n", *p) && *p)
			p++;
		if (stop - p > 4 && !memcmp(p, "<!--", 4))
			p = behind(p + 4, stop, "-->");
		else if (stop - p > 2 && !memcmp(p, "<?", 2))
			p = behind(p + 2, stop, "?>");
		else
			break;
	}
	if (stop - p < (long)strlen(doctype) || memcmp(p, doctype, strlen(doctype)) != 0)
		return NULL;
	for (; p < stop && *p != '>'; p++) {
		const char quote[] = {*p, '\0'};

		if (*p == '[')
			return p;
		if (*p == '"' || *p == '\'')
			p = behind(p + 1, stop, quote) - 1;
	}
	return NULL;
}

/*
 * Refuses what would let a short file take long: entities, which SimGrid's files do not
 * need, and encodings in which they would not be seen.
 */
static enum status check_prolog(const struct platform_xml *xml, struct error *e)
{
	struct where at = {.file = xml->path, .line = 1, .col = 1};
	const char *stop = xml->text + xml->length;
	const char *own = own_declarations(xml->text, stop);

	if (memchr(xml->text, '\0', xml->length < 4 ? xml->length : 4))
		return error_set(e, E_SYNTAX, at, "UTF-16 or UTF-32, expected UTF-8");
	if (!own)
		return OK;
	for (const char *p = xml->text; p < own; p++, at.col++)
		if (*p == '\n') {
			at.line++;
			at.col = 0;
		}
	return error_set(e, E_SYNTAX, at,
	                 "the DOCTYPE declares something of its own, such as entities, "
	                 "which platform files cannot have");
}

enum status platform_xml_read(struct platform_xml *out, struct arena *a,
                              const char *path, const char *text, size_t length,
                              bool brief, struct error *e)
{
	const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
	                    XML_PARSE_BIG_LINES;
	struct error local = {0};
	struct reader r = {.xml = out, .brief = brief, .error = e ? e : &local};
	struct where at = {.file = path, .line = 1, .col = 1};
	xmlDoc *doc;

	*out = (struct platform_xml){.arena = a,
	                             .path = path,
	                             .text = text,
	                             .length = length,
	                             .hosts_by_name = {.arena = a},
	                             .links_by_name = {.arena = a},
	                             .routes_by_ends = {.arena = a}};
	if (!length || length > INT_MAX)
		return error_set(e, E_SYNTAX, at, "the file is %s",
		                 length ? "too large" : "empty");
	if (check_prolog(out, r.error) != OK)
		return r.error->code;
	r.stream = xmlReaderForMemory(text, (int)length, path, NULL, options);
	if (!r.stream)
		return error_set(r.error, E_SYNTAX, at, "not XML");
	read_stream(&r);
	reader_plain_end(&r);
	/* Asking for the document makes it ours to free. */
	doc = xmlTextReaderCurrentDoc(r.stream);
	xmlFreeTextReader(r.stream);
	xmlFreeDoc(doc);
	return r.error->code;
}
