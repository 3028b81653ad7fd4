#include "text/pen.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Would a browser take what follows for a tag? */
static bool starts_tag(const char *text)
{
	return *text == '<' && text[1] &&
	       (isalpha((unsigned char)text[1]) || strchr("/!?", text[1]));
}

/* The bytes that would end a cell of a table or be taken for markup in it. */
#define CELL "|\\*`"

/* Puts a text on one line, with a backslash before tags and the bytes of `markup`. */
static const char *md_escape(struct arena *a, const char *text, const char *markup)
{
	struct text out = {0};

	for (; *text; text++) {
		if (strchr(markup, *text) || starts_tag(text))
			text_append(&out, "\\", 1);
		text_append(&out, (unsigned char)*text < ' ' ? " " : text, 1);
	}
	return text_take(&out, a);
}

/*
 * Returns how many columns of a terminal a text takes: continued bytes of UTF-8 take
 * none.
 */
static int width(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void md_heading(const struct pen *p, int level, const char *text)
{
	if (p->choice)
		return;
	fprintf(p->out, "%.*s %s\n\n", level, "######", md_escape(p->arena, text, CELL));
}

/* Wraps a paragraph at 88 columns; asterisks and bars are left for the reader. */
static void md_paragraph(const struct pen *p, const char *text)
{
	size_t column = 0;

	if (p->choice)
		return;
	text = md_escape(p->arena, text, "\\`");
	while (*text) {
		size_t word = strcspn(text, " ");

		if (column && column + 1 + word > 88) {
			fputc('\n', p->out);
			column = 0;
		} else if (column) {
			fputc(' ', p->out);
			column++;
		}
		fprintf(p->out, "%.*s", (int)word, text);
		column += word;
		text += word;
		text += *text == ' ';
	}
	fputs("\n\n", p->out);
}

static void md_cell(FILE *out, const char *text, int columns, char align)
{
	int pad = align == 'p' || columns < width(text) ? 0 : columns - width(text);

	if (align == 'r')
		fprintf(out, " %*s%s |", pad, "", text);
	else
		fprintf(out, " %s%*s |", text, pad, "");
}

static void md_rule(FILE *out, int columns, char align)
{
	fputc(' ', out);
	for (int i = 0; i < columns - (align == 'r'); i++)
		fputc('-', out);
	fputs(align == 'r' ? ": |" : " |", out);
}

static void md_table(const struct pen *p, const struct pen_table *t)
{
	int *columns = arena_alloc(p->arena, t->columns, sizeof(*columns));
	const char **cell =
		arena_alloc(p->arena, t->rows * t->columns, sizeof(const char *));

	if (!pen_takes(p, t))
		return;
	for (size_t c = 0; c < t->columns; c++)
		columns[c] = width(t->head[c]) < 3 ? 3 : width(t->head[c]);
	for (size_t i = 0; i < t->rows * t->columns; i++) {
		int *column = &columns[i % t->columns];

		cell[i] = md_escape(p->arena, t->cell[i], CELL);
		if (t->align[i % t->columns] != 'p' && *column < width(cell[i]))
			*column = width(cell[i]);
	}
	fputc('|', p->out);
	for (size_t c = 0; c < t->columns; c++)
		md_cell(p->out, t->head[c], columns[c], t->align[c]);
	fputs("\n|", p->out);
	for (size_t c = 0; c < t->columns; c++)
		md_rule(p->out, columns[c], t->align[c]);
	for (size_t r = 0; r < t->rows; r++) {
		fputs("\n|", p->out);
		for (size_t c = 0; c < t->columns; c++)
			md_cell(p->out, cell[r * t->columns + c], columns[c],
			        t->align[c]);
	}
	fputs("\n\n", p->out);
}

const char *pen_label(struct arena *a, const struct pen_table *t)
{
	struct text out = {0};
	bool gap = t->place != NULL;

	text_printf(&out, "%s", t->name);
	for (const char *p = t->place ? t->place : ""; *p; p++) {
		if (isalnum((unsigned char)*p))
			text_printf(&out, "%s%c", gap ? "-" : "",
			            tolower((unsigned char)*p));
		gap = !isalnum((unsigned char)*p);
	}
	return text_take(&out, a);
}

/* Notes the name of a table that passes by. */
static void see_name(struct pen_choice *c, struct arena *a, const char *name)
{
	for (int64_t i = 0; i < c->seen.n; i++)
		if (strcmp(c->seen.at[i], name) == 0)
			return;
	*list_add(&c->seen, a) = name;
}

bool pen_takes(const struct pen *p, const struct pen_table *t)
{
	struct pen_choice *c = p->choice;

	if (!c)
		return true;
	if (!t->name)
		return false;
	see_name(c, p->arena, t->name);
	if (strcmp(c->name, t->name) != 0 && strcmp(c->name, pen_label(p->arena, t)) != 0)
		return false;
	c->taken++;
	return true;
}

struct pen pen_md(FILE *out, struct arena *a)
{
	return (struct pen){.out = out,
	                    .arena = a,
	                    .heading = md_heading,
	                    .paragraph = md_paragraph,
	                    .table = md_table};
}
