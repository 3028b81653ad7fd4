/* The pen of LaTeX. */
#include "text/pen.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * Stores the code of the character of UTF-8 that begins with this byte above 0x7f, and
 * returns its length; a byte of none is its own code.
 */
static size_t read_letter(unsigned *code, const unsigned char *s)
{
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 1;

	*code = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			*code = s[0];
			return 1;
		}
		*code = *code << 6 | (s[i] & 0x3f);
	}
	return n;
}

/*
 * Writes a character that is not of ASCII and returns its length. LaTeX stops at one that
 * its fonts lack: those that are no accented letters of Latin-1 become their codes.
 */
static size_t put_letter(struct text *out, const unsigned char *s)
{
	static const char lacking[] = "\xd0\xd7\xde\xf0\xf7\xfe";
	unsigned code;
	size_t n = read_letter(&code, s);

	if (n > 1 && code >= 0xc0 && code <= 0xff && !strchr(lacking, (int)code))
		text_append(out, (const char *)s, n);
	else
		text_printf(out, "[U+%04X]", code);
	return n;
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
		['`'] = "\\textasciigrave{}",
	};
	struct text out = {0};

	for (; *text; text++) {
		const char *as = special[(unsigned char)*text];

		if (as)
			text_printf(&out, "%s", as);
		else if ((unsigned char)*text >= 0x80)
			text += put_letter(&out, (const unsigned char *)text) - 1;
		else
			text_append(&out, (unsigned char)*text < ' ' ? " " : text, 1);
		/* Two hyphens in a row would become a dash. */
		if (text[0] == '-' && text[1] == '-')
			text_printf(&out, "{}");
	}
	return text_take(&out, a);
}

void pen_tex_comment(FILE *out, const char *text)
{
	fputs("% ", out);
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	fputc('\n', out);
}

static void tex_heading(const struct pen *p, int level, const char *text)
{
	(void)level; /* tables float: their captions say what the headings do */
	if (p->choice)
		return;
	pen_tex_comment(p->out, text);
}

static void tex_paragraph(const struct pen *p, const char *text)
{
	if (p->choice)
		return;
	fprintf(p->out, "\\noindent %s\\par\n\n", tex_escape(p->arena, text));
}

/* Lets lines of a long text break behind commas without a space: lists of settings. */
static const char *tex_breaks(struct arena *a, const char *text)
{
	struct text out = {0};

	for (; *text; text++)
		text_printf(&out, "%c%s", *text,
		            *text == ',' && text[1] && text[1] != ' ' ? "\\allowbreak{}"
		                                                      : "");
	return out.length ? text_take(&out, a) : "";
}

static void tex_row(const struct pen *p, const struct pen_table *t,
                    const char *const *cell)
{
	/* Behind the end of a line LaTeX takes these for a length, or a form of it. */
	fputs(cell[0][0] == '[' || cell[0][0] == '*' ? "{}" : "", p->out);
	for (size_t c = 0; c < t->columns; c++) {
		const char *text = tex_escape(p->arena, cell[c]);

		fprintf(p->out, "%s%s", c ? " & " : "",
		        t->align[c] == 'p' ? tex_breaks(p->arena, text) : text);
	}
	fputs(" \\\\\n", p->out);
}

/* Takes the numbers of "7", "7 of 9" (7) and "3 to 7" into [*least, *most]. */
static void take_count(long *least, long *most, const char *cell)
{
	char *end;
	long n = strtol(cell, &end, 10);
	const char *last = strncmp(end, " to ", 4) == 0 ? end + 4 : cell;

	if (end == cell)
		return;
	*least = n < *least ? n : *least;
	n = strtol(last, NULL, 10);
	*most = n > *most ? n : *most;
}

/* Returns ", n = 3 to 7" of the counts in the column or the row called n, or "". */
static const char *counts_of(struct arena *a, const struct pen_table *t)
{
	long least = LONG_MAX, most = -1;

	for (size_t r = 0; r < t->rows; r++) {
		const char *const *cell = t->cell + r * t->columns;

		for (size_t c = 1; c < t->columns; c++)
			if (strcmp(t->head[c], "n") == 0 || strcmp(cell[0], "n") == 0)
				take_count(&least, &most, cell[c]);
	}
	if (most < 0)
		return "";
	return least < most ? arena_printf(a, ", $n = %ld$ to $%ld$", least, most)
	                    : arena_printf(a, ", $n = %ld$", most);
}

/*
 * Writes rows [first, end) of a table as one that floats; one that is too wide for the
 * page is made smaller.
 */
static void tex_float(const struct pen *p, const struct pen_table *t, size_t first,
                      size_t end)
{
	fprintf(p->out, "\\begin{table}\n\\centering\\footnotesize\n\\caption{%s%s%s}",
	        tex_escape(p->arena, t->caption), counts_of(p->arena, t),
	        first ? " (continued)" : "");
	if (t->name && first == 0)
		fprintf(p->out, "\\label{tab:%s}", pen_label(p->arena, t));
	fputs("\n\\setlength{\\tabcolsep}{3pt}\n"
	      "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"
	      "\n"
	      "\\begin{tabular}{@{}",
	      p->out);
	for (size_t c = 0; c < t->columns; c++)
		fprintf(p->out, t->align[c] == 'p' ? "p{0.6\\linewidth}" : "%c",
		        t->align[c]);
	fputs("@{}}\n\\toprule\n", p->out);
	tex_row(p, t, t->head);
	fputs("\\midrule\n", p->out);
	for (; first < end; first++)
		tex_row(p, t, t->cell + first * t->columns);
	fputs("\\bottomrule\n\\end{tabular}}\n", p->out);
	if (t->note)
		fprintf(p->out,
		        "\\par\\smallskip\\parbox{\\linewidth}{\\scriptsize %s}\n",
		        tex_escape(p->arena, t->note));
	fputs("\\end{table}\n\n", p->out);
}

/* Returns how many lines a row takes where a long text has 35 letters to a line. */
static size_t row_lines(const struct pen_table *t, size_t row)
{
	enum { LETTERS = 35 };
	size_t lines = 1;

	for (size_t c = 0; c < t->columns; c++) {
		size_t n = strlen(t->cell[row * t->columns + c]) / LETTERS + 1;

		if (t->align[c] == 'p' && n > lines)
			lines = n;
	}
	return lines;
}

/* Returns the row behind the last one that has room on a page with the row `first`. */
static size_t page_end(const struct pen_table *t, size_t first)
{
	enum { LINES = 45 };
	size_t lines = 0, end = first;

	while (end < t->rows && (end == first || lines + row_lines(t, end) <= LINES))
		lines += row_lines(t, end++);
	return end;
}

/*
 * Writes a table in parts. TeX gives up when too many tables wait for a page, as they do
 * behind one that is higher than a page, and where there is little text between them.
 */
static void tex_table(const struct pen *p, const struct pen_table *t)
{
	enum { WAITING = 8 };
	size_t first = 0;

	if (!pen_takes(p, t))
		return;
	do {
		size_t end = page_end(t, first);

		tex_float(p, t, first, end);
		if (++*p->floats % WAITING == 0)
			fputs("\\clearpage\n\n", p->out);
		first = end;
	} while (first < t->rows);
}

struct pen pen_tex(FILE *out, struct arena *a)
{
	return (struct pen){.out = out,
	                    .arena = a,
	                    .floats = arena_alloc(a, 1, sizeof(size_t)),
	                    .heading = tex_heading,
	                    .paragraph = tex_paragraph,
	                    .table = tex_table};
}
