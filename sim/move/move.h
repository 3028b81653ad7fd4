/*
 * A workload moved on a machine: every kind of array planned once, arrays with equal layouts
 * put in batches, calls put in order and into waves, and the waves timed.
 *
 * The steps of a wave go together: its step i is step i of every plan in it, whose messages
 * share the links, and the next begins when all have ended. Calls are launched one after
 * another on the devices that they share, arrays of a batch at once; local work adds up on
 * each device. A wave of one array is that array's plan alone, so that one by one the total
 * is the sum of the single times.
 */
#ifndef SHARDSIM_SIM_MOVE_MOVE_H
#define SHARDSIM_SIM_MOVE_MOVE_H

#include "facts/host.h"
#include "measure/measure.h"
#include "move/order.h"
#include "move/work.h"

/* Arrays alike, planned, and timed as if each were moved alone. */
struct moved_array {
	const struct move_array *array;
	struct problem problem;
	struct placement place;
	struct measurement m;
	int64_t bytes;          /* of one array */
	struct order_call held; /* without sites */
	const uint8_t *on;      /* [ndevices] of the machine: what a device has of it */
};

/* Arrays that are one call: one, or a batch of equal layouts. */
struct moved_call {
	int32_t nruns;
	const struct move_run *run;
};

/* A wave that was timed. */
struct moved_wave {
	double time_s[CLOCKS_MAX];
	int nsteps;
	struct step_time *step[CLOCKS_MAX]; /* [nsteps] */
};

struct move_result {
	const char *planner;
	enum outcome status; /* the worst */
	const char *message;
	struct moved_array *array; /* [work->array.n] */
	int32_t ncalls;
	struct moved_call *call; /* kinds of calls */
	int64_t calls;           /* how many there are in all */
	const char *order;       /* which order was taken */
	struct order_waves waves;
	struct moved_wave *wave;   /* [waves.wave.n] */
	int64_t nwaves;            /* with repeats */
	double time_s[CLOCKS_MAX]; /* NaN where a clock has none */
	const char *clock_message[CLOCKS_MAX];
	double planning_s;
	/* What hosts add (facts/host.h), if that was asked for; else NULL. */
	const struct host_time *host;
};

/*
 * What the hosts of a library that sends whole parameters add, each for the busiest device:
 * its calls, one for each communicating step of a call; the copies of what it sends into a
 * buffer, and of what it receives out of one; and that every array is gathered on its source
 * mesh first, planned by `best` and timed by the clock `model`.
 */
struct host_time {
	const struct host_costs *costs;
	int64_t calls;
	double call_s, pack_s, gather_s; /* NaN: an array cannot be gathered */
};

/* How a workload is moved; the command line's word counts before the file's. */
struct move_how {
	int64_t concurrent;  /* >= 1 */
	int64_t batch_bytes; /* 0: no batches */
	bool free_source;
	bool given_order;
	double limit_bytes;            /* of all that a device holds; <= 0: none */
	const char *limit_what;        /* "the limit is", "the device has" */
	const struct host_costs *host; /* NULL: not asked for */
};

/*
 * Plans and times a workload; everything is the arena's. Problems that make no sense are
 * errors at their places; what no planner can do, or does not fit, is the result's status.
 */
enum status move_run(struct move_result *out, const struct move_work *w,
                     const struct move_how *how, const struct planner *planner,
                     struct bench *b, struct arena *a, struct error *e);

/* --- parts of it ---------------------------------------------------------------------- */

/* Adds what hosts take to a result that is ok. */
enum status move_host(struct move_result *out, const struct move_work *w,
                      const struct order_case *order, const struct host_costs *costs,
                      struct bench *b, struct arena *a, struct error *e);

/*
 * Finds how long it takes to gather every array on its source mesh, one after another; NaN
 * where one cannot be.
 */
enum status move_gather(double *out, const struct move_work *w, struct bench *b,
                        struct arena *a, struct error *e);

/* The calls as runs in the order of the file, [*nruns]. */
void move_calls(struct move_result *out, struct order_run **run, int64_t *nruns,
                const struct move_work *w, const struct move_how *how, struct arena *a);

/* What is needed to lower waves. */
struct wave_case {
	const struct move_result *result;
	const struct order_case *order;
	const struct machine *machine;
	const struct order_waves *waves;
};

/*
 * Times one wave by clock number `clock` of the bench, as measure_time() does for a plan;
 * < 0 with the reason in `message`. Times of steps are stored in wave->step.
 */
double wave_time(struct moved_wave *wave, const struct wave_case *c, int64_t number,
                 const struct bench *b, int clock, struct arena *a, char *message,
                 size_t size);

#endif
