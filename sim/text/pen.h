/*
 * Markdown and LaTeX are the same document: headings, paragraphs and tables, put into
 * words once and written by one of two pens.
 */
#ifndef SHARDSIM_SIM_TEXT_PEN_H
#define SHARDSIM_SIM_TEXT_PEN_H

#include "base/arena.h"

#include <stdio.h>

/* Texts are plain; the pen escapes what its format takes for markup. */
struct pen_table {
	const char *caption; /* LaTeX shows it; in Markdown the heading does that */
	size_t columns, rows;
	const char *align;       /* per column l, r, or p: long text, not padded */
	const char *const *head; /* columns */
	const char **cell;       /* rows * columns */
};

struct pen {
	FILE *out;
	struct arena *arena; /* for passing needs */
	size_t *floats;      /* LaTeX: tables written so far */
	void (*heading)(const struct pen *p, int level, const char *text);
	void (*paragraph)(const struct pen *p, const char *text);
	void (*table)(const struct pen *p, const struct pen_table *t);
};

struct pen pen_md(FILE *out, struct arena *a);
struct pen pen_tex(FILE *out, struct arena *a);

#endif
