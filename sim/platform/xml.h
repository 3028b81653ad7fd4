/*
 * What a platform file says, read with libxml2 before SimGrid sees it, because SimGrid
 * ends the process on a fault: hosts with their properties, links under the names
 * SimGrid gives them, and the routes written out. Private to sim/platform/.
 *
 * Clusters are unfolded as SimGrid does it: flat ones to `<id>_link_<number>_UP` and
 * `_DOWN`, tori to `<id>_link_from_<rank>_to_<rank>_UP` and `_DOWN`, fat trees and
 * dragonflies as topology.h says.
 */
#ifndef SHARDSIM_SIM_PLATFORM_XML_H
#define SHARDSIM_SIM_PLATFORM_XML_H

#include "array/machine.h"
#include "base/error.h"
#include "base/table.h"

struct topology;

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
	int32_t share;          /* `devices`: how many share the host; 1 without it */
	int32_t domain_devices; /* so many make a domain of their own; 0: all of that name */
	struct tuning tuning; /* `constants`: the default without them */
};

struct xml_host {
	const char *name;
	int32_t device; /* its first: the number ending its name times props->share */
	const struct xml_props *props;
	struct xml_place place;
	const char *cluster; /* id of the cluster it is in, NULL outside */
	int32_t rank;        /* in the cluster */
	int32_t number;      /* its number in the cluster's radical */
	int32_t up,
		down; /* its links in a flat cluster, one for both if shared; else -1 */
	const struct topology *topology; /* of its cluster; NULL if that has none */
	int32_t zone; /* number of the zone with routing Full that it is in, else -1 */
};

/* A route written out: its links are route_link[first..first + nlinks). */
struct xml_route {
	int32_t src, dst; /* hosts */
	int32_t nlinks, first;
};

struct platform_xml {
	struct arena *arena;
	const char *path, *text;
	size_t length;
	int32_t nhosts, nlinks, nroutes, nroute_links;
	int64_t hosts_room, links_room, routes_room, route_links_room;
	struct xml_host *host;
	struct link *link;
	struct xml_route *route;
	int32_t *route_link;
	struct table hosts_by_name, links_by_name, routes_by_ends;
	/* <bypassRoute>s, backbones or limiters change the routes that are read. */
	bool bypassed;
	const char *note; /* what is assumed where no host has properties, else NULL */
	/* What SimGrid numbers over all clusters of the file (topology.h). */
	int32_t fat_tree_hosts, fat_tree_links, dragonfly_links;
};

/*
 * Reads `length` bytes of text, which must last as long as the arena; errors name it
 * `path`. A `brief` one is that of family/xml.h. It is an error if the text is not well-formed or not a platform, if an
 * element or a unit is not known, if a name is there twice, or if a host lacks
 * properties or its number.
 */
enum status platform_xml_read(struct platform_xml *out, struct arena *a,
                              const char *path, const char *text, size_t length,
                              bool brief, struct error *e);

struct where platform_xml_where(const struct platform_xml *xml, struct xml_place place);

/* Return the number of the link or host of that name, -1 if there is none. */
int32_t platform_xml_link(const struct platform_xml *xml, const char *name);
int32_t platform_xml_host(const struct platform_xml *xml, const char *name);

/* Returns the route written out from host to host, NULL if there is none. */
const struct xml_route *platform_xml_route(const struct platform_xml *xml, int32_t src,
                                           int32_t dst);

/*
 * Returns the one link from host to host, which are neighbours in a cluster torus or
 * have a route of one link; -1 if there is none.
 */
int32_t platform_xml_hop(const struct platform_xml *xml, int32_t src, int32_t dst);

/* Add a host or a link; they return false, and change nothing, if its name is there. */
bool platform_xml_add_host(struct platform_xml *xml, const struct xml_host *host);
bool platform_xml_add_link(struct platform_xml *xml, const struct link *link);

/* Makes room for so many more hosts and links at once. */
void platform_xml_reserve(struct platform_xml *xml, int64_t hosts, int64_t links);

/*
 * Adds the route of the links that platform_xml_add_route_link() has added since the
 * last one; returns false, and changes nothing, if the pair has a route.
 */
bool platform_xml_add_route(struct platform_xml *xml, int32_t src, int32_t dst);
void platform_xml_add_route_link(struct platform_xml *xml, int32_t link);

/*
 * Stores what one of SimGrid's units stands for, and returns false if it is not known.
 * Rates are bytes (Bps) or bits (bps), with a prefix of 1000 or, with an i, of 1024;
 * others are times. Without a unit they are bytes per second and seconds.
 */
bool platform_xml_unit(double *out, const char *unit, bool rate);

/*
 * Where the routes of graphs come from: it is the ask_state of the machine, whose
 * callback is platform_graph_route(). Our reader knows the routes of fat trees and of
 * dragonflies, and those written out in zones with routing Full; for others it asks
 * `simgrid`, unless that is NULL.
 */
struct platform_graph {
	const struct platform_xml *xml;
	/*
	 * The host of a device on a fabric at [fabric * ndevices + device], -1 without one.
	 */
	const int32_t *host_of;
	bool open; /* some routes are known to SimGrid alone */
	machine_route_fn *simgrid;
	void *simgrid_state;
};

machine_route_fn platform_graph_route;

/* Returns whether our reader knows the routes between two hosts. */
bool platform_graph_known(const struct platform_xml *xml, const struct xml_host *a,
                          const struct xml_host *b);

/*
 * Sets the ends of the routes of a graph fabric, and `open` of the machine's graph. It
 * is an E_TYPE if a route is missing in a zone that writes them out.
 */
enum status platform_graph_fabric(struct machine *m, struct platform_graph *g, int f,
                                  struct error *e);

/*
 * Makes the machine that the file describes, with the name `name`: devices, fabrics,
 * geometry and ports. It is an error if devices are not numbered 0 to n - 1 or are
 * there twice, if properties contradict each other, or if the hosts and links do not
 * have the geometry.
 */
enum status platform_xml_machine(struct machine **out, struct platform_graph **graph,
                                 const struct platform_xml *xml, const char *name,
                                 struct error *e);

#endif
