/*
 * Prices of collectives on machines whose devices are all alike: every fabric is a switch with a port
 * for each device, all ports and devices are equal, nodes have equally many, and a library runs the
 * collectives (collective/nccl.h).
 *
 * Groups of disjoint devices share no link there, nor a core (nccl_core.c). So where all
 * groups of a collective have as many members in as many nodes, and in as many trays of a
 * rack if they are few, each takes what any of them does, wherever they are, and one is
 * timed (nccl_prepare) for all groups, bytes and meshes of that shape.
 */
#ifndef SHARDSIM_PRICE_EVEN_H
#define SHARDSIM_PRICE_EVEN_H

#include "array/machine.h"
#include "array/mesh.h"
#include "plan/plan.h"

struct even_prices;

/* NULL where the machine is not so. The machine is borrowed. */
struct even_prices *even_prices_new(const struct machine *m);
void even_prices_free(struct even_prices *p); /* or NULL */

/*
 * What the groups along some axes of a mesh are alike in; nodes 0: they are not. apart: 1 where a node is
 * a rack and several processes run a group that one could run (nccl_one_process), else 0.
 */
struct even_shape {
	int32_t nodes, per_node, apart;
};

/*
 * Returns the shape of the groups along whole axes of a mesh, whose positions are on these devices
 * (NULL: in order).
 */
struct even_shape even_shape_of(const struct even_prices *p, const struct mesh *mesh,
                                const int32_t *device, const struct part *part,
                                int nparts);

/*
 * Returns the seconds of a collective with as many bytes on each device before it, on the wires;
 * < 0: no algorithm is known.
 */
double even_wires_s(struct even_prices *p, enum op op, struct even_shape shape,
                    double bytes);

#endif
