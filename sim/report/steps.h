/* Groups of training steps, and how they are drawn. Private to sim/report. */
#ifndef SHARDSIM_SIM_REPORT_STEPS_H
#define SHARDSIM_SIM_REPORT_STEPS_H

#include "report/report.h"

/* The rows of one family on one machine, the fastest first and those without a time last. */
struct step_group {
	const struct row **row;
	size_t n;
	const struct row *baseline; /* NULL: its row has no time */
};

/* Takes the group that begins at row[i] of n sorted ones, and returns where the next does. */
size_t step_group_take(struct step_group *out, const struct row **row, size_t i,
                       size_t n, const char *baseline);

/* Returns the rows of the families asked for, in order; NULL without any or a baseline. */
const struct row **step_rows(size_t *n, struct arena *a, const struct row *rows,
                             size_t nrows, const struct report_options *o,
                             struct error *e);

/* What a step's time is made of. */
enum { STEP_PARTS = 4 };
extern const char *const step_part_names[STEP_PARTS];
double step_part_s(const struct row *r, int part);

/* Draws the times of a group as bars of their parts, into a page. */
void step_bars_html(FILE *out, struct arena *a, const struct step_group *g);

/* Draws those of all groups as report_plot() does; its errors. */
enum status step_plot(const char *path, struct arena *a, const struct row *rows,
                      size_t n, const struct report_options *o, struct error *e);

#endif
