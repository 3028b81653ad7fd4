/*
 * A step over time: what runs when, and what is held (sim/README.md, JSON). As text, as trace
 * events, as CSV and as members of the JSON.
 */
#ifndef SHARDSIM_SIM_PROGRAM_LINES_H
#define SHARDSIM_SIM_PROGRAM_LINES_H

#include "program/liveness.h"
#include "program/overlap.h"
#include "program/rows.h"

#include <jansson.h>
#include <stdio.h>

/* Prints the spans in the order in which they start, at most so many. */
void timeline_show(struct text *out, struct arena *a, const struct program_price *price,
                   const struct overlapped *o, int64_t most);

/*
 * Prints the whole text of a file of trace events: a row for kernels and one for each fabric
 * that collectives run on, and the same for the first turn of loops, by their depth.
 */
void timeline_trace(struct text *out, const struct program_price *price,
                    const struct overlapped *o);

json_t *timeline_json(const struct program_price *price, const struct overlapped *o);

/* What a device holds: over the ops of the entry, and by array where it is most. */
struct held {
	double params_bytes;
	struct live_points points;
	struct live_arrays arrays;
};

/* Prints what is held at the peak, the largest first, or summed up as `by` says. */
void held_show(struct text *out, struct arena *a, const struct program *p,
               const struct held *h, bool summed, enum rows_by by, int64_t most);

/* Prints a line for each op of the entry: what is held once it has begun. */
void held_csv(struct text *out, const struct program *p, const struct held *h);

json_t *held_json(const struct program *p, const struct held *h);

#endif
