/*
 * What a platform file says, read with libxml2 before SimGrid sees it, because SimGrid
 * ends the process on a fault: hosts with their properties, links under the names
 * SimGrid gives them, and the routes written out. Private to sim/platform*.c.
 *
 * Clusters are unfolded as SimGrid does it: flat ones to `<id>_link_<number>_UP` and
 * `_DOWN`, tori to `<id>_link_from_<rank>_to_<rank>_UP` and `_DOWN`. The links of other
 * topologies (fat tree, dragonfly) are known to SimGrid only.
 */
#ifndef SHARDSIM_SIM_PLATFORM_XML_H
#define SHARDSIM_SIM_PLATFORM_XML_H

#include "array/machine.h"
#include "base/error.h"

/*
 * The place of an element; columns are looked up in the text when an error needs them.
 */
struct xml_place {
	const char *element;
	unsigned line;
};

/* Properties of a host; NULL or < 0 where one is not there. */
struct xml_props {
	const char *fabric, *domain, *profile, *geometry;
	int32_t priority;
	double memory_bytes, memory_Bps, launch_s;
};

struct xml_host {
	const char *name;
	int32_t device; /* the number the name ends in */
	const struct xml_props *props;
	struct xml_place place;
	const char *cluster; /* id of the cluster it is in, NULL outside */
	int32_t rank;        /* in the cluster */
	int32_t number;      /* its number in the cluster's radical */
};

/* A route written out: its first and last link, and how many there are. */
struct xml_route {
	int32_t src, dst; /* hosts */
	int32_t first, last, nlinks;
};

/* Names or pairs to numbers; open addressing, -1 for free. */
struct xml_index {
	int32_t *slot;
	size_t size, used;
};

struct platform_xml {
	struct arena *arena;
	const char *path, *text;
	size_t length;
	int32_t nhosts, nlinks, nroutes;
	int32_t hosts_capacity, links_capacity, routes_capacity;
	struct xml_host *host;
	struct link *link;
	struct xml_route *route;
	struct xml_index host_index, link_index, route_index;
};

/*
 * Reads `length` bytes of text (which the arena must outlive) named `path` in errors:
 * not well-formed, not a platform, an element or unit that is not known, a name there
 * twice, a host without properties or number.
 */
enum status platform_xml_read(struct platform_xml *out, struct arena *a,
                              const char *path, const char *text, size_t length,
                              struct error *e);

struct where platform_xml_where(const struct platform_xml *x, struct xml_place place);

/* The number of the link or host of that name, -1 if there is none. */
int32_t platform_xml_link(const struct platform_xml *x, const char *name);
int32_t platform_xml_host(const struct platform_xml *x, const char *name);

/* The route written out from host to host, NULL if there is none. */
const struct xml_route *platform_xml_route(const struct platform_xml *x, int32_t src,
                                           int32_t dst);

/*
 * The one link from host to host: the neighbours in a cluster torus, or a route of one
 * link. -1 if there is none.
 */
int32_t platform_xml_hop(const struct platform_xml *x, int32_t src, int32_t dst);

/* Adding; false, and nothing changed, if one of that name or pair is there. */
bool platform_xml_add_host(struct platform_xml *x, const struct xml_host *host);
bool platform_xml_add_link(struct platform_xml *x, const struct link *link);
bool platform_xml_add_route(struct platform_xml *x, const struct xml_route *route);

/*
 * What one of SimGrid's units stands for: bytes (Bps) or bits (bps) with a prefix of
 * 1000 or, with i, of 1024; else times. No unit: bytes per second, seconds. False if
 * unknown.
 */
bool platform_xml_unit(double *out, const char *unit, bool rate);

/*
 * The machine that the file describes, named `name`: devices, fabrics, geometry and
 * ports. `host_of[fabric * ndevices + device]` is the host of a device on a fabric, -1
 * without one. Errors: devices not numbered 0 to n - 1 or there twice, properties that
 * contradict each other, a geometry that the hosts and links do not have.
 */
enum status platform_xml_machine(struct machine **out, const int32_t **host_of,
                                 const struct platform_xml *x, const char *name,
                                 struct error *e);

#endif
