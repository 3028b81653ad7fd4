/*
 * Placements of a whole workload: the scenarios of one family of a suite, all on one
 * mesh, planned and timed in every placement of the mesh on a hierarchy.
 *
 * A scenario takes the time of the plan of `best`, times its weight. A scenario that
 * only sums over axes (an all-reduce) takes the time of the fastest program of its
 * placement (placement/search.h) where that is less.
 */
#ifndef SHARDSIM_SIM_PLACE_WITH_H
#define SHARDSIM_SIM_PLACE_WITH_H

#include "measure/measure.h"
#include "placement/search.h"
#include "suite/suite.h"

/* A scenario in one placement. */
struct work_time {
	double time_s[CLOCKS_MAX]; /* once, without its weight; NaN where refused */
	const char *plan;          /* the plan or the program as a line */
};

struct work_placement {
	const struct matrix *matrix; /* NULL: row-major order that no matrix gives */
	int64_t number;              /* that of its matrix */
	bool row_major;
	double total_s;                   /* by the prices of the bench */
	const struct work_time *time;     /* [nscenarios] */
	double clock_total_s[CLOCKS_MAX]; /* for the best, the default, the worst */
	const char *message; /* for those: why the first scenario without a time by some
	                        clock has none, else "" */
};

struct workload {
	const char *family;
	struct hierarchy hierarchy;
	const char *position; /* the slice that it is on; NULL: the first devices */
	struct mesh mesh;
	int nscenarios;
	const struct scenario **scenario;
	int64_t nplacements;
	struct work_placement *placement; /* by rising total, equal ones by number */
	const struct work_placement *best, *row_major, *worst;
};

/*
 * Stores the families of the suite as workloads in the suite's order, without
 * placements yet; everything is the arena's. `levels` is the hierarchy, or NULL for the
 * platform's own (placing.h). It is an error at a scenario if its mesh is not that of
 * its family's first scenario, if it names devices, if it has more axes than matrices
 * can have, or if the hierarchy or the platform has too few devices.
 *
 * workloads_need() returns how many devices the largest of them has; 0 where a mesh cannot be
 * read, which is an error of workloads_of().
 */
int32_t workloads_need(const struct suite *suite, struct arena *a);
enum status workloads_of(struct workload **out, int *n, struct arena *a,
                         const struct suite *suite, const struct hierarchy *levels,
                         const struct machine *m, struct error *e);

/*
 * Plans and times a workload in all placements by the clock `model`, and in the best,
 * the default and the worst by all clocks of the bench. It is an E_INFEASIBLE at a
 * scenario if that has no plan or if a clock fails on it.
 */
enum status workload_run(struct workload *workload, struct bench *b, struct arena *a,
                         struct error *e);

struct place_output {
	const char *platform, *suite;
	const struct machine *machine;
	int nclocks;
	const char *clock[CLOCKS_MAX];
	int n;
	const struct workload *workload;
};

void place_with_text(struct text *out, const struct place_output *o, struct arena *a);
void place_with_json(struct text *out, const struct place_output *o);

#endif
