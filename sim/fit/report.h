/* The tables of `fit`. */
#ifndef SHARDSIM_SIM_FIT_REPORT_H
#define SHARDSIM_SIM_FIT_REPORT_H

#include "fit/log.h"
#include "fit/others.h"
#include "text/pen.h"

/*
 * Prints constants with standard errors, errors before and after, each set left out, and
 * each family of several.
 */
void fit_words(const struct pen *pen, const struct family_fit *fit,
               const struct left_out_family *family, int n);

/*
 * Prints the same of a log, the rest of the constants with the reasons why they were not
 * fitted, and the `--platform` that has the constants.
 */
void fit_log_words(const struct pen *pen, const struct log_fit *fit);

#endif
