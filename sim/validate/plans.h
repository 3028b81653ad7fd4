/*
 * Timings of redistributions, as programs that `plan --emit mpi` wrote print them, beside
 * what shardsim says of the same plans on a machine.
 *
 * CSV, lines with # in front left out: columns array, mesh, to_mesh, from, to, planner,
 * ranks and measured_s. Outputs of several programs may stand one after another, headers
 * and all.
 */
#ifndef SHARDSIM_SIM_VALIDATE_PLANS_H
#define SHARDSIM_SIM_VALIDATE_PLANS_H

#include "plan/problem.h"
#include "text/pen.h"

struct plan_timing {
	struct problem_text problem; /* with the places of its texts */
	const char *planner;
	int32_t ranks;
	double measured_s;
	struct where at;
	double time_s;        /* simulated; NAN: see left_out */
	const char *left_out; /* why it is not simulated; NULL: it is */
};

struct plan_timings {
	const char *platform; /* as it was asked for */
	int64_t n;
	struct plan_timing *row;
};

/* Returns whether a file is such a table, by the columns of its header. */
bool plan_timings_are(const char *path);

/*
 * Reads all files; everything is the arena's. An error names the line and the column: a
 * column that is missing, a number that is none, no row.
 */
enum status plan_timings_read(struct plan_timings *out, struct arena *a,
                              const char *const *path, int n, struct error *e);

/*
 * Plans and times every row by the clock `model`. `platform` may be sized by the ranks of
 * each row, `family:{n}`. A problem that cannot be read is an error at its field; what the
 * planner or the machine refuses is left out, with the reason.
 */
enum status plan_timings_run(struct plan_timings *t, struct arena *a,
                             const char *platform, const char *const *set, int nset,
                             struct error *e);

/* Print the rows, and in words also the geometric mean of the factors they are off by. */
void plan_timings_words(const struct pen *pen, const struct plan_timings *t);
void plan_timings_csv(FILE *out, const struct plan_timings *t);
void plan_timings_json(FILE *out, const struct plan_timings *t);

#endif
