/*
 * Placements of one case, timed and shown: what `shardsim place` prints.
 *
 * Placements are searched with the clock `model`: of the platform or, without one, the
 * published simulator on its own figures (placement/cost.h). Other clocks then time the
 * all-reduce and the best program of every matrix shown.
 */
#ifndef SHARDSIM_SIM_PLACE_H
#define SHARDSIM_SIM_PLACE_H

#include "measure.h"
#include "placement/search.h"
#include "platform.h"

/* A reduction_clock (placement/search.h) over clock number `clock` of a bench. */
struct place_clock {
	const struct bench *bench; /* its machine NULL: `p2` */
	const struct p2_system *p2;
	int clock;
	struct arena *scratch;
};
double place_step_s(void *self, const struct reduction_step *step, double held_bytes,
                    struct text *why);

/* One step of a best program as it is shown. */
struct place_step {
	struct reduction_step step; /* its groups are not kept */
	double held_bytes;
	double time_s[CLOCKS_MAX];
};

struct place_row {
	const struct placed *placed;
	const char *program; /* as text */
	double allreduce_s[CLOCKS_MAX], best_s[CLOCKS_MAX];
	struct place_step step[PROGRAM_STEPS_MAX];
};

struct place_result {
	const struct placement_case *c;
	const char *platform; /* as the user typed it, NULL without one */
	const char *system;   /* what stands for it, NULL with one */
	int nclocks;
	const char *clock[CLOCKS_MAX];
	int64_t nmatrices, nrows; /* all; those shown */
	const struct place_row *row;
	double planning_s; /* NaN: not shown */
};

/*
 * Time the rows of the first `nrows` of `placed` by every clock. E_INFEASIBLE if a
 * clock refuses.
 */
enum status place_rows(struct place_result *out, struct arena *a,
                       const struct placed *placed, const struct reduction_clock *clock,
                       struct error *e);

void place_text(struct text *out, const struct place_result *r, struct arena *a);
void place_json(struct text *out, const struct place_result *r);

/* The device order of a matrix, as `--devices @FILE` reads it. */
void place_devices(struct text *out, const struct matrix *m, struct arena *a);

#endif
