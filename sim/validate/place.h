/*
 * Simulated against measured for placements and reduction programs: tables such as those
 * of Xie et al. 2022, appendix A.
 *
 * CSV with the columns, in any order,
 *   hierarchy, axes, reduce  as `place` reads them; also `[4 16]`, `4x16`
 *   matrix                   `[[1 16][2 1]]`; also `(1 16)/(2 1)`, `1 16; 2 1`
 *   algorithm                what took measured_s: `all-reduce`, `ring` or `tree` (an
 *                            all-reduce under that NCCL_ALGO), or a program
 *   measured_s               seconds, of all runs together
 *   best_measured_s          those of the fastest program; may be blank
 * and, if there,
 *   best_program             that program; may be blank
 *   runs, bytes              of a row; 10 and 2GiB, those of the published tables, unless
 *                            given
 * and any others. A program is text as `place` prints it, or one of AR, RS-AR-AG, R-AR-B,
 * AR-AR on a reduction over two levels (AR on any).
 *
 * Simulated are the published systems (p2.h), chosen by the last level, with
 * programs of up to five steps in the published order.
 */
#ifndef SHARDSIM_SIM_VALIDATE_PLACE_H
#define SHARDSIM_SIM_VALIDATE_PLACE_H

#include "placement/search.h"

enum { PLACE_TOPS = 5 };
extern const int place_tops[PLACE_TOPS]; /* 1, 2, 3, 5, 10 */

struct place_measured {
	struct placement_case c;
	struct matrix matrix;
	const char *hierarchy, *axes, *reduce, *algorithm; /* in one spelling each */
	const char *system;                                /* "p2-a100:4 ring" */
	bool tree;
	double runs;
	double measured_s, best_measured_s; /* of one run; NaN: blank */
	double time_s, best_s;              /* simulated, of one run */
	int64_t programs;
	const char *best_program; /* in our words; NULL: not named */
	int64_t place; /* of best_program among all, by simulated time; 0: not named */
	struct where at;
};

struct place_table {
	int64_t n;
	struct place_measured *row;
};

/* Returns whether the first line of a file has the columns hierarchy and matrix. */
bool place_table_is(const char *path);

/*
 * Reads the files and simulates their rows; everything is the arena's. It is an error
 * at a field if a column is missing, a value is none, a matrix does not fit or a
 * program is not meaningful, and an E_TYPE if a file is given twice.
 */
enum status place_table_read(struct place_table *out, struct arena *a,
                             const char *const *path, int n, struct error *e);

/* Pairs of rows of one hierarchy, axes, reduction and algorithm, by two of their times. */
struct place_pairs {
	int64_t pairs;      /* pairs that differ in both times */
	int64_t inversions; /* those of them whose two times are ordered differently */
};

/*
 * What a table says about a system, or about all where that is NULL: errors as factors
 * exp |log(simulated / measured)|, ranks, and how many programs improve on the
 * all-reduce.
 */
struct place_errors {
	size_t n, nbest;
	double error, best_error; /* geometric means; NaN without rows */
	double least, most;       /* of simulated / measured */
	double tau, best_tau;     /* Kendall's, over all rows */
	struct place_pairs pairs, best_pairs;
	/* Of rows whose algorithm is an all-reduce and that have both times. */
	size_t improvable, improved[2]; /* [0] measured, [1] simulated */
	double speedup[2], most_speedup[2];
	size_t named, top[PLACE_TOPS]; /* rows that name a program; hits */
};

struct place_errors place_errors_of(const struct place_table *t, const char *system,
                                    struct arena *a);

#endif
