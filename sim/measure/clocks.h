/*
 * A platform with the workspaces of the clocks asked for (clock_kinds, measure.h).
 */
#ifndef SHARDSIM_SIM_MEASURE_CLOCKS_H
#define SHARDSIM_SIM_MEASURE_CLOCKS_H

#include "measure/measure.h"
#include "platform/platform.h"

struct flow;
struct fluid;
struct simgrid;

/* The workspace of a clock is NULL where the clock was not asked for. */
struct clocks {
	struct platform *platform;
	struct fluid *fluid;
	struct simgrid *simgrid;
	struct flow *flow;
};

/*
 * Opens a platform as platform_open() does, and the `n` clocks, which are indices in
 * clock_kinds. A file is tried in SimGrid at once if the clock `simgrid` is asked for.
 * clocks_free() must be called after an error, too.
 */
enum status clocks_open(struct clocks *out, struct arena *a, const char *spec,
                        const char *const *set, int nset, const int *clock, int n,
                        struct error *e);
void clocks_free(struct clocks *c);

/* Adds a clock that was asked for to a bench on the platform's machine. */
void clocks_bench(const struct clocks *c, struct bench *b, int clock);

#endif
