/*
 * One collective at one size: the row of nccl-tests' table, for `perf`, `validate` and
 * `fit`.
 *
 * Bytes are those nccl-tests calls "size": V of an all-gather's output, a
 * reduce-scatter's input, an all-reduce's, broadcast's or reduce's buffer; S of an
 * all-to-all's and M of a permute's send buffer. Per group, not in all.
 */
#ifndef SHARDSIM_SIM_PERF_PERF_H
#define SHARDSIM_SIM_PERF_PERF_H

#include "array/machine.h"
#include "base/error.h"
#include "cost/model.h"
#include "plan/plan.h"

/* A collective and the groups of platform devices that run it at once. */
struct perf {
	const struct machine *machine; /* borrowed */
	const char *collective;        /* "all-reduce"; "permute" is a shift by one */
	enum op op;
	struct groups groups; /* borrowed */
};

struct perf_row {
	int64_t bytes, count; /* count: elements of 4 bytes, as nccl-tests prints */
	double time_s, algbw_Bps, busbw_Bps;
	const char *algorithm, *protocol; /* protocol NULL where there is none */
	double bound_s; /* no algorithm is faster; as in plans, without launch */
};

/*
 * Finds the op of a collective's name; false, with the known ones in `e`, without one.
 */
bool perf_op(enum op *out, const char *name, struct where at, struct error *e);

/*
 * Returns the size that nccl-tests runs where `bytes` is asked for: all-gather, reduce-scatter
 * and all-to-all use a whole number of 16 bytes per device, others of 4 bytes.
 */
int64_t perf_bytes(const char *collective, int32_t devices, int64_t bytes);

/*
 * Returns what nccl-tests multiplies the algorithm bandwidth bytes / time with
 * (doc/PERFORMANCE.md there): 2(n-1)/n for an all-reduce, (n-1)/n for all-gather,
 * reduce-scatter and all-to-all, else 1.
 */
double perf_bus_factor(const char *collective, int32_t devices);

/*
 * Measures the size by a clock; strings are borrowed from the library, other memory is
 * taken from `a`. False with the reason in `why`: no way between devices, an algorithm
 * forced that does not apply, a clock that refuses.
 */
bool perf_measure(struct perf_row *out, const struct perf *p, int64_t bytes,
                  clock_fn *clock, void *self, struct arena *a, struct text *why);

/* What perf_time() measures: a row without bound and bandwidths, for fits. */
struct perf_run {
	double time_s;
	const char *algorithm, *protocol;
};

bool perf_time(struct perf_run *out, const struct perf *p, int64_t bytes,
               clock_fn *clock, void *self, struct arena *a, struct text *why);

#endif
