/*
 * One collective at one size, as a row of nccl-tests' table, for `perf`, `validate` and
 * `fit`.
 *
 * Bytes are what nccl-tests calls "size": those of an all-gather's output, of a
 * reduce-scatter's input, of the buffer of an all-reduce, a broadcast or a reduce, and
 * of the send buffer of an all-to-all or a permute. They are counted per group.
 */
#ifndef SHARDSIM_SIM_PERF_PERF_H
#define SHARDSIM_SIM_PERF_PERF_H

#include "array/machine.h"
#include "base/error.h"
#include "cost/model.h"
#include "measure/likely.h"
#include "plan/plan.h"

/* A collective and the groups of platform devices that run it at once. */
struct perf {
	const struct machine *machine; /* borrowed */
	const char *collective;        /* "all-reduce"; "permute" is a shift by one */
	enum op op;
	struct groups groups; /* borrowed */
	bool by_round; /* the clock's seconds are the sum of those of each round alone */
};

struct perf_row {
	int64_t bytes, count; /* `count` elements of 4 bytes, as nccl-tests prints */
	double time_s, algbw_Bps, busbw_Bps;
	const char *algorithm, *protocol; /* protocol NULL where there is none */
	double bound_s;         /* no algorithm is faster; the launch is not in it */
	struct likely likely_s; /* between which the time is; NaN: not known */
	/*
	 * Why there is no time of this size, or NULL; time and bandwidths are NaN then. The clock
	 * refuses it, or nothing is left to move: a launch alone is no time of a collective.
	 */
	const char *refusal;
};

/* Stores between which a measured row's time is. */
void perf_likely(struct perf_row *row, const struct perf *p,
                 const struct likely_table *t);

/*
 * Stores the op of a collective of that name. If there is none, it returns false, with
 * an error that lists the known names.
 */
bool perf_op(enum op *out, const char *name, struct where at, struct error *e);

/*
 * Returns of what the sizes are multiples that nccl-tests runs: of 16 bytes for each device for
 * all-gather, reduce-scatter and all-to-all, for others of an element's 4 bytes.
 */
enum { PERF_ELEMENT_BYTES = 4 };
int64_t perf_unit_bytes(const char *collective, int32_t devices);

/* Returns the size that it runs when it is asked for `bytes`, which is rounded down. */
int64_t perf_bytes(const char *collective, int32_t devices, int64_t bytes);

/*
 * Returns whether a timing of that size can be one of the collective: an all-to-all that has
 * less than a byte for each device sends none to some, whatever ran.
 */
bool perf_sends(const char *collective, int32_t devices, int64_t bytes);

/*
 * Returns the bus bandwidth over the algorithm bandwidth bytes / time, as nccl-tests
 * has it (doc/PERFORMANCE.md there): 2(n-1)/n for an all-reduce, (n-1)/n for
 * all-gather, reduce-scatter and all-to-all, else 1.
 */
double perf_bus_factor(const char *collective, int32_t devices);

/*
 * Measures the collective at that size by a clock. Strings are borrowed from the
 * library, other memory is taken from `a`. It returns false, with the reason in `why`,
 * if there is no way between two devices, if a forced algorithm does not apply, or if
 * the clock fails. Where the clock refuses the size the row has the reason and no time.
 */
bool perf_measure(struct perf_row *out, const struct perf *p, int64_t bytes,
                  clock_fn *clock, void *self, struct arena *a, struct text *why);

/*
 * Makes the collective at that size the problem of moving an array between two layouts, on
 * the devices of the groups. False if there is no such array.
 */
bool perf_problem(struct problem *out, const struct perf *p, int64_t bytes,
                  struct arena *a);

/*
 * What perf_time() measures: a row without bound and bandwidths, for fits. Where the clock
 * refuses there is a reason in place of the time, which is NaN then.
 */
struct perf_run {
	double time_s;
	const char *algorithm, *protocol;
	const char *refusal; /* or NULL */
};

bool perf_time(struct perf_run *out, const struct perf *p, int64_t bytes,
               clock_fn *clock, void *self, struct arena *a, struct text *why);

#endif
