/*
 * Chrome trace events ("Trace Event Format", JSON object form), which Perfetto and
 * chrome://tracing open: groups of rows, rows in them, and slices on a row.
 *
 * Times are microseconds in whole nanoseconds, rounded at both ends, so that slices nest.
 */
#ifndef SHARDSIM_SIM_TEXT_EVENTS_H
#define SHARDSIM_SIM_TEXT_EVENTS_H

#include "base/arena.h"

#include <stdint.h>

/* Begins and ends the text of a file. */
void events_start(struct text *out, const char *platform);
void events_end(struct text *out);

/* Returns a text as JSON, in quotes, as names below are; the arena's. */
const char *events_quoted(const char *s, struct arena *a);

/* Names a group of rows, and a row of it. */
void events_group(struct text *out, int pid, const char *name);
void events_row(struct text *out, int pid, int32_t tid, const char *name);

/* Begins a slice; the caller adds its `args` and two closing braces. */
void events_slice(struct text *out, int pid, int32_t tid, const char *name,
                  double from_s, double to_s);

#endif
