/*
 * The figures of a report, before any format. Private to sim/report.
 */
#ifndef SHARDSIM_SIM_REPORT_DATA_H
#define SHARDSIM_SIM_REPORT_DATA_H

#include "report/curve.h"
#include "report/report.h"
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
	size_t bound_n;
	double bound; /* geometric mean of time / bound */
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

/* Planner against planner on one platform and clock. */
struct report_matrix {
	const char *platform, *clock;
	size_t nplanners;
	const char **planner; /* in byte order */
	struct report_cell {
		size_t n, memory_n;
		double speedup, memory; /* of the row's planner over the column's */
	} * cell;                       /* nplanners * nplanners */
};

/* Time over bound; the quantiles are those of report_quantiles. */
enum { REPORT_QUANTILES = 6 };
extern const double report_quantiles[REPORT_QUANTILES];
struct report_bound {
	const char *platform, *clock, *planner;
	size_t n;
	double mean, quantile[REPORT_QUANTILES];
};

/* Received bytes over the bytes that a device lacks. */
struct report_bytes {
	const char *platform, *clock, *planner;
	size_t solved, all; /* scenarios: ok here, ok for any planner */
	size_t n;
	double mean, high, max; /* high: the 95 % quantile */
};

/* The planner `best` against the fastest of the others. */
struct report_best {
	const char *platform, *clock;
	size_t n, wins, ties, losses, gain_n;
	size_t first_loss, nlosses; /* those above REPORT_LOSS, in report->loss */
	double gain;                /* geometric mean of fastest other / best */
};

#define REPORT_LOSS 0.01
struct report_loss {
	const char *platform, *clock, *scenario, *rival;
	double best_s, rival_s;
	const char *cause;
};

/*
 * Returns why best's row is slower than the rival's, in words for a table, from the rows of
 * both on clock `model`, which are NULL where there are none. The arena's, or static.
 */
const char *report_cause(struct arena *a, const struct row *best,
                         const struct row *best_model, const struct row *rival,
                         const struct row *rival_model);

/* Arrays live in the arena. Lines: families in byte order, then their total. */
struct report {
	const char *baseline, *test;
	struct report_line *line;
	struct report_origin *origin;
	struct report_left *left;
	struct report_planning *planning; /* only with timing */
	struct report_matrix *matrix;
	struct report_bound *bound;
	struct report_bytes *bytes;
	struct report_best *best;
	struct report_loss *loss; /* of one platform and clock: the largest first */
	size_t nlines, norigins, nlefts, nplannings, nmatrices, nbounds, nbests;
	size_t nlosses, nbytes;
	struct report_curves curves;
	size_t nfamilies;
	bool families;            /* lines per family are there */
	const char *pattern;      /* of families; NULL: all */
	const char *unfinished;   /* as in the options */
	size_t faults;            /* rows with a time below their bound */
	const struct row *faulty; /* one of them */
	/* How many rows: all = compared + references + left_out + other_clocks. */
	size_t all, compared, references, left_out, other_clocks;
};

/* Fills in the figures of planners among themselves; sorts the rows, in any order before. */
void report_rivals(struct report *r, struct arena *a, const struct row **rows, size_t n);

/*
 * Is there something to report? E_RANGE: no rows, or none of the baseline, of a clock, or of
 * the families asked for.
 */
enum status report_check(const struct row *rows, size_t n, const char *baseline,
                         const struct report_options *o, struct error *e);

/* Gathers the figures of all rows that are wanted; the errors are report_check()'s. */
enum status report_gather(struct report *out, struct arena *a, const struct row *rows,
                          size_t n, const struct report_options *o, struct error *e);

/* Writes the report in a format. */
void report_md(FILE *out, struct arena *a, const struct report *r);
void report_tex(FILE *out, struct arena *a, const struct report *r);
void report_csv(FILE *out, const struct report *r);

#endif
