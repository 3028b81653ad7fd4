#include "platform/topology_kinds.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct topology {
	const struct fat_tree *tree; /* one of the two */
	const struct dragonfly *fly;
};

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
	d.up = k->x->nlinks;
	link.name = k->cable.split ? arena_printf(k->x->arena, "%s_UP", name) : name;
	if (!platform_xml_add_link(k->x, &link))
		error_set(k->error, E_SYNTAX, k->at, "link '%s' is there twice",
		          link.name);
	d.down = d.up;
	if (!k->cable.split)
		return d;
	d.down = k->x->nlinks;
	link.name = arena_printf(k->x->arena, "%s_DOWN", name);
	if (!platform_xml_add_link(k->x, &link))
		error_set(k->error, E_SYNTAX, k->at, "link '%s' is there twice",
		          link.name);
	return d;
}

enum status topology_make(const struct topology **out, struct platform_xml *x,
                          const char *kind, const char *parameters, int32_t nhosts,
                          struct cable cable, struct where at, struct error *e)
{
	struct topology_maker k = {x, parameters, nhosts, cable, at, e};
	struct topology *t = arena_alloc(x->arena, 1, sizeof(*t));

	*out = NULL;
	if (!strcmp(kind, "FAT_TREE"))
		t->tree = fat_tree_make(&k);
	else if (!strcmp(kind, "DRAGONFLY"))
		t->fly = dragonfly_make(&k);
	else
		return OK;
	if (e->code == OK)
		*out = t;
	return e->code;
}

int topology_route(const struct topology *t, int32_t src, int32_t dst, int32_t *links,
                   int capacity)
{
	if (src == dst)
		return 0;
	return t->tree ? fat_tree_route(t->tree, src, dst, links, capacity)
	               : dragonfly_route(t->fly, src, dst, links, capacity);
}

int32_t topology_ends(const struct topology *t, int32_t rank, bool to, int32_t *links)
{
	int32_t n;
	const struct duplex *d = t->tree ? fat_tree_ends(&n, t->tree, rank)
	                                 : dragonfly_ends(&n, t->fly, rank);

	for (int32_t i = 0; i < n && links; i++)
		links[i] = to ? d[i].down : d[i].up;
	return n;
}
