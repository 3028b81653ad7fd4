/*
 * The plot of a sweep, through gnuplot: for each platform the speedups over the baseline
 * in rising order, one curve per planner, so that shares, ties and the longest gains are
 * seen at once. The clock is the first one asked for, else `model`.
 */
#ifndef SHARDSIM_SIM_REPORT_PLOT_H
#define SHARDSIM_SIM_REPORT_PLOT_H

#include "report/report.h"

/*
 * Writes the plot to `path`, whose ending says how: .svg or .pdf. E_SYNTAX: another
 * ending; E_RANGE: nothing to compare; E_IO: gnuplot or the file.
 */
enum status report_plot(const char *path, struct store *store,
                        const struct report_options *o, struct error *e);

#endif
