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

/* Writes any text, or its first n bytes, as gnuplot's string. */
void gnuplot_string(FILE *out, const char *s);
void gnuplot_part(FILE *out, const char *s, size_t n);

#endif
