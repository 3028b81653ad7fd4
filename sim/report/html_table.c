/* The table of scenarios: its first rows as HTML, all of them as JSON for the script. */
#include "report/html.h"
#include "report/select.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns. Those with a unit are figures, which the script prints as the page does. */
static const struct column {
	const char *head, *unit, *title;
} columns[] = {
	{"scenario", "", "name of the scenario"},
	{"family", "", "its family"},
	{"platform", "", "the machine"},
	{"clock", "", "how plans are timed"},
	{"fastest", "", "the planner with the least time; +n are as fast within 1e-6"},
	{"time", "s", "time of the fastest planner"},
	{"baseline", "s", "time of the baseline"},
	{"speedup", "x", "time of the baseline over that of the fastest planner"},
	{"x bound", "x", "time of the fastest planner over the lower bound"},
	{"memory", "B", "largest memory in use under the fastest planner"},
	{"of limit", "%", "largest array over the memory limit"},
	{"solved", "", "planners with a plan, of all that were asked"},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), FIRST_FIGURE = 5, FIGURES = 6 };

/* Fills in the columns from `time` to `of limit`; NaN where there is no figure. */
static void figures_of(double out[FIGURES], const struct html_case *c)
{
	const struct row *r = c->fastest;

	out[0] = r ? r->time_s : NAN;
	out[1] = c->baseline ? c->baseline->time_s : NAN;
	out[2] = c->speedup;
	out[3] = r && r->bound_s > 0 ? r->time_s / r->bound_s : NAN;
	out[4] = r && r->peak_live_bytes >= 0 ? (double)r->peak_live_bytes : NAN;
	out[5] = r && r->peak_array_bytes >= 0
	                 ? (double)r->peak_array_bytes / html_limit_bytes(r)
	                 : NAN;
}

static const char *figure_text(struct arena *a, char unit, double x)
{
	switch (unit) {
	case 's':
		return words_time(a, x);
	case 'B':
		return words_bytes(a, x);
	case '%':
		return words_percent(a, x);
	default:
		return words_ratio(a, x);
	}
}

/* Puts the largest speedups first, then what has none. */
static int compare_items(const void *left, const void *right)
{
	const struct html_case *a = *(const struct html_case *const *)left;
	const struct html_case *b = *(const struct html_case *const *)right;
	bool known = !isnan(a->speedup);

	if (known != !isnan(b->speedup))
		return known ? -1 : 1;
	if (known && a->speedup != b->speedup)
		return a->speedup > b->speedup ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void write_item(const struct page *p, const struct html_case *c)
{
	struct arena *a = p->arena;
	const struct row *r = c->row[0];
	double figure[FIGURES];
	FILE *out = p->out;

	figures_of(figure, c);
	fputs("<tr><td>", out);
	if (c->section)
		fprintf(out, "<a href=\"#s%d\">%s</a>", c->section,
		        html_escape(a, r->scenario));
	else
		fputs(html_escape(a, r->scenario), out);
	fprintf(out, "</td><td>%s</td><td>%s</td><td>%s</td><td>%s",
	        html_escape(a, r->family), html_escape(a, r->platform),
	        html_escape(a, r->clock),
	        c->fastest ? html_escape(a, c->fastest->planner) : "-");
	if (c->ties)
		fprintf(out, " <small>+%zu</small>", c->ties);
	fputs("</td>", out);
	for (int i = 0; i < FIGURES; i++)
		fprintf(out, "<td class=\"r\">%s</td>",
		        html_escape(a, figure_text(a, columns[FIRST_FIGURE + i].unit[0],
		                                   figure[i])));
	fprintf(out, "<td class=\"r\">%zu/%zu</td></tr>\n", c->solved, c->n);
}

/* --- JSON --------------------------------------------------------------------------- */

/* Writes a string that is harmless inside a script element and where the script shows it. */
static void write_string(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		int turn = words_direction_control(s);

		if (turn) {
			fputs(WORDS_REPLACED, out);
			s += turn - 1;
		} else if (c < ' ' || strchr("\"\\<>&", c))
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

struct names {
	const char **name;
	size_t n;
};

/* Returns the distinct texts that all rows have in a field, in byte order. */
static struct names find_names(const struct page *p, size_t offset)
{
	struct names names = {arena_alloc(p->arena, p->nrows, sizeof(const char *)), 0};

	for (size_t i = 0; i < p->nrows; i++) {
		const char *name =
			*(const char *const *)((const char *)p->row[i] + offset);

		if (i == 0 || strcmp(names.name[names.n - 1], name) != 0)
			names.name[names.n++] = name;
	}
	names.n = names_distinct(names.name, names.n);
	return names;
}

/* Returns the number that the script knows the name by. */
static int number_of(const struct names *names, const char *name)
{
	return (int)names_find(names->name, names->n, name);
}

enum { SCENARIO, FAMILY, PLATFORM, CLOCK, PLANNER, NAMES };

static void write_record(FILE *out, const struct names *names, const struct html_case *c)
{
	const struct row *r = c->row[0];
	double figure[FIGURES];

	figures_of(figure, c);
	fprintf(out, "[%d,%d,%d,%d,%d", number_of(&names[SCENARIO], r->scenario),
	        number_of(&names[FAMILY], r->family),
	        number_of(&names[PLATFORM], r->platform),
	        number_of(&names[CLOCK], r->clock),
	        c->fastest ? number_of(&names[PLANNER], c->fastest->planner) : -1);
	for (int i = 0; i < FIGURES; i++) {
		if (isnan(figure[i]) || isinf(figure[i]))
			fputs(",null", out);
		else
			fprintf(out, ",%.9g", figure[i]);
	}
	fprintf(out, ",%zu,%zu,%zu,%d,%d]", c->solved, c->n, c->ties, c->section,
	        c->faults > 0);
}

static void write_json(const struct page *p, struct html_case *const *item)
{
	static const struct {
		const char *name;
		size_t offset;
	} field[NAMES] = {
		[SCENARIO] = {"scenarios", offsetof(struct row, scenario)},
		[FAMILY] = {"families", offsetof(struct row, family)},
		[PLATFORM] = {"platforms", offsetof(struct row, platform)},
		[CLOCK] = {"clocks", offsetof(struct row, clock)},
		[PLANNER] = {"planners", offsetof(struct row, planner)},
	};
	struct names names[NAMES];

	fputs("<script type=\"application/json\" id=\"cases\">{", p->out);
	for (int f = 0; f < NAMES; f++) {
		names[f] = find_names(p, field[f].offset);
		fprintf(p->out, "%s\"%s\":[", f ? ",\n" : "", field[f].name);
		for (size_t i = 0; i < names[f].n; i++) {
			fputs(i ? "," : "", p->out);
			write_string(p->out, names[f].name[i]);
		}
		fputs("]", p->out);
	}
	fputs(",\n\"rows\":[", p->out);
	for (size_t i = 0; i < p->nitems; i++) {
		fputs(i ? ",\n" : "", p->out);
		write_record(p->out, names, item[i]);
	}
	fputs("]}</script>\n", p->out);
}

/* --- the table ---------------------------------------------------------------------- */

static void write_head(const struct page *p)
{
	fputs("<thead><tr>", p->out);
	for (int c = 0; c < COLUMNS; c++)
		fprintf(p->out, "<th%s data-unit=\"%s\" title=\"%s\">%s</th>",
		        *columns[c].unit || c == COLUMNS - 1 ? " class=\"r\"" : "",
		        columns[c].unit, columns[c].title, columns[c].head);
	fputs("</tr></thead>\n", p->out);
}

void html_scenario_table(const struct page *p)
{
	struct html_case **item = xmalloc(p->nitems + 1, sizeof(struct html_case *));

	for (size_t i = 0; i < p->nitems; i++)
		item[i] = &p->item[i];
	qsort(item, p->nitems, sizeof(struct html_case *), compare_items);
	p->pen.heading(&p->pen, 2, "Scenarios");
	fprintf(p->out,
	        "<p class=\"note\">A line for each scenario, platform and clock: the "
	        "fastest planner (best only where no other is as fast) against %s. "
	        "Linked ones have their plans <a href=\"#plans\">below</a>. Every row "
	        "of "
	        "the sweep, with its message, is in <code>shardsim report DIR "
	        "--rows</code>.</p>\n",
	        html_escape(p->arena, p->report->baseline));
	fputs("<div id=\"controls\" hidden></div>\n", p->out);
	if (p->nitems > HTML_TABLE_ROWS)
		fprintf(p->out,
		        "<noscript><p class=\"note\">The %d largest speedups of %zu; "
		        "with "
		        "scripts the table shows, sorts and filters "
		        "all.</p></noscript>\n",
		        HTML_TABLE_ROWS, p->nitems);
	fputs("<div class=\"scroll\" tabindex=\"0\"><table id=\"scenario-table\">\n"
	      "<caption>Scenarios</caption>\n",
	      p->out);
	write_head(p);
	fputs("<tbody>\n", p->out);
	for (size_t i = 0; i < p->nitems && i < HTML_TABLE_ROWS; i++)
		write_item(p, item[i]);
	fputs("</tbody></table></div>\n<div id=\"pager\" hidden></div>\n", p->out);
	write_json(p, item);
	free(item);
}
