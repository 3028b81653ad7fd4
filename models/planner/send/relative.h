/*
 * Senders that stand to their receivers as tiles do. Where an axis tells copies of a tile
 * apart, a sender has its receiver's coordinate there, or that and how far they are apart
 * along an axis that cuts the array:
 *
 *     sender[copy] = receiver[copy] + f(receiver[cut] - sender[cut])
 *
 * modulo the sizes, where f(d) is d, or d times the quotient of the sizes, or d over it.
 * Turn a mesh along an axis, and such senders turn with it, as they do on a torus: where all
 * devices want alike the messages of all are images of those of one. The first choice sends
 * nothing along axes that tell copies apart; with others the messages of one tile to one
 * receiver's neighbours come from several copies.
 */
#ifndef SHARDSIM_PLANNER_SEND_RELATIVE_H
#define SHARDSIM_PLANNER_SEND_RELATIVE_H

#include "plan/plan.h"
#include "planner/send/holders.h"

struct relative;

/*
 * Makes the choices for boxes whose `src` is any device that holds the tile; all is borrowed,
 * and `src` may change to others that hold it. Returns NULL where there are none: the source
 * is no layout of axes, a receiver is not in its mesh, or no axis tells copies apart.
 */
const struct relative *relative_new(const struct transfer *box, int64_t n,
                                    const struct holders *holders,
                                    const struct problem *p, struct arena *a);

/* Returns the number of choices, some of which may be equal. */
int relative_count(const struct relative *r);

/*
 * Fills sender[n] by choice number `choice`. Returns false if a device sends more than its
 * even share: of k that hold a tile a k-th of what they all send and (1 - 1/k) of its largest
 * box.
 */
bool relative_senders(int32_t *sender, const struct relative *r, int choice);

#endif
