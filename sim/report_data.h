/*
 * The figures of a report, before any format. Private to report*.c.
 */
#ifndef SHARDSIM_SIM_REPORT_DATA_H
#define SHARDSIM_SIM_REPORT_DATA_H

#include "report.h"
#include "stat/paired.h"
#include "stat/summary.h"

#define REPORT_TIE 1e-6
#define REPORT_LEVEL 0.95
enum { REPORT_RESAMPLES = 10000, REPORT_SEED = 1 };

/* One planner against the baseline on one platform and clock. */
struct report_line {
	const char *platform, *clock, *planner;
	const char *family; /* NULL: all of them */
	struct summary speedup;
	struct interval interval;
	size_t wins, ties, losses;
	struct paired test;
	size_t memory_n;
	double memory; /* geometric mean of baseline / planner peak_live_bytes */
};

/* The scenarios where the baseline has a full rematerialization, and the others. */
struct report_origin {
	const char *platform, *clock, *planner;
	size_t n, remat_n;
	double share;       /* remat_n / n */
	double remat, rest; /* geometric means of the speedups of each */
	double gain;        /* remat's part of the sum of log speedups; NaN if <= 0 */
};

struct report_left {
	const char *planner, *platform;
	enum outcome status;
	const char *reason;  /* '#' for numbers in which the rows' reasons differ */
	const char *example; /* a scenario */
	size_t rows;
};

struct report_planning {
	const char *platform, *clock, *planner;
	struct summary planning_s;
};

/* Arrays live in the arena. Lines: families in byte order, then their total. */
struct report {
	const char *baseline, *test;
	struct report_line *line;
	struct report_origin *origin;
	struct report_left *left;
	struct report_planning *planning; /* only with timing */
	size_t nlines, norigins, nlefts, nplannings;
	/* How many rows: all = compared + references + left_out + other_clocks. */
	size_t all, compared, references, left_out, other_clocks;
};

enum status report_gather(struct report *out, struct arena *a, const struct row *rows,
                          size_t n, const struct report_options *o, struct error *e);

/* The three formats. */
void report_md(FILE *out, struct arena *a, const struct report *r);
void report_tex(FILE *out, struct arena *a, const struct report *r);
void report_csv(FILE *out, const struct report *r);

/* One field, quoted where RFC 4180 wants it; a comma before it unless `first`. */
void report_csv_field(FILE *out, const char *text, bool first);

#endif
