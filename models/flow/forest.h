/*
 * Trees along which data flow from their holders to all that want them, so that the
 * busiest link is little busy.
 *
 * Every datum is sent in equal shares, one after the other. A share takes the cheapest
 * tree at prices that grow with a power of what a link carries so far, so that later
 * shares go where the earlier ones did not, and the first ones go again behind the last:
 * multicommodity flow by rerouting (Garg and Koenemann, SIAM J. Comput. 37, 2007; of trees
 * Albrecht, VLSI global routing, IEEE TCAD 20, 2001). A tree grows by the cheapest path from what it has to the next that wants the
 * datum (Takahashi and Matsuyama, Math. Japonica 24, 1980): who receives it hands it on, and
 * so do others that want none of it. Where there are too many data for that, those of one
 * source tile share one tree of cheapest paths. Data that symmetries turn into one another
 * take the images of one tree, of which all that keep the datum as it is have equal parts
 * (flow/symmetry.h).
 */
#ifndef SHARDSIM_FLOW_FOREST_H
#define SHARDSIM_FLOW_FOREST_H

#include "base/list.h"
#include "flow/symmetry.h"

/*
 * A message of one tree, which all its images have too, with so many bytes together. What
 * a holder sends has depth 0, what is relayed once depth 1, and so on; a tree has a height of as
 * many depths as its messages have.
 */
struct flow_hop {
	struct flow_message message;
	int32_t depth, height;
	double bytes;
};

/* Which share of a datum a tree brings along a message: for programs (flow/relay.h). */
struct flow_part {
	int32_t supply, share;
	int64_t datum; /* of the supply */
	struct flow_message message;
	int32_t depth, height;
};

struct forest {
	int32_t depths, shares;
	double busiest_s; /* of the link that carries most, all depths together */
	LIST(struct flow_hop) hops;
	LIST(struct flow_part) parts; /* empty unless asked for */
};

/*
 * Finds the trees of a demand. Returns false where someone cannot be reached, or where it
 * would take too long. Equal questions get equal trees. With `parts` these are listed datum
 * by datum as well; the trees are the same.
 */
bool forest_make(struct forest *out, const struct network *network,
                 const struct demand *demand, const struct symmetry *symmetry,
                 bool parts, struct arena *a);

/* Heights of trees are told apart in so many classes at most. */
enum { FLOW_HEIGHTS_MAX = 8 };

/*
 * What all trees and their images put on messages, in the order of the network. Of `heights`
 * classes of trees class k has those that are at most (k + 1) / heights of all depths high;
 * there is one class on switches, where a library has costs of its own for each round.
 */
struct flows {
	int32_t depths, heights, nmessages;
	struct flow_message *message;
	double *bytes; /* [nmessages * depths * heights] */
	double busiest_s;
};

/* Returns the most depths that trees of a class have, and the class of a height. */
static inline int32_t flows_height(const struct flows *f, int32_t class)
{
	return ((class + 1) * f->depths + f->heights - 1) / f->heights;
}

static inline int32_t flows_class(const struct flows *f, int32_t height)
{
	return (height * f->heights + f->depths - 1) / f->depths - 1;
}

/* Returns the bytes of a message of one depth, in trees of all heights. */
static inline double flows_bytes(const struct flows *f, int32_t message, int32_t depth)
{
	int64_t first = ((int64_t)message * f->depths + depth) * f->heights;
	double bytes = 0;

	for (int32_t k = 0; k < f->heights; k++)
		bytes += f->bytes[first + k];
	return bytes;
}

/* Adds them up; false where there are too many. */
bool flows_of_forest(struct flows *out, const struct forest *forest,
                     const struct network *network, const struct symmetry *symmetry,
                     struct arena *a);

#endif
