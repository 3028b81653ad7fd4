/* How many measured times lie in the intervals of simulated ones, which should hold 80 %. */
#ifndef SHARDSIM_SIM_MEASURE_HELD_H
#define SHARDSIM_SIM_MEASURE_HELD_H

#include "measure/likely.h"
#include "text/words.h"

struct held_time {
	const char *set;
	double measured_s;
	struct likely likely_s; /* between which the simulated time is; NaN: not known */
};

/* Returns a table of at most so many rows, whose first column has that head. */
struct pen_table held_table(struct arena *a, const char *caption, const char *head,
                            size_t rows);

/* Adds a row of those of the n times whose intervals are known; none without any. */
void held_row(struct pen_table *t, struct arena *a, const char *name,
              const struct held_time *time, size_t n);

/* Prints the table with a heading; nothing where it has no rows. */
void held_words(const struct pen *pen, const struct pen_table *t);

#endif
