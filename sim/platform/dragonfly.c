#include "platform/topology_kinds.h"

#include <string.h>

enum { HOPS_MAX = 7 }; /* local, green, black, blue, green, black, local */

struct dragonfly {
	int32_t groups, chassis, blades, nodes;
	int32_t wide[3];      /* links in one cable: blue, black, green */
	struct duplex *local; /* [router * nodes + node], up from the node */
	/*
	 * Links from a router, green by the blade of the other, black by its chassis.
	 */
	int32_t *green, *black;
	int32_t *blue; /* [router], -1 without one */
};

static int32_t routers(const struct dragonfly *f)
{
	return f->groups * f->chassis * f->blades;
}

static void fly_local(const struct topology_maker *k, struct dragonfly *f)
{
	f->local = arena_alloc(k->xml->arena, (size_t)k->nhosts, sizeof(*f->local));
	for (int32_t i = 0; i < k->nhosts; i++)
		f->local[i] = topology_cable(
			k,
			arena_printf(k->xml->arena,
		                     "local_link_from_router_%d_to_"
		                     "node_%d_%d",
		                     (int)(i / f->nodes), (int)(i % f->nodes),
		                     (int)k->xml->dragonfly_links++),
			1);
}

static void fly_green(const struct topology_maker *k, struct dragonfly *f)
{
	int32_t b = f->blades;

	f->green = arena_alloc(k->xml->arena, (size_t)routers(f) * (size_t)b,
	                       sizeof(*f->green));
	for (int32_t c = 0; c < f->groups * f->chassis; c++)
		for (int32_t i = 0; i < b; i++)
			for (int32_t j = i + 1; j < b; j++) {
				const char *name = arena_printf(
					k->xml->arena,
					"green_link_in_chassis_%d_between_routers_%d_"
					"and_%d_%d",
					(int)(c % f->chassis), (int)i, (int)j,
					(int)k->xml->dragonfly_links++);
				struct duplex d = topology_cable(k, name, f->wide[2]);

				f->green[((int64_t)c * b + i) * b + j] = d.up;
				f->green[((int64_t)c * b + j) * b + i] = d.down;
			}
}

static void fly_black(const struct topology_maker *k, struct dragonfly *f)
{
	int32_t b = f->blades, c = f->chassis;

	f->black = arena_alloc(k->xml->arena, (size_t)routers(f) * (size_t)c,
	                       sizeof(*f->black));
	for (int32_t g = 0; g < f->groups; g++)
		for (int32_t pair = 0; pair < c * c; pair++)
			for (int32_t l = 0; l < b; l++) {
				int32_t i = pair / c, j = pair % c;
				const char *name;
				struct duplex d;

				if (i >= j)
					continue;
				name = arena_printf(
					k->xml->arena,
					"black_link_in_group_%d_between_chassis_%d_and_"
					"%d_blade_%d_%d",
					(int)g, (int)i, (int)j, (int)l,
					(int)k->xml->dragonfly_links++);
				d = topology_cable(k, name, f->wide[1]);
				f->black[(((int64_t)g * c + i) * b + l) * c + j] = d.up;
				f->black[(((int64_t)g * c + j) * b + l) * c + i] =
					d.down;
			}
}

static void fly_blue(const struct topology_maker *k, struct dragonfly *f)
{
	int32_t group = f->chassis * f->blades;

	f->blue = arena_alloc(k->xml->arena, (size_t)routers(f), sizeof(*f->blue));
	memset(f->blue, -1, (size_t)routers(f) * sizeof(*f->blue));
	for (int32_t i = 0; i < f->groups; i++)
		for (int32_t j = i + 1; j < f->groups; j++) {
			int32_t from = i * group + j, to = j * group + i;
			const char *name =
				arena_printf(k->xml->arena,
			                     "blue_link_between_group_%d_and_%d_"
			                     "routers_%d_and_%d_%d",
			                     (int)i, (int)j, (int)from, (int)to,
			                     (int)k->xml->dragonfly_links++);
			struct duplex d = topology_cable(k, name, f->wide[0]);

			f->blue[from] = d.up;
			f->blue[to] = d.down;
		}
}

/* Returns false if it has more hosts or links than we can have. */
static bool fly_size(const struct dragonfly *f)
{
	int64_t n = (int64_t)f->groups * f->chassis;

	return f->chassis < 30000 && f->groups <= TOPOLOGY_LINKS_MAX / f->groups &&
	       n <= TOPOLOGY_LINKS_MAX / f->blades &&
	       n * f->blades <= TOPOLOGY_LINKS_MAX /
	                                (f->nodes > f->blades ? f->nodes : f->blades) &&
	       n * f->blades <= TOPOLOGY_LINKS_MAX / f->chassis;
}

static const struct dragonfly *fault(const struct topology_maker *k, const char *why)
{
	topology_refuse(k, why);
	return NULL;
}

const struct dragonfly *dragonfly_make(const struct topology_maker *k)
{
	struct dragonfly *f = arena_alloc(k->xml->arena, 1, sizeof(*f));
	const char *p = k->parameters;
	int32_t pair[3][2];

	if (!topology_numbers(&p, pair[0], 2) || !topology_numbers(&p, pair[1], 2) ||
	    !topology_numbers(&p, pair[2], 2) || !topology_numbers(&p, &f->nodes, 1) ||
	    *p)
		return fault(k, "is no dragonfly, expected such as 3,4;2,3;6,2;4");
	for (int i = 0; i < 3; i++)
		f->wide[i] = pair[i][1];
	f->groups = pair[0][0];
	f->chassis = pair[1][0];
	f->blades = pair[2][0];
	if (!fly_size(f))
		return fault(k, "is too large");
	if (routers(f) * f->nodes != k->nhosts) {
		error_set(
			k->error, E_RANGE, k->at,
			"topo_parameters=\"%s\" is a dragonfly of %d hosts, not of %d",
			k->parameters, (int)(routers(f) * f->nodes), (int)k->nhosts);
		return NULL;
	}
	if (f->groups > f->blades)
		return fault(k, "has more groups than blades in a chassis, by which "
		                "SimGrid goes to them");
	fly_local(k, f);
	fly_green(k, f);
	fly_black(k, f);
	fly_blue(k, f);
	return f;
}

/* Where a route has got to. */
struct walk {
	int32_t group, chassis, blade;
};

static int32_t router_at(const struct dragonfly *f, struct walk at)
{
	return (at.group * f->chassis + at.chassis) * f->blades + at.blade;
}

static struct walk walk_from(const struct dragonfly *f, int32_t host)
{
	int32_t router = host / f->nodes;

	return (struct walk){router / f->blades / f->chassis,
	                     router / f->blades % f->chassis, router % f->blades};
}

/* Stores the links of a route, HOPS_MAX at most, and returns how many they are. */
static int fly_route(const struct dragonfly *f, int32_t src, int32_t dst, int32_t *links)
{
	struct walk at = walk_from(f, src), to = walk_from(f, dst);
	int n = 0;

	links[n++] = f->local[src].up;
	if (router_at(f, at) == router_at(f, to)) {
		links[n++] = f->local[dst].down;
		return n;
	}
	if (at.group != to.group) {
		if (at.blade != to.group)
			links[n++] =
				f->green[(int64_t)router_at(f, at) * f->blades + to.group];
		at.blade = to.group;
		if (at.chassis != 0)
			links[n++] = f->black[(int64_t)router_at(f, at) * f->chassis];
		at.chassis = 0;
		links[n++] = f->blue[router_at(f, at)];
		at = (struct walk){to.group, 0, at.group};
	}
	if (at.blade != to.blade) {
		links[n++] = f->green[(int64_t)router_at(f, at) * f->blades + to.blade];
		at.blade = to.blade;
		at.chassis = 0; /* so SimGrid believes */
	}
	if (at.chassis != to.chassis)
		links[n++] =
			f->black[(int64_t)router_at(f, at) * f->chassis + to.chassis];
	links[n++] = f->local[dst].down;
	return n;
}

int dragonfly_route(const struct dragonfly *f, int32_t src, int32_t dst, int32_t *links,
                    int capacity)
{
	int32_t hop[HOPS_MAX];
	int n = fly_route(f, src, dst, hop);

	if (n > capacity)
		return -1;
	memcpy(links, hop, (size_t)n * sizeof(*links));
	return n;
}

const struct duplex *dragonfly_ends(int32_t *n, const struct dragonfly *f, int32_t rank)
{
	*n = 1;
	return &f->local[rank];
}
