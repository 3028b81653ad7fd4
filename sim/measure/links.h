/*
 * What plans and programs put on the links of a machine: the busiest links of every
 * step, and how much of the time they are busy. The bytes are those that the schedule,
 * which all clocks read (collective/lower.h), sends over the routes of its messages.
 * Only the time depends on the clock.
 *
 * A link is busy for its bytes / its bandwidth. That is never longer than the step,
 * whatever clock timed it.
 */
#ifndef SHARDSIM_SIM_MEASURE_LINKS_H
#define SHARDSIM_SIM_MEASURE_LINKS_H

#include "measure/timed.h"

#include <jansson.h>

struct link_load {
	int32_t link; /* index in machine.link */
	double bytes;
};

/* A workspace for one machine, which must outlive it. */
struct links;

struct links *links_new(const struct machine *m);
void links_free(struct links *links);

/*
 * Stores the links that the tasks [first, first + n) of a schedule load, by rising
 * number, and returns how many they are, or -1 where a message has no route. They
 * belong to the workspace and are good until the next call.
 */
int32_t links_of_tasks(const struct link_load **out, struct links *links,
                       const struct schedule *s, int64_t first, int64_t n);

/*
 * The busiest links of a step or of all steps, by falling time for which they are busy.
 */
struct links_top {
	int32_t used; /* how many links carry anything */
	int32_t n;    /* how many of them are in `load` */
	const struct link_load *load;
};

struct links_report {
	struct timed of;
	struct links_top *step; /* [of.steps.n] */
	struct links_top total;
};

/*
 * Finds the `most` busiest links of timed steps; everything is the arena's. Where there
 * are no steps, or the machine cannot run one, its links count as unused.
 */
void links_measure(struct links_report *out, const struct bench *b,
                   const struct timed *t, int32_t most, struct arena *a);

/*
 * Returns the share of the time for which a link is busy during a step, or during all
 * steps where `step` < 0, by clock number `clock` of the bench; NaN where the clock has
 * no time.
 */
double links_busy(const struct bench *b, const struct timed *t, int clock, int step,
                  const struct link_load *load);

/* Appends the table that stands below the table of the steps. */
void links_text(struct text *out, const struct links_report *r, const struct bench *b,
                struct arena *a);

/* Returns {"used", "total": [{"link", "bytes", "busy"}...], "steps": [[...]...]}. */
json_t *links_json(const struct links_report *r, const struct bench *b);

#endif
