/* The tables of `validate`. */
#ifndef SHARDSIM_SIM_VALIDATE_REPORT_H
#define SHARDSIM_SIM_VALIDATE_REPORT_H

#include "text/pen.h"
#include "validate/validate.h"

/*
 * Prints errors in total and per system, then per system, collective and size class
 * with the worst row, then what was left out and why. An error is a factor, exp
 * |log(simulated / measured)|.
 */
void validate_words(const struct pen *pen, const struct validation *v);

/* Print all rows, with those left out, as CSV and as JSON. */
void validate_csv(FILE *out, const struct validation *v);
void validate_json(FILE *out, const struct validation *v);

#endif
