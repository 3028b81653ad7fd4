/*
 * The parallel tasks of a piece of a round (cost/pieces.h), as a system of tasks that
 * share links (cost/fair.h). cost/hosts.h says which tasks there are and when they
 * start.
 */
#ifndef SHARDSIM_COST_PARALLEL_H
#define SHARDSIM_COST_PARALLEL_H

#include "cost/fair.h"
#include "cost/pieces.h"

/* A workspace for one machine, which is borrowed and must outlive it. */
struct parallel;

struct parallel *parallel_new(const struct machine *m);
void parallel_free(struct parallel *parallel);

/*
 * Makes the system of a piece of the round that `pieces` parted last, or with p NULL of all
 * of that round. Tasks are in the order in which they start, and links are numbered as
 * they are first used, so that pieces which differ in the names of devices and links only
 * have equal systems. Of a round that is one task with a parallel task for each message the
 * system has the routes of `pieces` in place of uses (cost/fair.h). It is the workspace's
 * until the next call, and that of pieces_find(). The piece ends in
 * *until_s seconds at the earliest, however fast its links are.
 */
const struct fair *parallel_make(double *until_s, struct parallel *parallel,
                                 const struct schedule *s, const struct round *r,
                                 const struct pieces *pieces, const struct piece *p);

#endif
