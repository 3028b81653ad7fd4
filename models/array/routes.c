#include "array/routes.h"

#include "base/arena.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/*
 * Above so many devices, or links in all routes, no more is remembered: the tables would
 * not fit a processor's cache, and to find a route on a plain torus takes as long.
 */
enum { DEVICES_MAX = 512, LINKS_MAX = 1 << 21 };

struct route {
	int32_t first, n; /* n links from `first` on; n is 0: not known */
};

struct routes {
	const struct machine *machine;
	struct route *route[MACHINE_FABRICS_MAX]; /* [ndevices * ndevices]; or NULL */
	LIST(int32_t) links;            /* of all routes that are remembered */
	int32_t other[ROUTE_LINKS_MAX]; /* of one that is not */
};

struct routes *routes_new(const struct machine *m)
{
	struct routes *r = xmalloc(1, sizeof(*r));

	*r = (struct routes){.machine = m};
	return r;
}

void routes_free(struct routes *r)
{
	if (!r)
		return;
	for (int f = 0; f < MACHINE_FABRICS_MAX; f++)
		xfree(r->route[f]);
	xfree(r->links.at);
	xfree(r);
}

/*
 * Returns whether routes of the fabric are worth remembering. Those of a switch are
 * told at once.
 */
static bool remembers(const struct routes *r, int fabric)
{
	return r->machine->ndevices <= DEVICES_MAX &&
	       r->machine->fabric[fabric].geometry != GEOMETRY_SWITCH;
}

static struct route *table_of(struct routes *r, int fabric)
{
	size_t n = (size_t)r->machine->ndevices;

	if (!r->route[fabric]) {
		r->route[fabric] = xmalloc(n * n, sizeof(struct route));
		memset(r->route[fabric], 0, n * n * sizeof(struct route));
	}
	return r->route[fabric];
}

static void remember(struct routes *r, struct route *route, int n)
{
	if (n > LINKS_MAX - r->links.n)
		return;
	list_reserve(&r->links, NULL, n);
	memcpy(r->links.at + r->links.n, r->other, (size_t)n * sizeof(*r->other));
	*route = (struct route){(int32_t)r->links.n, n};
	r->links.n += n;
}

const int32_t *routes_find(int *n, struct routes *r, int fabric, int32_t src,
                           int32_t dst)
{
	struct route *route = NULL;

	if (remembers(r, fabric)) {
		route = table_of(r, fabric) +
		        (size_t)src * (size_t)r->machine->ndevices + dst;
		*n = route->n;
		if (route->n > 0)
			return r->links.at + route->first;
	}
	*n = machine_route(r->machine, fabric, src, dst, r->other, ROUTE_LINKS_MAX);
	if (route && *n > 0)
		remember(r, route, *n);
	return r->other;
}
