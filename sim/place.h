/*
 * Placements of one case, timed and shown: what `shardsim place` prints.
 *
 * Placements are searched with the clock `model`. Other clocks then time the all-reduce
 * and the best program of every matrix shown.
 */
#ifndef SHARDSIM_SIM_PLACE_H
#define SHARDSIM_SIM_PLACE_H

#include "measure.h"
#include "placement/search.h"
#include "platform.h"

#include <jansson.h>

/*
 * A reduction_clock (placement/search.h) over clock number `clock` of a bench, or the
 * clock model, which every bench has.
 */
enum { PLACE_MODEL = -1 };
struct place_clock {
	const struct bench *bench;
	int clock;
	struct arena *scratch;
	const char *algorithm, *protocol; /* of the step asked for last */
};
double place_step_s(void *self, const struct reduction_step *step, double held_bytes,
                    struct text *why);

/* One step of a best program as it is shown. */
struct place_step {
	struct reduction_step step; /* its groups are not kept */
	double held_bytes;
	const char *algorithm, *protocol; /* as struct lowered's */
	double time_s[CLOCKS_MAX];
};

struct place_row {
	const struct placed *placed;
	const char *program; /* as text */
	double allreduce_s[CLOCKS_MAX], best_s[CLOCKS_MAX];
	double bound_s; /* that no program of this placement is below (cost/bound.h) */
	struct place_step step[PROGRAM_STEPS_MAX];
};

struct place_result {
	const struct placement_case *c;
	const char *platform; /* as the user typed it, or what stands for none */
	const struct machine *machine;
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
                       const struct placed *placed, struct place_clock *clock,
                       struct error *e);

void place_text(struct text *out, const struct place_result *r, struct arena *a);
void place_json(struct text *out, const struct place_result *r);

/* A matrix as a list of rows. */
json_t *place_matrix_json(const struct matrix *m);

/* The device order of a matrix, as `--devices @FILE` reads it. */
void place_devices(struct text *out, const struct matrix *m, struct arena *a);

#endif
