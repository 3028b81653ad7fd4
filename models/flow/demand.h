/*
 * What a problem asks for, datum by datum: the cells of the grid that both layouts cut,
 * with the devices that hold them and those that want them.
 */
#ifndef SHARDSIM_FLOW_DEMAND_H
#define SHARDSIM_FLOW_DEMAND_H

#include "plan/problem.h"

/* Some devices, by rising number. */
struct party {
	int32_t n;
	const int32_t *device;
};

/* What one tile of the source and one of the target have in common. */
struct datum {
	int32_t wanters; /* number of a party; some of them may hold it */
	double bytes;
};

/* What some wanter lacks of one tile of the source. */
struct supply {
	struct party holders;
	int64_t ndata;
	const struct datum *datum; /* by rising party */
};

struct demand {
	int32_t nsupplies;
	struct supply *supply;
	struct party *party;
	int32_t nparties;
	int32_t ndevices;
	/* [ndevices] the supply that a device holds and the party it is of; -1: none */
	int32_t *supply_of, *party_of;
	int64_t ndata; /* of all supplies */
	bool single;   /* every datum is wanted by one device */
	bool sums;     /* it is that of a sum, run backwards */
};

/*
 * Lists what a problem asks for. Returns false where it cannot be said so, as of data that
 * nobody holds.
 *
 * A sum is a broadcast run backwards: where contributions of several devices come together at
 * one, from there the same tree leads to all of them (Chan, Heimlich, Purkayastha and van de
 * Geijn, "Collective communication: theory, practice, and experience", 2007). So of an unreduced
 * source the demand is that of the problem turned around, in which those that want a sum hold
 * it and those that contribute to it want it, all of them. It cannot be said where two devices
 * have the same contribution, of which one would do, or two want the same sum.
 */
bool demand_make(struct demand *out, const struct problem *p, struct arena *a);

#endif
