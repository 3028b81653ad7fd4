/* The tables of `fit`. */
#ifndef SHARDSIM_SIM_FIT_REPORT_H
#define SHARDSIM_SIM_FIT_REPORT_H

#include "fit/log.h"
#include "text/pen.h"

/*
 * Prints constants with standard errors, errors before and after, and each set left
 * out.
 */
void fit_words(const struct pen *pen, const struct family_fit *fit, int n);

/*
 * Prints the same of a log, the rest of the constants with the reasons why they were not
 * fitted, and the `--platform` that has the constants.
 */
void fit_log_words(const struct pen *pen, const struct log_fit *fit);

#endif
