/*
 * What plans and programs put on the links of a machine: the busiest links of every step,
 * and how much of the time they are busy. The bytes are those of the schedule that all
 * clocks read (collective/lower.h), over the routes of its messages; only the time is a
 * clock's.
 *
 * A link is busy for bytes / bandwidth: never longer than the step, whatever clock timed
 * it.
 */
#ifndef SHARDSIM_SIM_MEASURE_LINKS_H
#define SHARDSIM_SIM_MEASURE_LINKS_H

#include "measure/timed.h"

#include <jansson.h>

struct link_load {
	int32_t link; /* of machine.link */
	double bytes;
};

/* A workspace for one machine (borrowed, must outlive it). */
struct links;

struct links *links_new(const struct machine *m);
void links_free(struct links *w);

/*
 * The links that the tasks [first, first + n) of a schedule load, by their numbers; the
 * workspace's until the next call. The number of links, or -1 where a message has no
 * route.
 */
int32_t links_of_tasks(const struct link_load **out, struct links *w,
                       const struct schedule *s, int64_t first, int64_t n);

/* The busiest links of a step or of all, those that are busy longest first. */
struct links_top {
	int32_t used; /* how many links carry anything */
	int32_t n;    /* how many of them follow */
	const struct link_load *load;
};

struct links_report {
	struct timed of;
	struct links_top *step; /* [of.steps.n] */
	struct links_top total;
};

/*
 * The `most` busiest links of timed steps; all is the arena's. Without steps, or with some
 * that the machine cannot run, nothing is used.
 */
void links_measure(struct links_report *out, const struct bench *b,
                   const struct timed *t, int32_t most, struct arena *a);

/*
 * Which share of the time by clock number `clock` of the bench a link is busy, over the
 * step or (step < 0) all of them; NaN where the clock has no time.
 */
double links_busy(const struct bench *b, const struct timed *t, int clock, int step,
                  const struct link_load *load);

/* As a table below the steps'; as {"total": [{"link", "bytes", "busy"}], "steps": []}. */
void links_text(struct text *out, const struct links_report *r, const struct bench *b,
                struct arena *a);
json_t *links_json(const struct links_report *r, const struct bench *b);

#endif
