/*
 * The clock `fluid` (design 5): a schedule replayed in SimGrid as parallel tasks.
 *
 * A task of the schedule is one parallel task over just its hosts, whose messages
 * advance at one common rate; tasks of a round start together and share links max-min
 * fairly; the next round starts when all have ended. A task of `repeats` merged rounds
 * starts repeats - 1 latencies of its longest route late. A task of more than
 * FLUID_GROUP_HOSTS_MAX hosts becomes one parallel task per message, because SimGrid
 * keeps a matrix of all its hosts.
 *
 * Tasks that share no link, not even through others, do not slow each other: the pieces
 * of a round (cost/pieces.h) run one after another, the round takes as long as the
 * longest, and a piece of a form that this workspace has timed before is not run again.
 * A task that shares no link with another is not run either: it has all its links to
 * itself, so its common rate is that of the link that its bytes fill longest, and its time
 * is that of the clock `model` (tests hold SimGrid to it).
 *
 * SimGrid's time for a piece grows faster than the square of its tasks. So it runs pieces
 * whose form has FLUID_SIMGRID_FORM_MAX words or fewer, some 300 messages, and is
 * started for the first one of several tasks. Larger ones are timed by SimGrid's own rule
 * without it (shared.h; tests hold that to SimGrid, to 1e-9), which takes a second
 * where SimGrid takes hours, and refuses what would take as long there.
 *
 * Schedules run one after another in the one engine of the process; a time is a
 * difference of SimGrid's clock.
 */
#ifndef SHARDSIM_SIM_CLOCK_FLUID_H
#define SHARDSIM_SIM_CLOCK_FLUID_H

#include "collective/schedule.h"
#include "platform/platform.h"

enum { FLUID_GROUP_HOSTS_MAX = 2048, FLUID_SIMGRID_FORM_MAX = 1 << 12 };

/* A workspace for the platform, which must outlive it. */
struct fluid;

struct fluid *fluid_new(struct platform *p);
void fluid_free(struct fluid *w);

/*
 * From now on run every round as it is, all its tasks at once, whatever was timed before:
 * for traces of the simulation itself.
 */
void fluid_whole(struct fluid *w);

/*
 * From now on, or no longer, leave SimGrid alone: a schedule that needs it is refused
 * (CLOCK_REFUSED_S).
 */
void fluid_closed(struct fluid *w, bool closed);

/*
 * A clock_fn (cost/model.h); `self` is a struct fluid. It refuses a schedule with a round
 * that is too large to be timed.
 */
double fluid_clock(void *self, const struct schedule *s, char *message, size_t size);

/* What platform_start() said, if fluid_clock() needed it: then all it needs it for fails. */
enum status fluid_started(const struct fluid *w, struct error *e);

#endif
