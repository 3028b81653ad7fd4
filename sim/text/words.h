/* Tables to be filled row by row, and figures as their cells have them. */
#ifndef SHARDSIM_SIM_TEXT_WORDS_H
#define SHARDSIM_SIM_TEXT_WORDS_H

#include "text/pen.h"

/* Returns an empty table of strlen(align) columns for `most_rows` rows; the arena's. */
struct pen_table words_table(struct arena *a, const char *caption, const char *align,
                             const char *const *head, size_t most_rows);

/* Adds a row and returns its cells, which the caller fills in. */
const char **words_row(struct pen_table *t);

/*
 * Returns how many bytes at `s` are a control that turns the direction of the text behind
 * it (Unicode 6.3, UAX #9: U+202A to U+202E, U+2066 to U+2069), 0 if none. It can make a text
 * look like another one, so U+FFFD is written in its place.
 */
int words_direction_control(const char *s);

#define WORDS_REPLACED "\xef\xbf\xbd"

/* Figures as cells have them; "-" for NaN, and for bytes below zero. */
const char *words_ratio(struct arena *a, double x);
const char *words_percent(struct arena *a, double part);
const char *words_count(struct arena *a, size_t n);
const char *words_time(struct arena *a, double seconds); /* "12.3 us" */
const char *words_bytes(struct arena *a, double bytes);  /* "1.5 MiB" */

#endif
