/*
 * Placements of one case, timed and shown as `shardsim place` prints them.
 *
 * Placements are searched with the clock `model`. Other clocks then time the all-reduce
 * and the best program of every matrix shown.
 */
#ifndef SHARDSIM_SIM_PLACE_PLACE_H
#define SHARDSIM_SIM_PLACE_PLACE_H

#include "measure/links.h"
#include "placement/memo.h"
#include "platform/platform.h"

#include <jansson.h>

/*
 * The clock `model` of a bench, which is borrowed, as a reduction_clock for searches.
 * It remembers what it has priced (placement/memo.h).
 */
struct place_model;

struct place_model *place_model_new(const struct bench *b);
void place_model_free(struct place_model *m);
struct reduction_clock place_model_clock(struct place_model *m);

/*
 * Returns the seconds of a reduction of `payload_bytes` on every device by clock number
 * `clock` of a bench, as bench_seconds() gives them; on an error it returns < 0 with
 * E_INFEASIBLE at `at`. Where the clock refuses a case of that size, it returns NaN and
 * puts the reason into `refusal`, unless there is one already; if `refusal` is NULL,
 * that is an error like others.
 */
double place_seconds(struct step_time *times, const struct bench *b, int clock,
                     const struct reduction *r, double payload_bytes,
                     struct text *refusal, struct where at, struct error *e);

/* One step of a best program as it is shown. */
struct place_step {
	enum op op;
	int32_t ngroups, size; /* how many groups, and how many devices in each */
	double held_bytes;     /* what each member with data holds before it */
};

struct place_row {
	const struct placed *placed;
	const char *program;                                /* the best one, as text */
	double allreduce_s[CLOCKS_MAX], best_s[CLOCKS_MAX]; /* NaN where refused */
	const char *message; /* why the first clock without a time has none, else "" */
	double bound_s; /* no program of this placement is faster (bound/bound.h) */
	struct place_step step[PROGRAM_STEPS_MAX];
	struct step_time time[CLOCKS_MAX][PROGRAM_STEPS_MAX];
};

struct place_result {
	const struct placement_case *c;
	const char *platform; /* as the user typed it, or a name where there is none */
	const struct machine *machine;
	const char *position; /* the slice that the hierarchy is on; NULL: the first devices */
	int nclocks;
	const char *clock[CLOCKS_MAX];
	int64_t nmatrices, nrows; /* of all matrices `nrows` are shown */
	const struct place_row *row;
	double planning_s;                /* NaN where it is not shown */
	const struct links_report *links; /* of the first row; NULL if not shown */
};

/*
 * Makes rows of the first `nrows` of `placed` and times them by every clock of the
 * bench. It is an E_INFEASIBLE if a clock fails, or if the platform cannot run the
 * steps.
 */
enum status place_rows(struct place_result *out, struct arena *a,
                       const struct placed *placed, const struct bench *b,
                       struct error *e);

/*
 * Returns the best program of a placement for time lines and links, with the times of
 * `row` unless that is NULL. Everything is the arena's.
 */
struct timed place_timed(const struct placed *p, const struct place_row *row,
                         const struct placement_case *c, const struct bench *b,
                         struct arena *a);

void place_text(struct text *out, const struct place_result *r, const struct bench *b,
                struct arena *a);
void place_json(struct text *out, const struct place_result *r, const struct bench *b);

/* Returns an object of the times by each clock, null for NaN. */
json_t *place_times_json(const char *const *clock, int nclocks, const double *time_s);

/*
 * Return a matrix as a list of rows, and levels and axes as lists of [name or null,
 * size].
 */
json_t *place_matrix_json(const struct matrix *m);
json_t *place_levels_json(const struct hierarchy *h);
json_t *place_axes_json(const struct mesh *axes);

/* Returns the platform devices of a hierarchy in order, null for the first ones. */
json_t *place_seat_json(const struct hierarchy *h);

/*
 * Appends the device order of a matrix of a hierarchy in the form that `--devices @FILE`
 * reads.
 */
void place_devices(struct text *out, const struct matrix *m, const struct hierarchy *h,
                   struct arena *a);

#endif
