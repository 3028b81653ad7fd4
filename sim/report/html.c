#include "report/html.h"

#include "report/select.h"
#include "report/text.h"
#include "report/web.h"
#include "text/words.h"

#include <string.h>

/* Says of which suites the sweep is, and of which version, as far as is known. */
static const char *made_of(struct arena *a, const struct report_options *o)
{
	return arena_printf(
		a, "%s%s%s%s%s", o->suites ? " Suite " : "", o->suites ? o->suites : "",
		o->version ? o->suites ? ", shardsim " : " Shardsim " : "",
		o->version ? o->version : "", o->suites || o->version ? "." : "");
}

void html_begin(FILE *out, struct arena *a, const struct report_options *o,
                const char *note)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n"
	      "<title>Sweep report</title>\n<style>\n",
	      out);
	fputs(web_page_css, out);
	fprintf(out,
	        "</style>\n</head>\n<body>\n<header><h1>Sweep report</h1>\n"
	        "<p class=\"note\">%s%s</p></header>\n",
	        html_escape(a, note), html_escape(a, made_of(a, o)));
}

void html_end(FILE *out)
{
	fputs("<footer>Made by shardsim report. Equal rows give an equal "
	      "page.</footer>\n</main>\n<script>\n",
	      out);
	fputs(web_page_js, out);
	fputs("</script>\n</body>\n</html>\n", out);
}

static void write_link(FILE *out, const char *id, const char *name)
{
	fprintf(out, "<a href=\"#%s\">%s</a>", id, name);
}

/* Has a scenario a limit of memory? */
static bool has_limits(const struct page *p)
{
	for (size_t i = 0; i < p->nrows; i++)
		if (*p->row[i]->memory_limit)
			return true;
	return false;
}

static void write_links(const struct page *p)
{
	fputs("<nav><div>", p->out);
	write_link(p->out, "summary", "Summary");
	write_link(p->out, "scenarios", "Scenarios");
	write_link(p->out, "distribution-of-speedups", "Speedups");
	if (p->report->nbounds)
		write_link(p->out, "time-over-the-lower-bound", "Bound");
	if (has_limits(p))
		write_link(p->out, "memory-against-the-limit", "Memory");
	if (p->report->nmatrices)
		write_link(p->out, "planner-against-planner", "Matrix");
	if (p->report->curves.ncurves)
		write_link(p->out, "varied-figures", "Curves");
	write_link(p->out, "plans", "Plans");
	write_link(p->out, "failures", "Failures");
	write_link(p->out, "left-out", "Left out");
	fputs("</div></nav>\n<main>\n", p->out);
}

static void write_card(FILE *out, const char *name, size_t n, bool bad)
{
	fprintf(out, "<div%s><dt>%s</dt><dd>%zu</dd></div>\n",
	        bad && n ? " class=\"bad\"" : "", name, n);
}

/* Returns how many scenarios: cases lie in a row by scenario. */
static size_t count_scenarios(const struct page *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nitems; i++)
		n += i == 0 || strcmp(p->item[i - 1].row[0]->scenario,
		                      p->item[i].row[0]->scenario) != 0;
	return n;
}

static void write_summary(const struct page *p)
{
	size_t outcome[OUTCOMES] = {0}, gains = 0, compared = 0;

	for (size_t i = 0; i < p->nrows; i++)
		outcome[p->row[i]->status]++;
	for (size_t i = 0; i < p->nitems; i++) {
		compared += p->item[i].speedup > 0;
		gains += p->item[i].speedup > 1 + REPORT_TIE;
	}
	fputs("<h2 id=\"summary\">Summary</h2>\n<dl class=\"cards\">\n", p->out);
	write_card(p->out, "scenarios", count_scenarios(p), false);
	write_card(p->out, "platforms, clocks", p->nplaces, false);
	write_card(p->out, "rows", p->nrows, false);
	for (int i = 0; i < OUTCOMES; i++)
		write_card(p->out, outcome_name((enum outcome)i), outcome[i],
		           i >= OUTCOME_WRONG);
	fprintf(p->out,
	        "</dl>\n<p>In %zu of %zu comparisons some planner is faster than %s.",
	        gains, compared, html_escape(p->arena, p->report->baseline));
	fputs("</p>\n", p->out);
}

/* The tables by family are long. */
static void write_families(const struct page *p)
{
	if (!p->report->families || p->report->nlines == 0)
		return;
	fputs("<details><summary>Speedups by family</summary>\n", p->out);
	report_families_text(&p->pen, p->report);
	fputs("</details>\n", p->out);
}

static void write_charts(const struct page *p)
{
	fputs("<h2 id=\"distribution-of-speedups\">Distribution of speedups</h2>\n"
	      "<p class=\"note\">How many scenarios have which speedup over the "
	      "baseline: the height of a bar is the square root of their number, each "
	      "planner to its own highest; the black mark is the median. The axis is "
	      "logarithmic, and the same for all machines.</p>\n",
	      p->out);
	html_distributions(p, HTML_SPEEDUP);
	if (p->report->nbounds) {
		report_bounds_text(&p->pen, p->report);
		html_distributions(p, HTML_BOUND);
	}
	if (!has_limits(p))
		return;
	fputs("<h2 id=\"memory-against-the-limit\">Memory against the limit</h2>\n"
	      "<p class=\"note\">The largest array that a plan has on a device over "
	      "the "
	      "scenario's memory limit, where it has one. Plans above 1 are "
	      "over-memory "
	      "rows, which have no plan to show.</p>\n",
	      p->out);
	html_distributions(p, HTML_LIMIT);
}

void report_html(FILE *out, struct arena *a, const struct report *r,
                 const struct row *rows, size_t n, const struct report_options *o)
{
	struct page p = {.out = out,
	                 .arena = a,
	                 .report = r,
	                 .options = o,
	                 .pen = pen_html(out, a)};

	p.row = arena_alloc(a, n, sizeof(*p.row));
	for (size_t i = 0; i < n; i++)
		if (report_wanted(o, &rows[i]))
			p.row[p.nrows++] = &rows[i];
	html_find_cases(&p);
	html_choose(&p);
	html_begin(out, a, o,
	           arena_printf(a, "Redistribution plans of %zu rows, compared with %s.",
	                        r->all, r->baseline));
	write_links(&p);
	write_summary(&p);
	report_totals_text(&p.pen, r);
	write_families(&p);
	html_scenario_table(&p);
	write_charts(&p);
	html_matrices(&p);
	report_best_text(&p.pen, r);
	html_curves(&p);
	html_scenarios(&p);
	html_faults(&p);
	report_bytes_text(&p.pen, r);
	report_apart_text(&p.pen, r);
	report_origins_text(&p.pen, r);
	report_plannings_text(&p.pen, r);
	report_left_text(&p.pen, r);
	html_end(out);
}
