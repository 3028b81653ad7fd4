/*
 * Trees over nodes for what several of them want: two for each rail, which load every network
 * port alike and are as deep as the logarithm of the nodes.
 *
 * A datum is cut into equal shares over the rails. A holder hands a share to the device of its
 * node that is on the rail; along the rail it goes over a binary tree of the nodes, and in each
 * from the device on the rail to all that want it. Half of a rail's shares take one tree and
 * half another, in which the leaves of the first are inside, so that each port sends and
 * receives no share twice (P. Sanders, J. Speck and J. L. Traeff, "Two-tree algorithms for full
 * bandwidth broadcast, reduction and scan", Parallel Computing 35, 2009; the trees are those of
 * NCCL's trees.cc). A rail's share that its holder sends itself goes inside its node by each
 * other device in turn.
 *
 *   depth  2 + log2(nodes) and up to 1 more
 *   cost   a broadcast of V bytes to nodes of r rails: V / r on each network port, and V on
 *          the holder's link into its node, its others receiving no more than that
 */
#ifndef SHARDSIM_FLOW_TREES_H
#define SHARDSIM_FLOW_TREES_H

#include "flow/grow.h"

struct trees;

/* Makes room for trees on a network of rails (FLOW_TREES); NULL where it has none. */
struct trees *trees_new(const struct network *net, struct arena *a);

/* Returns how many shares spread a datum over all rails, trees and devices. */
int32_t trees_shares(const struct trees *t);

/* Sends a share of a datum; false where no rail joins all nodes that it goes to. */
bool trees_send(struct growth *f, struct trees *t, const struct supply *s,
                const struct party *wanters, double bytes);

#endif
