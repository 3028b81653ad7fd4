/*
 * The clock `fluid`: groups contend for links as SimGrid lets parallel tasks contend, its
 * host model ptask_L07 with the solver FairBottleneck, solved here without SimGrid for
 * machines and schedules of any size.
 *
 * The rule. A task of the schedule is a parallel task (cost/hosts.h): it waits for the
 * latency of its longest route, then all its bytes progress at one common rate. Tasks of
 * a round start together, and the next round starts when all have ended. The rates are
 * found anew whenever a task begins to move or ends, in passes: every link offers equal
 * shares of what it has left to the tasks on it that are still open; each of these grows
 * by the least it is offered; tasks on a link that is full stay as they are from then on
 * (cost/fair.h has the details). A wait of which less than 1 ns is left when anything
 * happens in the round is over then: that is SimGrid's surf/precision of 1e-9 s.
 *
 * Where it comes from: SimGrid 3.32, src/surf/ptask_L07.cpp and
 * src/kernel/lmm/fair_bottleneck.cpp. Tests hold this clock to the clock `simgrid`, which
 * runs the same rounds in SimGrid, to 1e-9 of the time.
 *
 * All rounds are timed in the same way: a round is parted into pieces that share no link
 * (cost/pieces.h). Where all pieces are alike, as 256 rings at once on a torus are, one of
 * them has the time of all. Where they are not, all together are one piece: they share no
 * link, but what happens in one may end a short wait in another. The system of tasks and
 * links of the piece (cost/parallel.h) is looked up among those timed before
 * (cost/fair_memo.h); a new one is folded, so that tasks and links that fare alike are one
 * (cost/alike.h), and followed from one event to the next (cost/fair.h).
 */
#ifndef SHARDSIM_COST_FLUID_H
#define SHARDSIM_COST_FLUID_H

#include "array/machine.h"
#include "collective/schedule.h"

/*
 * The most work on one piece, in the tasks and uses that the rule looks at (cost/fair.h):
 * some ten seconds. What takes more is refused.
 *
 * What counts is how many tasks fare differently. A million messages in rings are a few
 * kinds, and so are those of `direct` whose senders stand to their receivers as tiles do
 * (planner/send/relative.h). Where the layouts themselves have no symmetry that the machine has,
 * no two messages may be alike: of 4,096 chips on 16x16x16, 65,520 such messages take 1.2e9, but
 * of 1,048,320, each a kind of its own, the first 3 % to end take 4e10.
 */
enum { FLUID_WORK_MAX = 2000000000 };

/*
 * A workspace for one machine, which is borrowed and must outlive it. Threads do not
 * share it.
 */
struct fluid;

struct fluid *fluid_new(const struct machine *m);
void fluid_free(struct fluid *fluid);

/*
 * A clock_fn (cost/model.h); `self` is a struct fluid. Equal schedules give equal times.
 * It refuses a schedule with a round of more than PIECES_LINKS_MAX links on all routes, or
 * with a piece that takes more than FLUID_WORK_MAX. It fails where a message has no route.
 */
double fluid_clock(void *self, const struct schedule *s, char *message, size_t size);

#endif
