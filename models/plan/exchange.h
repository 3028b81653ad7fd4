/*
 * The exchange that two layouts of axes imply: who sends which box to whom.
 *
 * Every device receives the parts of its new tile that lie in other tiles of the layout
 * before, a box for each. The sender of a box holds it, so its coordinates in the parts
 * that shard before are given. In those that shard neither before nor after it agrees
 * with the receiver; in one that shards only after it has the receiver's coordinate in
 * one of equal size that sharded only before, where there is one. Where the tiles keep
 * their size each device so serves as many boxes as every other.
 */
#ifndef SHARDSIM_PLAN_EXCHANGE_H
#define SHARDSIM_PLAN_EXCHANGE_H

#include "plan/plan.h"

/*
 * Appends that exchange to `after`, a layout of the source mesh. False with the reason in
 * `why` where none is implied: layouts that are not of axes, without common sub-axes, or
 * unreduced; padding; more boxes than EXCHANGE_BOXES_MAX.
 */
enum { EXCHANGE_BOXES_MAX = 1 << 16 };

bool plan_exchange_axes(struct plan *p, const struct layout *after, struct text *why);

/*
 * Adds the same where nobody asks which elements are in a box (bounds are NULL): it has
 * the same bytes, memory and price, and is made sooner.
 */
bool plan_exchange_sizes(struct plan *p, const struct layout *after, struct text *why);

#endif
