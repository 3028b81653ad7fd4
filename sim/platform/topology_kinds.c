#include "platform/topology_kinds.h"

#include <ctype.h>
#include <stdlib.h>

enum status topology_refuse(const struct topology_maker *k, const char *why)
{
	return error_set(k->error, E_RANGE, k->at, "topo_parameters=\"%s\" %s",
	                 k->parameters, why);
}

bool topology_numbers(const char **text, int32_t *number, int n)
{
	const char *p = *text;

	for (int i = 0; i < n; i++) {
		char *end;
		long value = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : 0;

		if (value < 1 || value > TOPOLOGY_LINKS_MAX)
			return false;
		number[i] = (int32_t)value;
		p = end;
		if (i < n - 1 && *p++ != ',')
			return false;
	}
	if (*p && *p++ != ';')
		return false;
	*text = p;
	return true;
}

struct duplex topology_cable(const struct topology_maker *k, const char *name,
                             int32_t wide)
{
	struct link link = k->cable.link;
	struct duplex d;

	link.bandwidth_Bps *= wide;
	d.up = k->xml->nlinks;
	link.name = k->cable.split ? arena_printf(k->xml->arena, "%s_UP", name) : name;
	if (!platform_xml_add_link(k->xml, &link))
		error_set(k->error, E_SYNTAX, k->at, "link '%s' is there twice",
		          link.name);
	d.down = d.up;
	if (!k->cable.split)
		return d;
	d.down = k->xml->nlinks;
	link.name = arena_printf(k->xml->arena, "%s_DOWN", name);
	if (!platform_xml_add_link(k->xml, &link))
		error_set(k->error, E_SYNTAX, k->at, "link '%s' is there twice",
		          link.name);
	return d;
}
