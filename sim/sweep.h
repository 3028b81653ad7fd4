/*
 * A sweep: every scenario of a suite on every platform with every planner and clock, one
 * row each, in worker processes.
 *
 * A worker loads one platform once and runs scenario after scenario on it; a replay in
 * SimGrid runs in a child of the worker, so that it starts from the same state whichever
 * rows came before it: rows do not depend on `jobs` or on the order of the work. A
 * process that dies costs one row with status `failed`; the rest of its scenario goes to
 * another worker.
 */
#ifndef SHARDSIM_SIM_SWEEP_H
#define SHARDSIM_SIM_SWEEP_H

#include "measure.h"
#include "store.h"
#include "suite.h"

struct sweep {
	const struct suite *suite;
	const char *const *platform; /* as --platform has them */
	int nplatforms;
	const struct planner *const *planner;
	int nplanners;
	const int *clock; /* indices into clock_kinds */
	int nclocks;
	int jobs;      /* worker processes, >= 1 */
	bool progress; /* a line on stderr */
};

/* How many rows came out with each outcome. */
struct sweep_counts {
	int64_t rows, outcome[OUTCOMES];
};

/*
 * Run it, adding rows to the store as they come. E_IO when the store or a system call
 * fails; rows that are `failed` are no error.
 */
enum status sweep_run(struct sweep_counts *counts, const struct sweep *s,
                      struct store *store, struct error *e);

/* --- shared by sweep.c and worker.c ------------------------------------------------- */

/* The rows of one scenario on one platform are numbered planner by planner, clock last. */
int sweep_units(const struct sweep *s);

/* What a worker is told: run `scenario` from row number `first` on; scenario -1: end. */
struct sweep_order {
	int32_t scenario, first;
};

/* The row of one unit with nothing measured yet; texts are borrowed. */
struct row sweep_row(const struct sweep *s, int platform, int32_t scenario, int unit);

/* A row as bytes behind their length, for a pipe; and back (texts in the arena). */
void row_pack(struct text *out, const struct row *r);
bool row_unpack(struct row *out, const char *bytes, size_t n, struct arena *a);

/*
 * The life of a worker: orders from `in`, rows to `out`, messages that it leaves on
 * stderr are evidence when it dies. Never returns.
 */
_Noreturn void worker_run(const struct sweep *s, int platform, int in, int out);

#endif
