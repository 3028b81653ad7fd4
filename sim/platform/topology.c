#include "platform/topology_kinds.h"

#include <string.h>

struct topology {
	const struct fat_tree *tree; /* one of the two, the other is NULL */
	const struct dragonfly *fly;
};

enum status topology_make(const struct topology **out, struct platform_xml *xml,
                          const char *kind, const char *parameters, int32_t nhosts,
                          struct cable cable, struct where at, struct error *e)
{
	struct topology_maker k = {xml, parameters, nhosts, cable, at, e};
	struct topology *t = arena_alloc(xml->arena, 1, sizeof(*t));

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
