/*
 * How one tree of a forest grows: prices of links, and cheapest paths from the devices that
 * have a datum to those that do not. Private to flow/forest.c.
 */
#ifndef SHARDSIM_FLOW_GROW_H
#define SHARDSIM_FLOW_GROW_H

#include "base/heap.h"
#include "flow/forest.h"

/* In place of a message by which a device is reached. */
enum { GROWTH_HOLDER = -1, GROWTH_UNREACHED = -2 };

/* A cheap way into a switch, from one of its members. */
struct growth_entry {
	int32_t src;  /* -1: there is none yet */
	int32_t from; /* where that is on the fabric before, which joins some of them */
};

struct growth {
	const struct network *net;
	const struct demand *demand;
	const struct symmetry *symmetry;
	struct arena *arena;
	struct forest *out;
	bool trees, parts; /* one for each datum, else for each supply; list parts */
	struct trees *over_nodes; /* NULL unless trees go over nodes */
	int64_t *first;           /* [supplies + 1] datum number of each one's first */
	double *load;  /* [nlinks] seconds so far, where the lowest of an orbit is */
	double *price; /* [nlinks] of a byte */
	/*
	 * The tree: of each device its price and the message by which it is reached. Behind
	 * the devices there are two entries for each hub, not from one place.
	 */
	double *cost;
	struct growth_entry *entry;
	int32_t *before, *via, *depth;
	bool *has, *wants; /* is in the tree; is to be */
	/*
	 * [devices * (FLOW_DEPTH_MAX + 1)] that pass it on a tree of cheapest paths: all, then
	 * by the depth of the device where they end.
	 */
	double *bytes;
	int32_t *list, nlist;
	int64_t again_left; /* looks that ways anew may take */
	struct heap heap;
	struct flow_part part; /* what is being sent */
};

/* Makes room for a network and a demand, which are set. */
void growth_room(struct growth *f);

/* Sets the prices of links for so many bytes more: as the sixteenth power of their time. */
void growth_price(struct growth *f, double bytes);

/* Begins a tree with the holders of a supply. */
void growth_begin(struct growth *f, const struct supply *s);

/* Returns the next cheapest device, or entry into a switch (from f->net->n on); -1: none. */
int32_t growth_next(struct growth *f);

/* Looks from a device, or from an entry into a switch, at all that it has messages to. */
void growth_look(struct growth *f, int32_t node);

/*
 * Puts a device into the tree that is reached from one in it. From then on it has the datum at
 * no further price but that of relays.
 */
void growth_join(struct growth *f, int32_t device);

/*
 * Looks for ways anew where the link up into a switch, by which a device was reached, has
 * become dearer by that: unlike links of a torus it can be taken again, for others.
 */
void growth_again(struct growth *f, int32_t device, double bytes);

/* Adds bytes of a share and its images to the links of a message. */
void growth_load(struct growth *f, const struct flow_message *m, double bytes);

/*
 * Puts bytes of a share and its images on the message by which a device is reached. The height
 * of their tree is still to be said.
 */
void growth_send(struct growth *f, int32_t device, double bytes);

/* Notes that the share of the datum in hand comes to a device, if that is asked for. */
void growth_note(struct growth *f, int32_t device);

#endif
