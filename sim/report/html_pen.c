/* Headings, paragraphs and tables as HTML. */
#include "report/html.h"
#include "text/words.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *html_escape(struct arena *a, const char *text)
{
	static const char *const special[256] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
	struct text out = {0};

	for (; *text; text++) {
		const char *as = special[(unsigned char)*text];
		int turn = words_direction_control(text);

		if (turn) {
			text_printf(&out, "%s", WORDS_REPLACED);
			text += turn - 1;
		} else if (as)
			text_printf(&out, "%s", as);
		else
			text_append(&out, (unsigned char)*text < ' ' ? " " : text, 1);
	}
	return text_take(&out, a);
}

const char *html_id(struct arena *a, const char *text)
{
	char *id = arena_strdup(a, text), *out = id;

	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || *text == '_')
			*out++ = (char)tolower((unsigned char)*text);
		else if (out > id && out[-1] != '-')
			*out++ = '-';
	}
	while (out > id && out[-1] == '-')
		out--;
	*out = '\0';
	return id;
}

/* The page has a title of its own at level 1. */
static void html_heading(const struct pen *p, int level, const char *text)
{
	level = level < 2 ? 2 : level;
	if (level == 2)
		fprintf(p->out, "<h2 id=\"%s\">%s</h2>\n", html_id(p->arena, text),
		        html_escape(p->arena, text));
	else
		fprintf(p->out, "<h%d>%s</h%d>\n", level, html_escape(p->arena, text),
		        level);
}

static void html_paragraph(const struct pen *p, const char *text)
{
	const char *class = strncmp(text, "WARNING", 7) == 0 ? "warning" : "note";

	fprintf(p->out, "<p class=\"%s\">%s</p>\n", class, html_escape(p->arena, text));
}

static void html_row(const struct pen *p, const struct pen_table *t, const char *tag,
                     const char *const *cell)
{
	static const char *const class[256] = {
		['r'] = " class=\"r\"", ['p'] = " class=\"p\""};

	fputs("<tr>", p->out);
	for (size_t c = 0; c < t->columns; c++) {
		const char *as = class[(unsigned char)t->align[c]];

		fprintf(p->out, "<%s%s>%s</%s>", tag, as ? as : "",
		        html_escape(p->arena, cell[c]), tag);
	}
	fputs("</tr>\n", p->out);
}

static void html_table(const struct pen *p, const struct pen_table *t)
{
	fprintf(p->out,
	        "<div class=\"scroll\" tabindex=\"0\"><table>\n"
	        "<caption>%s</caption>\n<thead>",
	        html_escape(p->arena, t->caption));
	html_row(p, t, "th", t->head);
	fputs("</thead>\n<tbody>\n", p->out);
	for (size_t r = 0; r < t->rows; r++)
		html_row(p, t, "td", t->cell + r * t->columns);
	fputs("</tbody></table></div>\n", p->out);
}

struct pen pen_html(FILE *out, struct arena *a)
{
	return (struct pen){.out = out,
	                    .arena = a,
	                    .heading = html_heading,
	                    .paragraph = html_paragraph,
	                    .table = html_table};
}

double html_at(const struct html_axis *x, double value)
{
	double part = log(value / x->lo) / log(x->hi / x->lo);

	return x->from + fmin(fmax(part, 0), 1) * (x->to - x->from);
}

int html_ticks(double *tick, int capacity, const struct html_axis *x)
{
	static const double steps[] = {1, 2, 5};
	double decades = log10(x->hi / x->lo);
	int stride = decades > 2.2 ? 3 : 1, n = 0;
	int sparse = (int)ceil(decades / 8); /* decades from tick to tick */

	sparse = sparse < 1 ? 1 : sparse;
	for (int e = (int)floor(log10(x->lo)); n < capacity; e++) {
		if (pow(10, e) > x->hi * (1 + 1e-9))
			return n;
		for (int k = 0; k < 3 && n < capacity; k += stride) {
			double value = steps[k] * pow(10, e);

			if (value >= x->lo * (1 - 1e-9) &&
			    value <= x->hi * (1 + 1e-9) && e % sparse == 0)
				tick[n++] = value;
		}
	}
	return n;
}
