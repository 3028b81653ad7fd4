/* The plot of `validate`: simulated lines and measured dots, a panel per system. */
#ifndef SHARDSIM_SIM_VALIDATE_PLOT_H
#define SHARDSIM_SIM_VALIDATE_PLOT_H

#include "validate/validate.h"

/*
 * Writes the plot `path`, which ends in .svg or .pdf. It shows microseconds over bytes,
 * both logarithmic, of every system with at least 4 rows of different sizes that were
 * run, with a line per collective and number of devices; each collective looks the same
 * in all panels. It is an E_SYNTAX if the
 * ending is another one, an E_RANGE if there is no such system, and an E_IO if gnuplot
 * or the file fails.
 */
enum status validate_plot(const char *path, const struct validation *v, struct error *e);

#endif
