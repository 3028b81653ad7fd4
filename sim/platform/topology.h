/*
 * The clusters that SimGrid wires and routes by rule: fat trees and dragonflies, as
 * version 3.32 does it, names of links included. Hosts are known by their rank in the
 * cluster, which is their place in the list of the radical. Private to sim/platform*.c.
 *
 * FAT_TREE "levels;children;parents;cables": a node of level l (hosts: 0) has
 * parents[l] parents with cables[l] cables to each; one of level l + 1 has children[l]
 * children. A node is its level and one digit per level, the first fastest; digit i
 * counts children up to level i and parents above it. Parent and child differ in the
 * one digit between them only. Routes are D-mod-K: up until the destination is below,
 * from level l by port (destination's position / product of the parents of levels below
 * l) mod (parents[l] cables[l]), ports counting parents faster than cables; then down,
 * by cable (source's position mod cables). Positions and links are numbered over all
 * fat trees of the file.
 *
 * DRAGONFLY "groups,links;chassis,links;blades,links;nodes": one router per blade;
 * green links between all blades of a chassis, black ones between equal blades of all
 * chassis of a group, one blue one between two groups, which in group i ends at the
 * router number j for group j. A route is local, green, black, blue, green, black,
 * local, as far as needed. Between groups SimGrid goes by blade j of chassis 0, so
 * there must not be more groups than blades. Inside a group it goes on, after a green
 * link, as if it were in chassis 0: with several chassis the black link is then missing
 * or one too many. It is SimGrid that is followed here.
 */
#ifndef SHARDSIM_SIM_PLATFORM_TOPOLOGY_H
#define SHARDSIM_SIM_PLATFORM_TOPOLOGY_H

#include "platform/xml.h"

/* One cable of a cluster: `link` names none; split in two, or shared both ways. */
struct cable {
	struct link link;
	bool split;
};

/*
 * Makes the topology of a cluster of `nhosts` hosts, and adds its links to the file's.
 * `kind` is the cluster's attribute; *out is NULL for a kind that is neither of these.
 * It is an E_RANGE at `at` if the parameters do not make such a cluster, or too large a
 * one.
 */
enum status topology_make(const struct topology **out, struct platform_xml *xml,
                          const char *kind, const char *parameters, int32_t nhosts,
                          struct cable cable, struct where at, struct error *e);

/* Does what a machine_route_fn does, between ranks. */
int topology_route(const struct topology *t, int32_t src, int32_t dst, int32_t *links,
                   int capacity);

/*
 * Stores the links from the host of that rank, or those to it, in `links` unless that
 * is NULL, and returns how many they are.
 */
int32_t topology_ends(const struct topology *t, int32_t rank, bool to, int32_t *links);

#endif
