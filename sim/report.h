/*
 * The report of a sweep: planners against a baseline (design 8).
 *
 * Per platform and clock, for each planner and family of scenarios and in total:
 *   n, the number of scenarios where planner and baseline are `ok` and both times are
 *   known and > 0; the geometric mean of baseline_s / planner_s over them, its 95 %
 *   bootstrap interval (10,000 resamples, seed 1), the least and the largest;
 *   wins / ties / losses, a tie within 1e-6 relative;
 *   the two-sided p value of a test on log(baseline_s / planner_s), in which ties are
 *   zero and differences below 1e-6 count as equal;
 *   the geometric mean of the baseline's peak_live_bytes over the planner's, over the
 *   scenarios of the n where both are known.
 * Then where the gain comes from: the scenarios where the baseline has a full
 * rematerialization against the others. Then what was left out and why. Every row is
 * accounted for: compared, a baseline row that was compared with, left out, or of a
 * clock that was not asked for.
 *
 * A pair where both times are zero moves no data and is left out as "no communication";
 * one with a single zero has no finite ratio and is left out as that.
 *
 * Equal rows give equal bytes, in whatever order they come: sorted, with fixed digits,
 * in the C locale, without dates, and with planning times only when asked for.
 */
#ifndef SHARDSIM_SIM_REPORT_H
#define SHARDSIM_SIM_REPORT_H

#include "store.h"

enum report_format {
	REPORT_MD,  /* Markdown in aligned columns, readable as it is */
	REPORT_CSV, /* RFC 4180, one rectangle; `section` tells the tables apart */
	REPORT_TEX  /* LaTeX tables for \input; needs the package booktabs */
};

/* The format named "md", "csv" or "tex"; false if there is none. */
bool report_format_parse(enum report_format *out, const char *name);

enum report_test { REPORT_WILCOXON, REPORT_SIGN };

struct report_options {
	const char *baseline; /* a planner; NULL: "xla-2021" */
	enum report_format format;
	const char *const *clocks; /* names, ended by NULL; none or NULL: all */
	enum report_test test;
	bool timing; /* show planning times */
};

/*
 * Write the report of all rows of the store to `out`. E_RANGE: no rows at all, none of
 * the baseline, or none of a clock asked for; nothing is written then. E_IO: `out` or
 * the store fails.
 */
enum status report_write(FILE *out, struct store *store, const struct report_options *o,
                         struct error *e);

/* The same of n rows at hand; (scenario, platform, planner, clock) differ in all. */
enum status report_print(FILE *out, const struct row *rows, size_t n,
                         const struct report_options *o, struct error *e);

/*
 * All rows as CSV (RFC 4180), a header of the columns' names first. Seconds have 17
 * digits; unknown numbers are empty, and so is planning_s unless `timing`.
 */
enum status report_rows_csv(FILE *out, struct store *store, bool timing,
                            struct error *e);

#endif
