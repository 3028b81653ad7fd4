/*
 * Cells and tables that the parts of a report in words share. Private to report*.c.
 */
#ifndef SHARDSIM_SIM_TEXT_REPORT_WORDS_H
#define SHARDSIM_SIM_TEXT_REPORT_WORDS_H

#include "report/data.h"
#include "text/report_pen.h"

/* An empty table of strlen(align) columns with room for `most_rows`; the arena's. */
struct table words_table(struct arena *a, const char *caption, const char *align,
                         const char *const *head, size_t most_rows);

/* The cells of a new row. */
const char **words_row(struct table *t);

/* Figures as cells have them; "-" for NaN. */
const char *words_ratio(struct arena *a, double x);
const char *words_percent(struct arena *a, double part);
const char *words_count(struct arena *a, size_t n);
const char *words_time(struct arena *a, double seconds);

/* The parts of a report, each with its heading; nothing where there is nothing to say. */
void report_totals_text(const struct pen *pen, const struct report *r);
void report_families_text(const struct pen *pen, const struct report *r);
void report_best_text(const struct pen *pen, const struct report *r);
void report_bounds_text(const struct pen *pen, const struct report *r);
void report_bytes_text(const struct pen *pen, const struct report *r);
void report_origins_text(const struct pen *pen, const struct report *r);
void report_plannings_text(const struct pen *pen, const struct report *r);
void report_left_text(const struct pen *pen, const struct report *r);

/* Planners among themselves: best, matrices, bounds, bytes. */
void report_rivals_text(const struct pen *pen, const struct report *r);

#endif
