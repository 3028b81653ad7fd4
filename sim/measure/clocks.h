/*
 * A platform with what the clocks asked for need: SimGrid in this process for `fluid`,
 * and a process of its own for `flow`, which has to begin before SimGrid is started here.
 */
#ifndef SHARDSIM_SIM_MEASURE_CLOCKS_H
#define SHARDSIM_SIM_MEASURE_CLOCKS_H

#include "measure/measure.h"
#include "platform/platform.h"

struct fluid;
struct flow;

struct clocks {
	struct platform *platform;
	struct fluid *fluid;
	struct flow *flow; /* NULL unless asked for */
};

/*
 * As platform_open() for the `n` clocks, indices into clock_kinds. `begin` false leaves
 * SimGrid to whoever needs it even for a file: a trace, or the first replay that is not
 * closed (clock/fluid.h). What an error leaves is freed like the rest.
 */
enum status clocks_open(struct clocks *out, struct arena *a, const char *spec,
                        const char *const *set, int nset, const int *clock, int n,
                        bool begin, struct error *e);
void clocks_free(struct clocks *c);

/* Add a clock to a bench on the platform's machine. */
void clocks_bench(const struct clocks *c, struct bench *b, int clock);

#endif
