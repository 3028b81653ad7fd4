/*
 * Files without our properties, as other SimGrid programs have them: what is assumed of
 * their hosts. They are one fabric, devices in the order of the file.
 */
#include "platform/reader.h"

#include <stdlib.h>
#include <string.h>

/*
 * Returns "torus 4x3 wrap 11" for the "3,1,4" of a cluster, whose first axis is the
 * fastest. An axis of two has two cables in SimGrid's torus and one in ours: then, and
 * with too many axes, NULL.
 */
static const char *torus_geometry(struct arena *a, const char *parameters)
{
	int32_t size[TORUS_AXES_MAX];
	struct text out = {0};
	int n = 0;

	for (const char *p = parameters; *p; p += *p == ',') {
		char *end;
		long length = strtol(p, &end, 10);

		if (end == p || length == 2 || (length > 2 && n == TORUS_AXES_MAX))
			return NULL;
		if (length > 2)
			size[n++] = (int32_t)length;
		p = end;
	}
	if (!n)
		return NULL;
	text_printf(&out, "torus");
	for (int i = n - 1; i >= 0; i--)
		text_printf(&out, "%c%d", i == n - 1 ? ' ' : 'x', (int)size[i]);
	text_printf(&out, " wrap ");
	while (n--)
		text_printf(&out, "1");
	return text_take(&out, a);
}

void reader_plain_cluster(struct reader *r, const xmlNode *node)
{
	const char *topology = reader_attribute(r, node, "topology");
	const char *parameters = reader_attribute(r, node, "topo_parameters");
	const char *geometry = NULL;

	if (r->xml->bypassed)
		return;
	if (!topology || !strcmp(topology, "FLAT"))
		geometry = "switch";
	else if (!strcmp(topology, "TORUS") && parameters)
		geometry = torus_geometry(r->xml->arena, parameters);
	if (geometry)
		r->plain->geometry = geometry;
}

void reader_plain_end(struct reader *r)
{
	struct platform_xml *xml = r->xml;

	if (!r->plain)
		return;
	if (r->nplain > 1)
		r->plain->geometry = "graph";
	xml->note = arena_printf(xml->arena,
	                         "no host has properties of shardsim: taken as %d "
	                         "devices in the order of the "
	                         "file, on one fabric, profile plain, no launch, "
	                         "memory unknown, local work free",
	                         (int)xml->nhosts);
}

enum status reader_no_fatpipe(struct reader *r, const xmlNode *route)
{
	const char *src = reader_attribute(r, route, "src");
	const char *dst = reader_attribute(r, route, "dst");

	if (src && dst && !strcmp(src, dst))
		return OK;
	for (const xmlNode *c = route->children; c && r->fatpipe.n; c = c->next) {
		const char *id = c->type == XML_ELEMENT_NODE
		                         ? reader_attribute(r, c, "id")
		                         : NULL;

		for (int64_t i = 0; id && i < r->fatpipe.n; i++)
			if (!strcmp(r->fatpipe.at[i], id))
				return reader_fail(
					r, E_TYPE, c,
					"link '%s' is a FATPIPE, which nobody "
					"shares, expected SHARED or SPLITDUPLEX "
					"between hosts",
					id);
	}
	return OK;
}
