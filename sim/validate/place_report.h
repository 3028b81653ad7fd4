/* The tables of `validate` for measured placements. */
#ifndef SHARDSIM_SIM_VALIDATE_PLACE_REPORT_H
#define SHARDSIM_SIM_VALIDATE_PLACE_REPORT_H

#include "text/pen.h"
#include "validate/place.h"

/* Prints errors and ranks per system and in total, improvements, and top-k accuracy. */
void place_validate_words(const struct pen *pen, const struct place_table *t);

/*
 * Print all rows as CSV, or as JSON with totals; seconds are of all runs, as in the
 * tables.
 */
void place_validate_csv(FILE *out, const struct place_table *t);
void place_validate_json(FILE *out, const struct place_table *t);

#endif
