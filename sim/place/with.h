/*
 * Placements of a whole workload: the scenarios of one family of a suite, all on one mesh,
 * planned and timed in every placement of the mesh on a hierarchy.
 *
 * A scenario takes its time by the planner `best`, times its weight. One that only sums
 * over axes (an all-reduce) takes that of the fastest program of its placement
 * (placement/search.h) where that is faster.
 */
#ifndef SHARDSIM_SIM_PLACE_WITH_H
#define SHARDSIM_SIM_PLACE_WITH_H

#include "measure/measure.h"
#include "placement/search.h"
#include "suite/suite.h"

/* A scenario in one placement. */
struct work_time {
	double time_s[CLOCKS_MAX]; /* once, without its weight; NaN: refused */
	const char *plan;          /* as a line, or a program */
};

struct work_placement {
	const struct matrix *matrix; /* NULL: row-major order, where no matrix gives it */
	int64_t number;              /* of its matrix */
	bool row_major;
	double total_s;                   /* by the prices of the bench */
	const struct work_time *time;     /* [nscenarios] */
	double clock_total_s[CLOCKS_MAX]; /* of the best, the default, the worst */
	const char *message; /* of those: why the first scenario without a time by some
	                        clock has none, else "" */
};

struct workload {
	const char *family;
	struct hierarchy hierarchy;
	struct mesh mesh;
	int nscenarios;
	const struct scenario **scenario;
	int64_t nplacements;
	struct work_placement *placement; /* by rising total, of equal ones by number */
	const struct work_placement *best, *row_major, *worst;
};

/*
 * Stores the families of the suite as workloads without placements yet, in the suite's
 * order; the arena's. `levels` NULL: the platform's hierarchy (placing.h). Errors at the place of a
 * scenario: another mesh than that of its family's first, its own devices, more axes than
 * matrices have, devices that the hierarchy or platform has not.
 */
enum status workloads_of(struct workload **out, int *n, struct arena *a,
                         const struct suite *suite, const struct hierarchy *levels,
                         const struct machine *m, struct error *e);

/*
 * Plans and times a workload in all placements, by the clock `model`, and by all clocks of the bench
 * in the best, the default and the worst. E_INFEASIBLE at the scenario that has no plan, or
 * of which a clock fails.
 */
enum status workload_run(struct workload *workload, struct bench *b, struct arena *a,
                         struct error *e);

struct place_output {
	const char *platform, *suite;
	int nclocks;
	const char *clock[CLOCKS_MAX];
	int n;
	const struct workload *workload;
};

void place_with_text(struct text *out, const struct place_output *o, struct arena *a);
void place_with_json(struct text *out, const struct place_output *o);

#endif
