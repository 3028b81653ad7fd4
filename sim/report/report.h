/*
 * The report of a sweep: planners against a baseline (sim/README.md, Rows
 * and tables).
 *
 * Rows are grouped by the kind of their problem, the machine and the clock: real scenarios,
 * random problems and pairs of layouts (scenarios/README.md, Generate blocks) are in no
 * figure together, and the sizes of one machine (store/store.h, `machine`) are.
 *
 * Per group, for each planner and family of scenarios and in total:
 *   n, the number of scenarios where planner and baseline are `ok` and both times are
 *   known and > 0; the geometric mean of baseline_s / planner_s over them, its 95 %
 *   bootstrap interval (10,000 resamples, seed 1, of the sorted values), the median, the
 *   least and the largest;
 *   wins / ties / losses, a tie within 1e-6 relative;
 *   the two-sided p value of a test on log(baseline_s / planner_s), in which ties are
 *   zero and differences below 1e-6 count as equal;
 *   the geometric mean of the baseline's peak_live_bytes over the planner's, over the
 *   scenarios of the n where both are known;
 *   the geometric mean of its time over the lower bound, over those of the n where the
 *   bound is above zero.
 * Families have lines of their own unless there are more than REPORT_FAMILIES and they
 * are not asked for; those with at most two scenarios that take time are one, `others`.
 *
 * The first tables have these figures for a few planners and one clock, once over all
 * cases and once over those in which the baseline has no full rematerialization, with the
 * number of cases that are in neither because a plan is over memory; and all planners over
 * the same cases. A summary has the means and medians of the first tables alone.
 *
 * Then, per group,
 *   for the planner `best`: over the scenarios where it and another planner are ok and
 *   not both it and the fastest of the others take no time, the share where it is faster
 *   than every other planner by more than 1e-6 relative, its wins, ties and losses against
 *   the fastest of them, and the geometric mean of fastest_s / best_s where neither is
 *   zero; and the losses above 1 %, one by one; `best-portable` is not among the others;
 *   planner against planner: the geometric means of column_s / row_s and of the same of
 *   peak_live_bytes, over the scenarios where both are ok (times above zero; bytes known);
 *   the distribution of time over the lower bound: of every planner's ok rows with a time
 *   and a bound above zero.
 *   received bytes: the share each planner solves of the scenarios that some planner
 *   solves, and the geometric mean, the 95 % quantile and the maximum of what the busiest
 *   device receives over what one lacks, where that is known and above zero.
 * Per kind and machine, how far the clock flow is from simgrid (where that is not there,
 * from fluid), over the plans that take time under both, those with an exchange and the
 * others apart: the geometric mean and the extremes of its time over the other's, how many
 * are more than a factor of 1.1 apart, and the furthest.
 * Where a suite varied figures of platforms or scenarios: curves of the speedups along
 * each, and where the fastest planner and the plan of `best` change (curve.h).
 *
 * A row whose time is below its bound, by more than 1e-9 relative, is a fault of ours: a
 * line at the top counts them.
 *
 * Then where the gain comes from: the scenarios where the baseline has a full
 * rematerialization against the others. Then what was left out and why. Every row of the
 * families asked for is accounted for: compared, a baseline row that was compared with,
 * left out, or of a clock that was not asked for.
 *
 * A pair where both times are zero moves no data and is left out as "no communication";
 * one with a single zero has no finite ratio and is left out as that.
 *
 * Equal rows give equal bytes, in whatever order they come: sorted, with fixed digits,
 * in the C locale, without dates, and with planning times only when asked for.
 */
#ifndef SHARDSIM_SIM_REPORT_REPORT_H
#define SHARDSIM_SIM_REPORT_REPORT_H

#include "store/store.h"

enum report_format {
	REPORT_MD,  /* Markdown in aligned columns, readable as it is */
	REPORT_CSV, /* RFC 4180, one rectangle; `section` tells the tables apart */
	REPORT_TEX, /* LaTeX tables for \input; needs the package booktabs */
	REPORT_HTML /* one page with charts and plans, without anything from elsewhere */
};

/* Stores the format named "md", "csv", "tex" or "html"; false if there is none. */
bool report_format_parse(enum report_format *out, const char *name);

/* Families that are shown one by one without being asked for. */
enum { REPORT_FAMILIES = 20 };

enum report_test { REPORT_WILCOXON, REPORT_SIGN };

struct report_options {
	const char *baseline; /* a planner; NULL: "xla-2021", of steps the fastest */
	enum report_format format;
	const char *const *clocks; /* names, ended by NULL; none or NULL: all */
	const char *clock_list;    /* as it was given, for places of errors; or NULL */
	/*
	 * The planners of the first tables and of plots, ended by NULL; "all" alone are all
	 * that were swept. NULL or none: best, best-portable, synth, xla and
	 * xla-2021 of them, or all where none of these was.
	 */
	const char *const *planners;
	const char *planner_list; /* as it was given, for places of errors; or NULL */
	enum report_test test;
	const char *test_word; /* as it was given, for places of errors; or NULL */
	bool timing;           /* show planning times */
	const char *family;    /* only families that match this pattern; NULL: all */
	bool families;         /* show each family, however many and small they are */
	/*
	 * Markdown and LaTeX: all tables, else a summary of a screen. The other formats have
	 * all of them.
	 */
	bool details;
	/*
	 * Markdown and LaTeX: only the tables of this name, or the one with this label (sim/README.md,
	 * Rows and tables), without any text; NULL: the whole report.
	 */
	const char *table;
	/*
	 * Scenarios that get a part of their own in HTML: a name, or a pattern of names;
	 * NULL: those that stand out. Other formats do not have such parts.
	 */
	const char *scenario;
	/*
	 * A sentence on cases that have no row, which stands at the top in all formats but CSV;
	 * NULL: there are none.
	 */
	const char *unfinished;
	/*
	 * The suites that were swept, "a.yaml, b.yaml", which HTML and LaTeX name, and by which
	 * version of shardsim, which HTML does; NULL: unknown. report_write() takes them from
	 * the store.
	 */
	const char *suites, *version;
};

/*
 * Writes the report of all rows of the store to `out`. E_RANGE: no rows at all, none of
 * the baseline, or none of a clock, planner, family, scenario or table asked for; nothing
 * is written then. Where --table leaves all words out, stderr tells which planners a first
 * table does not show.
 * E_IO: `out` or the store fails.
 */
enum status report_write(FILE *out, struct store *store, const struct report_options *o,
                         struct error *e);

/* Writes the report of n rows at hand; (scenario, platform, planner, clock) differ in all. */
enum status report_print(FILE *out, const struct row *rows, size_t n,
                         const struct report_options *o, struct error *e);

/*
 * Writes all rows of the families asked for as CSV (RFC 4180), a header of the columns'
 * names first. Seconds have 17 digits; unknown numbers are empty, and so is planning_s unless
 * timing is asked for. Other options do not matter. Where a row of the store is damaged
 * nothing is written: all are read once before, and once more to be written, for there
 * may be more of them than memory holds.
 */
enum status report_rows_csv(FILE *out, struct store *store,
                            const struct report_options *o, struct error *e);

#endif
