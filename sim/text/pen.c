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

/* How many columns of a terminal a text takes: continued bytes of UTF-8 take none. */
static int width(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void md_heading(const struct pen *p, int level, const char *text)
{
	fprintf(p->out, "%.*s %s\n\n", level, "######", md_escape(p->arena, text, CELL));
}

/* Wraps a paragraph at 88 columns; asterisks and bars are left for the reader. */
static void md_paragraph(const struct pen *p, const char *text)
{
	size_t column = 0;

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

/* Escapes TeX's own characters, and those that the usual text fonts lack. */
static const char *tex_escape(struct arena *a, const char *text)
{
	static const char *const special[256] = {
		['\\'] = "\\textbackslash{}",
		['~'] = "\\textasciitilde{}",
		['^'] = "\\textasciicircum{}",
		['<'] = "\\textless{}",
		['>'] = "\\textgreater{}",
		['|'] = "\\textbar{}",
		['&'] = "\\&",
		['%'] = "\\%",
		['$'] = "\\$",
		['#'] = "\\#",
		['_'] = "\\_",
		['{'] = "\\{",
		['}'] = "\\}",
		['"'] = "''",
	};
	struct text out = {0};

	for (; *text; text++) {
		const char *as = special[(unsigned char)*text];

		if (as)
			text_printf(&out, "%s", as);
		else
			text_append(&out, (unsigned char)*text < ' ' ? " " : text, 1);
		/* Two hyphens in a row would become a dash. */
		if (text[0] == '-' && text[1] == '-')
			text_printf(&out, "{}");
	}
	return text_take(&out, a);
}

static void tex_heading(const struct pen *p, int level, const char *text)
{
	(void)level; /* tables float: their captions say what the headings do */
	fprintf(p->out, "%% %s\n", md_escape(p->arena, text, CELL));
}

static void tex_paragraph(const struct pen *p, const char *text)
{
	fprintf(p->out, "\\noindent %s\\par\n\n", tex_escape(p->arena, text));
}

static void tex_row(const struct pen *p, const char *const *cell, size_t columns)
{
	for (size_t c = 0; c < columns; c++)
		fprintf(p->out, "%s%s", c ? " & " : "", tex_escape(p->arena, cell[c]));
	fputs(" \\\\\n", p->out);
}

/* Writes rows [first, end) of a table as one that floats. */
static void tex_float(const struct pen *p, const struct pen_table *t, size_t first,
                      size_t end)
{
	fprintf(p->out, "\\begin{table}\n\\centering\\footnotesize\n\\caption{%s%s}\n",
	        tex_escape(p->arena, t->caption), first ? " (continued)" : "");
	fputs("\\setlength{\\tabcolsep}{3pt}\n\\begin{tabular}{@{}", p->out);
	for (size_t c = 0; c < t->columns; c++)
		fprintf(p->out, t->align[c] == 'p' ? "p{0.4\\linewidth}" : "%c",
		        t->align[c]);
	fputs("@{}}\n\\toprule\n", p->out);
	tex_row(p, t->head, t->columns);
	fputs("\\midrule\n", p->out);
	for (; first < end; first++)
		tex_row(p, t->cell + first * t->columns, t->columns);
	fputs("\\bottomrule\n\\end{tabular}\n\\end{table}\n\n", p->out);
}

/*
 * Writes a table in parts. TeX gives up when too many tables wait for a page, as they do behind one that is higher
 * than a page, and where there is little text between them.
 */
static void tex_table(const struct pen *p, const struct pen_table *t)
{
	enum { ROWS = 45, WAITING = 8 };
	size_t first = 0;

	do {
		size_t end = t->rows - first > ROWS ? first + ROWS : t->rows;

		tex_float(p, t, first, end);
		if (++*p->floats % WAITING == 0)
			fputs("\\clearpage\n\n", p->out);
		first = end;
	} while (first < t->rows);
}

struct pen pen_md(FILE *out, struct arena *a)
{
	return (struct pen){out, a, NULL, md_heading, md_paragraph, md_table};
}

struct pen pen_tex(FILE *out, struct arena *a)
{
	return (struct pen){
		out,           a,        arena_alloc(a, 1, sizeof(size_t)), tex_heading,
		tex_paragraph, tex_table};
}
