/* The plot of `validate`: simulated lines and measured dots, a panel per system. */
#ifndef SHARDSIM_SIM_VALIDATE_PLOT_H
#define SHARDSIM_SIM_VALIDATE_PLOT_H

#include "validate/validate.h"

/*
 * Microseconds over bytes, both logarithmic, of every system with at least 4 rows that
 * were run, of different sizes; a curve per collective and number of devices. Writes `path`, .svg or .pdf.
 * E_SYNTAX: another ending; E_RANGE: no such system; E_IO: gnuplot or the file.
 */
enum status validate_plot(const char *path, const struct validation *v, struct error *e);

#endif
