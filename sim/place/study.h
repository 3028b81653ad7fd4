/*
 * A study runs many reductions, to tell how much placement and programs matter on a
 * system.
 *
 *   placements:
 *     - {family: NAME, platform: "p2-a100:2", hierarchy: "2,16", axes: ["2,16", "4,8"],
 *        reduce: ["0", "1"]}
 *     - {..., bytes: 16MiB, source: "..."}
 *
 * Each of `axes` with each of `reduce` is a case; values are texts as on the command
 * line of `place`, or lists of them. A platform is a file or
 * family:shape{KEY=VALUE,...}.
 */
#ifndef SHARDSIM_SIM_PLACE_STUDY_H
#define SHARDSIM_SIM_PLACE_STUDY_H

#include "placement/search.h"
#include "text/pen.h"

struct study_case {
	const char *family, *platform, *axes, *reduce; /* as in the file */
	struct placement_case c;
	/* study_run() stores all matrices here, ranked. */
	struct placed *placed;
	int64_t n;
};

struct study {
	int n;
	struct study_case *of;
};

/* Reads files; everything is the arena's. Errors have file, line and column. */
enum status study_read(struct study *out, struct arena *a, const char *const *path,
                       int n, struct error *e);

/*
 * Searches all cases by the clock `model` of their platforms. Errors are at the case.
 */
enum status study_run(struct study *s, struct arena *a, struct error *e);

/* Sums over all matrices of the cases of a family. */
struct study_sums {
	int cases;
	int64_t matrices, programs[2]; /* the fewest and the most programs of a case */
	double spread[2]; /* slowest / fastest matrix of a case, the largest:
	                                    by their all-reduces, by their best programs */
	const struct study_case *widest; /* the case of spread[0] */
	int64_t improved; /* matrices with a program faster than the all-reduce */
	double speedup, most_speedup; /* mean and largest of those; NaN if none */
	int64_t inside,
		inside_single; /* reductions within the last level; of those, best is
	                                  the all-reduce */
	int64_t scattered, reduced; /* improved by RS-AR-AG; by Reduce, AR, Broadcast */
	int64_t several, level,
		row; /* of several axes; faster by level order; where that
	                                 took row order */
	double level_speedup, most_level; /* mean and largest of `level`; NaN if none */
};

/*
 * Returns the sums of the families that begin with `family`, or of all if it is NULL.
 */
struct study_sums study_sums_of(const struct study *s, const char *family);

/* study_words() prints tables, study_csv() all cases as CSV. */
void study_words(const struct pen *pen, const struct study *s);
void study_csv(FILE *out, const struct study *s);

#endif
