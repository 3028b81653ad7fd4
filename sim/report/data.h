/*
 * The figures of a report, before any format. Private to sim/report.
 */
#ifndef SHARDSIM_SIM_REPORT_DATA_H
#define SHARDSIM_SIM_REPORT_DATA_H

#include "report/curve.h"
#include "report/select.h"
#include "stat/paired.h"
#include "stat/summary.h"
#include "text/pen.h"

#define REPORT_TIE 1e-6
#define REPORT_LEVEL 0.95
enum { REPORT_RESAMPLES = 10000, REPORT_SEED = 1 };

/*
 * Where figures are from: `platform` is the machine under which rows are grouped
 * (row_machine()), and there are figures of one kind of problem only.
 */

/* One planner against the baseline on one machine and clock. */
struct report_line {
	enum report_kind kind;
	const char *platform, *clock, *planner;
	const char *family;  /* NULL: all of them; REPORT_OTHERS: the small ones */
	const char *members; /* of a family: which are REPORT_OTHERS here; or NULL */
	bool without; /* only cases in which the baseline does not rematerialize fully */
	struct summary speedup;
	struct interval interval;
	int64_t sample; /* while the report is made: of the interval, from 1 */
	size_t wins, ties, losses;
	struct report_sure sure;
	struct paired test;
	size_t memory_n;
	double memory; /* geometric mean of baseline / planner peak_live_bytes */
	size_t bound_n;
	double bound; /* geometric mean of time / bound */
	/* In how many cases the plan of the baseline, the planner's does not fit. */
	size_t baseline_over, over;
	/* Cases above REPORT_PAPER_MAX, and in how many the baseline rematerializes. */
	size_t above, above_remat;
};

/*
 * The abstract of arXiv 2112.01075: "a geometric mean speedup of 1.22x, with maximum
 * speedups as a high as 5.7x" of its synthesizer over XLA's partitioner.
 */
#define REPORT_PAPER_MEAN 1.22
#define REPORT_PAPER_MAX 5.7

/*
 * The family of those families of which at most two scenarios are solved on a machine,
 * unless each is asked for.
 */
#define REPORT_OTHERS "others"
enum { REPORT_SMALL_FAMILY = 2 };

/* The scenarios where the baseline has a full rematerialization, and the others. */
struct report_origin {
	enum report_kind kind;
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
	enum report_kind kind;
	const char *platform, *clock, *planner;
	struct summary planning_s;
};

/* Planner against planner on one machine and clock. */
struct report_matrix {
	enum report_kind kind;
	const char *platform, *clock;
	size_t nplanners;
	const char **planner; /* in the order of names */
	struct report_cell {
		size_t n, memory_n;
		double speedup, memory; /* of the row's planner over the column's */
	} * cell;                       /* nplanners * nplanners */
};

/* Time over bound; the quantiles are those of report_quantiles. */
enum { REPORT_QUANTILES = 6 };
extern const double report_quantiles[REPORT_QUANTILES];
struct report_bound {
	enum report_kind kind;
	const char *platform, *clock, *planner;
	size_t n;
	double mean, quantile[REPORT_QUANTILES];
};

/* How many scenarios of a machine ran on a platform that is not called like it. */
struct report_ran {
	const char *machine, *platform;
	size_t scenarios;
};

/* Planners over the same cases of one machine and clock. */
struct report_same {
	enum report_kind kind;
	const char *platform, *clock;
	size_t n;   /* scenarios that all of them solve, in times above zero */
	size_t all; /* scenarios that some planner solves */
	size_t nplanners;
	const char **planner; /* in the order of names */
	double *speedup;      /* of each: geometric mean of baseline / planner over n */
	size_t *cannot;       /* of each: how many of `all` it does not solve */
};

/* Received bytes over the bytes that a device lacks. */
struct report_bytes {
	enum report_kind kind;
	const char *platform, *clock, *planner;
	size_t solved, all; /* scenarios: ok here, ok for any planner */
	size_t n;
	double mean, high, max; /* high: the 95 % quantile */
};

/* The planner `best` against the fastest of the others. */
struct report_best {
	enum report_kind kind;
	const char *platform, *clock;
	size_t n, wins, ties, losses, gain_n;
	struct report_sure sure;
	size_t exchanges; /* of the n: plans of best with an exchange, not portable */
	size_t first_loss, nlosses; /* those above REPORT_LOSS, in report->loss */
	double gain;                /* geometric mean of fastest other / best */
};

/*
 * How sure it is which planner is fastest, over the cases that two or more solve and that take
 * time. best-portable does not count beside best.
 */
struct report_winner {
	enum report_kind kind;
	const char *platform, *clock;
	size_t n;
	size_t tied;    /* all take the same time, within REPORT_TIE */
	size_t unknown; /* not all do, and some interval is not known */
	size_t certain; /* the fastest one's interval ends before those of all slower begin */
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

/*
 * How far the clock flow is from simgrid (where that is not there, from fluid) on the plans
 * of one machine with an exchange, or on those without.
 */
#define REPORT_APART 1.1
struct report_apart {
	size_t n;     /* plans in times above zero under both */
	size_t apart; /* those of which one time is more than REPORT_APART the other */
	double mean, least, largest; /* of flow's time over the other; geometric mean */
	const struct row *worst, *worst_other; /* furthest apart: flow's, the other's */
};

/* Is the line of plans with an exchange? */
bool report_apart_exchanges(const struct report_apart *line);

/* Arrays live in the arena. Lines: families in the order of names, then their total. */
struct report {
	const char *baseline, *test;
	struct report_line *line;
	/*
	 * The lines of the first tables: for each kind, machine and shown planner, under
	 * one clock, two lines: of all cases, and of those without a full rematerialization.
	 */
	struct report_line *first;
	const char *clock;   /* that clock */
	const char **shown;  /* those planners */
	const char **hidden; /* the others but the baseline */
	size_t nfirst, nshown, nhidden;
	struct report_same *same;
	struct report_ran *ran; /* by machine and platform */
	size_t nsame, nran;
	struct report_origin *origin;
	struct report_left *left;
	struct report_planning *planning; /* only with timing */
	struct report_matrix *matrix;
	struct report_bound *bound;
	struct report_bytes *bytes;
	struct report_best *best;
	struct report_winner *winner;
	struct report_apart *apart; /* by kind and machine: with exchanges, without */
	struct report_loss *loss;   /* of one platform and clock: the largest first */
	size_t nlines, norigins, nlefts, nplannings, nmatrices, nbounds, nbests;
	size_t nlosses, nbytes, naparts, nwinners;
	struct report_curves curves;
	size_t nfamilies;
	bool families;            /* lines per family are there */
	bool details;             /* as in the options */
	const char *pattern;      /* of families; NULL: all */
	const char *unfinished;   /* as in the options */
	const char *callers;      /* report_callers() */
	size_t faults;            /* rows with a time below their bound */
	const struct row *faulty; /* one of them */
	/* How many rows: all = compared + references + left_out + other_clocks. */
	size_t all, compared, references, left_out, other_clocks;
};

/* Fills in the figures of planners among themselves; sorts the rows, in any order before. */
void report_rivals(struct report *r, struct arena *a, const struct row **rows, size_t n);

/* Fills in the planners over the same cases, of rows as report_rivals() sorts them. */
void report_same(struct report *r, struct arena *a, const struct row *const *rows,
                 size_t n);

/* Fills in where the scenarios of machines ran, of rows in any order. */
void report_machines(struct report *r, struct arena *a, const struct row *const *rows,
                     size_t n);

/*
 * Returns who called the collectives of the rows, in a sentence; NULL where nobody did. The
 * rows may be in any order.
 */
const char *report_callers(struct arena *a, const struct row *const *rows, size_t n);

/* Fills in how far clocks are apart, of rows in any order. */
void report_apart(struct report *r, struct arena *a, const struct row *const *rows,
                  size_t n);

/*
 * Returns the clock of what shows only one: the first asked for, else the one nearest to
 * SimGrid that has rows of the baseline.
 */
const char *report_clock(const struct row *const *rows, size_t n, const char *baseline,
                         const struct report_options *o);

/*
 * Chooses what the first tables show: the clock of report_clock(); of the planners `best`, `best-portable`, `synth` and both of XLA's partitioners
 * those that are there, the baseline excepted, or all where none of them is.
 */
void report_choose(struct report *r, struct arena *a, const struct row *const *rows,
                   size_t n, const struct report_options *o);

/* Is the line of a clock and planner of the first tables? */
bool report_shown(const struct report *r, const struct report_line *l);

/* Says which planners the first tables do not show, NULL if they show all. */
const char *report_hidden(const struct report *r, struct arena *a);

/* Returns whether --planner has the planner, or was not given. */
bool report_asked(const struct report_options *o, const char *planner);

/*
 * Is there something to report? E_RANGE: no rows, or none of the baseline, of a clock, or of
 * the families asked for.
 */
enum status report_check(const struct row *rows, size_t n, const char *baseline,
                         const struct report_options *o, struct error *e);

/* Gathers the figures of all rows that are wanted; the errors are report_check()'s. */
enum status report_gather(struct report *out, struct arena *a, const struct row *rows,
                          size_t n, const struct report_options *o, struct error *e);

/*
 * A sweep of training steps has a report of its own: for each family and machine the steps,
 * the fastest first, each with the time of the baseline over its own. The baseline is a
 * scenario or degrees by name, or the fastest.
 */
bool report_of_steps(const struct row *rows, size_t n);
enum status report_steps(FILE *out, struct arena *a, const struct row *rows, size_t n,
                         const struct report_options *o, struct error *e);

/* Writes the report in a format; the choice, if any, is of its tables. */
void report_md(FILE *out, struct arena *a, const struct report *r,
               struct pen_choice *choice);
void report_tex(FILE *out, struct arena *a, const struct report *r,
                const struct report_options *o, struct pen_choice *choice);
void report_csv(FILE *out, const struct report *r);

/* A row and what became of it; its reason is NULL as long as it is not left out. */
struct item {
	const struct row *row;
	const char *family;  /* under which it is shown */
	const char *members; /* the families that are REPORT_OTHERS here; or NULL */
	const char *reason;
	const char *pattern; /* the reason with '#' for numbers */
	double ratio;        /* baseline_s / planner_s, if compared */
	const struct row *reference;
	bool used; /* a baseline row some planner's row was compared with */
};

/*
 * Names the families of n items, whose order changes: small ones are one, REPORT_OTHERS,
 * where a place has several of them, unless `each` is to be shown. Families have lines of
 * their own if they are few then, or asked for.
 */
void report_name_families(struct report *r, struct arena *a, struct item *item,
                          size_t n, bool each);

#endif
