/*
 * Trees along which data flow from their holders to all that want them, so that the
 * busiest link is little busy.
 *
 * Every datum is sent in equal shares, one after the other. A share takes the cheapest
 * tree at prices that grow with a power of what a link carries so far, so that later
 * shares go where the earlier ones did not: multicommodity flow by rerouting (Garg and
 * Koenemann, SIAM J. Comput. 37, 2007; of trees Albrecht, VLSI global routing, IEEE TCAD 20,
 * 2001). A tree grows by the cheapest path from what it has to the next that wants the
 * datum (Takahashi and Matsuyama, Math. Japonica 24, 1980): who receives it hands it on, and
 * so do others that want none of it. Where there are too many data for that, those of one
 * source tile share one tree of cheapest paths.
 */
#ifndef SHARDSIM_FLOW_FOREST_H
#define SHARDSIM_FLOW_FOREST_H

#include "flow/demand.h"
#include "flow/network.h"

enum { FLOW_DEPTH_MAX = 64 };

/*
 * What trees put on messages: bytes[depth * nedges + e], where what the holders send
 * has depth 0, what is relayed once depth 1, and so on.
 */
struct flows {
	int32_t depths, nedges;
	double *bytes;
	double busiest_s; /* of the link that carries most, all depths together */
};

/*
 * Finds the flows of a demand. Returns false where someone cannot be reached, or where it
 * would take too long. Equal questions get equal flows.
 */
bool forest_make(struct flows *out, const struct network *network,
                 const struct demand *demand, struct arena *a);

#endif
