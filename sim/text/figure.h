/*
 * Figures of several panels under one title with one legend, by gnuplot. Curves differ in
 * their dashes and markers and in how dark they are, so that grey print tells them apart.
 *
 * Sizes are in pixels of an SVG; a PDF has 0.025 cm for each.
 */
#ifndef SHARDSIM_SIM_TEXT_FIGURE_H
#define SHARDSIM_SIM_TEXT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
	FIGURE_STYLES = 12,       /* that differ */
	FIGURE_PLOT_WIDTH = 340,  /* of a panel between its axes */
	FIGURE_PLOT_HEIGHT = 200, /* the same */
	FIGURE_CHARACTER = 8      /* how wide one is at most, on average */
};

struct figure {
	const char *title;
	const char *const *legend; /* [nlegend]: what is drawn in style 0, 1, ... */
	size_t nlegend;
	bool bars;  /* these are bars, in the styles' colours */
	bool plain; /* no text of a panel is gnuplot's enhanced one, such as 10^{3} */
	const char *const *panel; /* [npanels]: their titles; long ones are broken */
	size_t npanels;
};

/* Begins a picture for a terminal of gnuplot ("svg", "pdfcairo"). */
void figure_begin(FILE *out, const char *terminal, const struct figure *f);

/* Puts what the next `plot` draws into panel i. */
void figure_panel(FILE *out, const struct figure *f, size_t i);

/* Draws title and legend, and ends the picture. */
void figure_end(FILE *out, const struct figure *f);

/*
 * Writes how `plot` draws data in style i: "lines", "fsteps", "points", "linespoints".
 */
void figure_style(FILE *out, const char *with, size_t i);

/* Returns the colour of style i, "#125aa2". */
const char *figure_colour(size_t i);

/* Writes a text as gnuplot's string, in lines of at most so many pixels. */
void figure_lines(FILE *out, const char *text, int width);

#endif
