/* Whether the NICs of so many nodes can be joined by the net of their family. */
#ifndef SHARDSIM_FACTS_SWITCHES_H
#define SHARDSIM_FACTS_SWITCHES_H

#include "facts/families.h"

/* The switches of a net; what is about another kind of net is 0. */
struct switches {
	int32_t leaf; /* rails, fat tree: NICs of one leaf switch */
	/*
	 * Dragonfly: its groups, the routers of one group and the NICs of one router.
	 * SimGrid wants every place of it taken, so a part of a machine has fewer of
	 * everything: the fewest groups that do, then the fewest routers. There are no more
	 * groups than routers in a group, since every router of a group joins it to one
	 * other group.
	 */
	int32_t groups, routers, ports;
};

/* Returns the number of hosts that the NICs of one node are. */
int32_t switches_hosts(const struct family *f);

/*
 * Finds the switches that join `nodes`, which have a net; a single switch joins any
 * number. Returns false where they do not spread evenly, and appends to `why`, unless that
 * is NULL, the reason and what would do.
 */
bool switches_find(struct switches *out, const struct family *f, int32_t nodes,
                   struct text *why);

#endif
