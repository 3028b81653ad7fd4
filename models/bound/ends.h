/*
 * What the links between a set of platform devices and all others can carry on switches
 * and graphs, by the links at which routes begin and end. Private to bound_ports.c.
 */
#ifndef SHARDSIM_BOUND_ENDS_H
#define SHARDSIM_BOUND_ENDS_H

#include "array/machine.h"
#include "bound/gate.h"

/*
 * The set, and the devices by domain: domain j has device[first[j]..first[j + 1]).
 * Devices without a number send and receive nothing, for they are not the problem's.
 */
struct port_set {
	const struct machine *machine;
	const int32_t *number; /* [ndevices]: < 0 for none; NULL: all take part */
	int32_t *inside, sets; /* [ndevices]: a member if equal to `sets` */
	int32_t *first[MACHINE_FABRICS_MAX], *device[MACHINE_FABRICS_MAX];
};

/* Returns whether a device takes part in the problem. */
static inline bool port_takes_part(const struct port_set *p, int32_t d)
{
	return !p->number || p->number[d] >= 0;
}

/* Returns whether all devices that share the port of d are members. */
bool port_whole(const struct port_set *p, const struct fabric *f, int32_t d);

/*
 * Returns whether d, a member, is the first of those on its port, which stands for all
 * of them.
 */
bool port_first(const struct port_set *p, const struct fabric *f, int32_t d);

struct ends;

/*
 * Makes the ends for the machine of the set in the arena. The set is borrowed and may
 * change.
 */
struct ends *ends_make(const struct port_set *set, struct arena *a);

/*
 * Adds the gates, as ports_gates() does, of fabric k, which is no torus, for the
 * members.
 */
void ends_gates(struct gate *in, struct gate *out, struct ends *e, int k,
                const int32_t *member, int32_t n);

#endif
