/*
 * The report as one static page: no network, all but sorting and filtering works without
 * scripts. Private to sim/report.
 *
 * What is drawn is chosen by fixed rules, said on the page: tables of text are those of
 * text.c; the table of scenarios shows its first HTML_TABLE_ROWS in the page itself
 * and all of them by its script, which has them as JSON; scenarios with a part of their
 * own are those that were asked for by name, or else the HTML_EACH with the largest gains,
 * with the largest losses, and with faults.
 */
#ifndef SHARDSIM_SIM_REPORT_HTML_H
#define SHARDSIM_SIM_REPORT_HTML_H

#include "report/data.h"
#include "text/pen.h"

enum {
	HTML_TABLE_ROWS = 100, /* of the table of scenarios without scripts */
	HTML_EACH = 8,         /* scenarios of each kind that have a part */
	HTML_NAMED = 100,      /* scenarios asked for that have a part */
	HTML_PLACES = 12,      /* platforms and clocks with charts and matrices */
	HTML_CURVES = 24,      /* curves drawn */
	HTML_FAULTS = 200,     /* messages of failed and wrong rows listed */
	HTML_FAULT_ROWS = 20   /* rows listed of each; if all are so few, one by one */
};

/* A scenario on one platform and clock. */
struct html_case {
	const struct row *const *row; /* [n] by planner */
	size_t n, solved;             /* solved: rows that are ok */
	const struct row *baseline;   /* NULL: none, or without a time */
	/* The row with the least time, one of `best` only if no other ties; or NULL. */
	const struct row *fastest;
	size_t ties; /* rows as fast besides it */
	/* Baseline over fastest; NaN where one is zero or only the baseline has a time. */
	double speedup;
	double loss;   /* time of best over that of the fastest, NaN */
	size_t faults; /* failed or wrong */
	int section;   /* its part of the page, from 1; 0: none */
};

/* A machine, as tables group rows (row_machine()), and a clock. */
struct html_place {
	const char *platform, *clock;
};

struct page {
	FILE *out;
	struct arena *arena;
	const struct report *report;
	const struct report_options *options;
	struct pen pen;
	const struct row **row; /* all that are wanted: by scenario, platform, clock, ... */
	size_t nrows;
	struct html_case *item; /* in that order */
	size_t nitems;
	struct html_place *place; /* in the order of names */
	size_t nplaces;
	int nsections;
};

/* Writes the page of all rows that are wanted among n. */
void report_html(FILE *out, struct arena *a, const struct report *r,
                 const struct row *rows, size_t n, const struct report_options *o);

/* Begins a page, with a note below its heading, and ends it behind its main part. */
void html_begin(FILE *out, struct arena *a, const struct report_options *o,
                const char *note);
void html_end(FILE *out);

/* --- its pieces --------------------------------------------------------------------- */

struct pen pen_html(FILE *out, struct arena *a);

/*
 * Returns the text with what HTML takes for markup escaped, also in attributes, and with
 * controls of the direction of text replaced; the arena's.
 */
const char *html_escape(struct arena *a, const char *text);

/* Makes an id of a text ("tpu-v4-4x4x4-model"); the arena's. */
const char *html_id(struct arena *a, const char *text);

/* Returns the memory limit of a row's scenario in bytes, NaN if it has none. */
double html_limit_bytes(const struct row *r);

/* Finds the cases and places; then chooses which cases get parts. */
void html_find_cases(struct page *p);
void html_choose(struct page *p);

/* Draws a figure's distributions by planner, a chart for each platform and clock. */
enum html_figure { HTML_SPEEDUP, HTML_BOUND, HTML_LIMIT };
void html_distributions(const struct page *p, enum html_figure figure);

/* Write further parts of the page. */
void html_matrices(const struct page *p);
void html_curves(const struct page *p);
void html_scenario_table(const struct page *p);
void html_scenarios(const struct page *p);
void html_faults(const struct page *p);

/* An axis of powers: `lo` to `hi`, both above zero, over pixels [from, to]. */
struct html_axis {
	double lo, hi, from, to;
};

/* Returns the pixel of a value; values beyond the ends are put there. */
double html_at(const struct html_axis *x, double value);

/* Stores at most `capacity` round values on the axis, and returns how many. */
int html_ticks(double *tick, int capacity, const struct html_axis *x);

#endif
