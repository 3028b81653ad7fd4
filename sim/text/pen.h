/*
 * Markdown and LaTeX are the same document: headings, paragraphs and tables, put into
 * words once and written by one of two pens.
 */
#ifndef SHARDSIM_SIM_TEXT_PEN_H
#define SHARDSIM_SIM_TEXT_PEN_H

#include "base/arena.h"
#include "base/list.h"

#include <stdbool.h>
#include <stdio.h>

/* Texts are plain; the pen escapes what its format takes for markup. */
struct pen_table {
	const char *caption; /* LaTeX shows it; in Markdown the heading does that */
	const char *name;  /* by which it is chosen and labelled; NULL: it is neither */
	const char *place; /* tells tables of one name apart; or NULL */
	const char *note; /* what its heads mean; only LaTeX writes it below; or NULL */
	size_t columns, rows;
	const char *align;       /* per column l, r, or p: long text, not padded */
	const char *const *head; /* columns */
	const char **cell;       /* rows * columns */
};

/* Which tables are written, if not all; headings and paragraphs are not written then. */
struct pen_choice {
	const char *name;        /* a table's name, or its label */
	LIST(const char *) seen; /* names of all tables, each once, in the arena */
	size_t taken;            /* how many were written */
};

struct pen {
	FILE *out;
	struct arena *arena;       /* for passing needs */
	size_t *floats;            /* LaTeX: tables written so far */
	struct pen_choice *choice; /* NULL: all is written */
	void (*heading)(const struct pen *p, int level, const char *text);
	void (*paragraph)(const struct pen *p, const char *text);
	void (*table)(const struct pen *p, const struct pen_table *t);
};

/* Returns the table's name and place as a label: "speedup-real"; the arena's. */
const char *pen_label(struct arena *a, const struct pen_table *t);

/* Tells whether a table is chosen, and counts it. */
bool pen_takes(const struct pen *p, const struct pen_table *t);

/* Writes a text as a comment of LaTeX, on one line. */
void pen_tex_comment(FILE *out, const char *text);

/* The documents need the packages booktabs and graphicx in LaTeX. */
struct pen pen_md(FILE *out, struct arena *a);
struct pen pen_tex(FILE *out, struct arena *a);

#endif
