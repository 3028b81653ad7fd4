/*
 * Groups of a torus of which few stand for all.
 *
 * Where all groups are translates of the first one, without passing over an edge of the torus, their
 * messages take the same ways, translated: routes go axis by axis, and visit no coordinate along an
 * axis that is not of a member before they go along it and after. So if no two groups that differ in
 * where they begin along an axis have a coordinate of that axis in common, the links along an axis are
 * loaded by groups that begin alike along all other axes only, and what these put on them is the same
 * wherever that is. The busiest link of an axis, and the slowest group, are then among the groups
 * that begin where the first one does but along that axis. The others need not be looked at.
 */
#ifndef SHARDSIM_PRICE_TRANSLATES_H
#define SHARDSIM_PRICE_TRANSLATES_H

#include "array/machine.h"
#include "plan/plan.h"

struct translates;

/*
 * NULL where links of a torus or devices of the machine differ, or there is no torus. All is the
 * arena's but the machine, which is borrowed.
 */
struct translates *translates_new(struct arena *a, const struct machine *m);

/*
 * Returns those of the groups of platform devices that stand for all, in their order, which are the
 * arena's; the same ones as they are where none do (t NULL: so they are).
 */
struct groups translates_few(const struct translates *t, const struct groups *g,
                             struct arena *a);

/* Returns the torus, and where a device is along one of its axes. */
const struct fabric *translates_torus(const struct translates *t);
int32_t translates_coordinate(const struct translates *t, int32_t device, int axis);

#endif
