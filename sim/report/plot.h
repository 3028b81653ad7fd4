/*
 * The plot of a sweep, through gnuplot, under the first clock asked for, else the one
 * nearest to SimGrid that has rows: a panel for each machine with the speedups over the
 * baseline in rising order, so that shares, ties and the longest gains are seen at once;
 * and for each figure that was varied a panel with the mean speedups along it (curve.h),
 * over a numeric axis if it has numbers.
 * Real scenarios, random problems and pairs of layouts are never in one plot: it is of the
 * first of these that there is. All panels have the same scale of speedups, and a planner
 * looks the same in each.
 *
 * Of training steps it has a panel for each family on each machine, with a bar for each step
 * that has a time, the fastest first, of what that is made of.
 */
#ifndef SHARDSIM_SIM_REPORT_PLOT_H
#define SHARDSIM_SIM_REPORT_PLOT_H

#include "report/report.h"

/* A plot has at most so many panels; its title tells if there would be more. */
enum { PLOT_PANELS = 24 };

/*
 * Writes the plot to `path`, whose ending says how: .svg or .pdf. E_SYNTAX: another
 * ending; E_RANGE: nothing to compare; E_IO: gnuplot or the file. A path that cannot be
 * written is found before any row is read.
 */
enum status report_plot(const char *path, struct store *store,
                        const struct report_options *o, struct error *e);

#endif
