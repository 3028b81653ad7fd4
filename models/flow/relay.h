/*
 * A schedule of flows as a plan: steps in which parts of tiles travel from device to device,
 * so that it can be proved like any other plan, and said as a program.
 *
 * Every datum is a box of the array, cut into as many pieces as its trees have shares and
 * these have chunks. Round r sends of each share, along the messages of depth d, chunk r - d
 * (flow/pipeline.h), which is a permute of parts; behind the last round a pad makes the
 * target of the old tile and of what arrived, and what was only relayed is dropped. Data that
 * symmetries turn into one another take images of one tree, one after the other of those that
 * may be taken. A piece is a whole number of elements, so that messages are as long as the
 * schedule's but for that.
 */
#ifndef SHARDSIM_FLOW_RELAY_H
#define SHARDSIM_FLOW_RELAY_H

#include "flow/network.h"
#include "plan/plan.h"

/* More boxes than that are said in fewer chunks, and in no more chunks than these. */
enum { RELAY_BOXES_MAX = 1 << 16, RELAY_CHUNKS_MAX = 4 };

/*
 * Returns the finished plan, in the arena; NULL where the machine or the problem is none for
 * flows. Device d of the problem is platform[d] of the machine. Of two meshes any device
 * relays, one that never has a tile as well.
 */
struct plan *relay_plan(const struct problem *p, const struct machine *m,
                        const int32_t *platform, enum flow_reach reach, struct arena *a);

#endif
