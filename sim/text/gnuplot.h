/* Pictures by the program gnuplot. */
#ifndef SHARDSIM_SIM_TEXT_GNUPLOT_H
#define SHARDSIM_SIM_TEXT_GNUPLOT_H

#include "base/error.h"

#include <stdio.h>

/* Writes gnuplot's commands, with their data, for a terminal ("svg", "pdfcairo"). */
typedef void gnuplot_fn(FILE *out, const char *terminal, const void *self);

/* E_SYNTAX: the path ends in neither .svg nor .pdf, which say how to draw. */
enum status gnuplot_check(const char *path, struct error *e);

/* Draws to `path`, whole or not at all. E_SYNTAX as above; E_IO: gnuplot or the file. */
enum status gnuplot_draw(const char *path, gnuplot_fn *write, const void *self,
                         struct error *e);

/*
 * For the writer: sets the terminal and a title over `panels` plots in at most so many
 * columns, and ends them all.
 */
void gnuplot_panels(FILE *out, const char *terminal, const char *title, size_t panels,
                    size_t columns);
void gnuplot_end(FILE *out);

/* Writes any text as gnuplot's string. */
void gnuplot_string(FILE *out, const char *s);

/* Returns a colour for curve i, "#d62728"; there are twelve. */
const char *gnuplot_colour(size_t i);

#endif
