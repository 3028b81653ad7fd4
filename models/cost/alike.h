/*
 * Tasks and links of a piece that fare alike, found without knowing the machine.
 *
 * Tasks and links are parted into kinds so that all tasks of a kind have equal times and
 * put equal bytes on equally many links of each kind, and all links of a kind have equal
 * bandwidth and carry equal bytes of equally many tasks of each kind (an equitable
 * partition of the graph of tasks and links, by refining colours). Whatever a rule makes
 * of all tasks and links in step (cost/fair.h: offers, parts, what is left, who ends when)
 * it then makes equal within a kind, by induction over its steps. So one task and one link
 * of each kind, with the number of their neighbours, have the times of the whole. That is
 * exact; on a torus where all devices do the same there are a few kinds, elsewhere maybe
 * as many as tasks, and then nothing is gained.
 */
#ifndef SHARDSIM_COST_ALIKE_H
#define SHARDSIM_COST_ALIKE_H

#include "cost/fair.h"

/*
 * Stores a system of one task and one link of each kind in *out, which fair_free()
 * frees. Bytes and times count as equal if they agree to 12 digits, for the same sum in
 * another order differs in the last ones.
 *
 * The kinds are found by hashes and then checked link by link and task by task. Returns
 * false, and leaves *out alone, if two that are not alike had the same hash, or once there
 * are more than `most_tasks` kinds of tasks.
 */
bool alike_fold(struct fair *out, const struct fair *f, int64_t most_tasks);

#endif
