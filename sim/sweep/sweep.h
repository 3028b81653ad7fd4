/*
 * A sweep (sim/README.md, Sweeps): every scenario of a suite on every platform with every planner and clock, one
 * row each, in worker processes.
 *
 * A worker loads one platform once and runs scenario after scenario on it; a replay in
 * SimGrid runs in a child of the worker, so that it starts from the same state whichever
 * rows came before it: rows do not depend on `jobs`, on the order of the work or on what
 * was done before. A process that dies costs one row with status `failed`; the rest of
 * its scenario goes to another worker.
 *
 * A case is one row to be: (scenario, platform, planner, clock). The cases of a scenario on
 * a platform are its units, numbered planner by planner, clock last.
 */
#ifndef SHARDSIM_SIM_SWEEP_SWEEP_H
#define SHARDSIM_SIM_SWEEP_SWEEP_H

#include "measure/measure.h"
#include "store/store.h"
#include "suite/suite.h"
#include "sweep/progress.h"
#include "system/digest.h"

enum { SWEEP_UNITS_MAX = 64 };

struct sweep {
	const struct suite *suite;
	const struct suite_platform *platform;
	int nplatforms;
	const struct planner *const *planner;
	int nplanners;
	const int *clock; /* indices into clock_kinds */
	int nclocks;
	int jobs;                  /* worker processes, >= 1 */
	double timeout_s;          /* of one case; 0: none */
	int64_t worker_bytes;      /* resident memory of one process; 0: no limit */
	double progress_s;         /* between two lines of progress; 0: as it comes */
	struct progress *progress; /* NULL: none */
	/* By sweep_identify(), the arena's: [suite->n], [nplatforms]. */
	const struct digest *scenario_digest, *platform_digest;
};

/* --- cases -------------------------------------------------------------------------- */

/*
 * Reads all platforms, so that a bad one is found before anything runs, and makes the
 * digests of what cases are made of. E_RANGE: more than SWEEP_UNITS_MAX units; errors of
 * platforms at their place in the suite, or as --platform.
 */
enum status sweep_identify(struct sweep *s, struct arena *a, struct error *e);

/* Returns how many units a scenario has on a platform. */
int sweep_units(const struct sweep *s);

/* Returns whether the scenario is to run on the platform. */
bool sweep_has(const struct sweep *s, int platform, int32_t scenario);

/* Return the number of all cases, and of those on one platform. */
int64_t sweep_cases(const struct sweep *s);
int64_t sweep_platform_cases(const struct sweep *s, int platform);

/*
 * Returns a case's key: a digest of the scenario's texts, the platform's name and file, planner,
 * clock and the program (system/version.h). Equal keys have equal rows, planning times aside.
 */
struct digest sweep_key(const struct sweep *s, int platform, int32_t scenario, int unit);

/*
 * Return a digest of the set of all cases, in whatever order suites and options name them:
 * sweep_cases_digest() of what is measured, sweep_digest() of that and the program.
 */
struct digest sweep_cases_digest(const struct sweep *s);
struct digest sweep_digest(const struct sweep *s);

/*
 * Returns the row of one case, with nothing measured; texts are borrowed or the
 * arena's.
 */
struct row sweep_row(const struct sweep *s, int platform, int32_t scenario, int unit,
                     struct arena *a);

/* --- work --------------------------------------------------------------------------- */

/*
 * Units of a scenario on a platform, a bit each, and a number that grows with their
 * time.
 */
struct sweep_work {
	int32_t scenario, platform;
	uint64_t units;
	double cost;
};

/*
 * Returns the cases that are not `done`, by falling cost, of shard `shard` of `nshards`
 * (0 of 1: all). Shards are dealt like cards from all cases by falling cost, whatever is
 * done, so that every case is in one shard. The arena's.
 */
struct sweep_work *sweep_work(int64_t *n, const struct sweep *s,
                              const struct digests *done, int shard, int nshards,
                              struct arena *a);

/* --- running ------------------------------------------------------------------------ */

/* How many rows came out with each outcome. */
struct sweep_counts {
	int64_t rows, outcome[OUTCOMES];
	int signal; /* that ended the sweep early, 0 if none did */
};

/* Counts one more row of that outcome. */
void sweep_count(struct sweep_counts *c, enum outcome o);

/* Where rows go. `put` gets what the row's process left on stderr, NULL if nothing. */
struct sweep_sink {
	enum status (*put)(void *self, const struct row *r, struct digest key,
	                   const char *log, struct error *e);
	enum status (*commit)(void *self,
	                      struct error *e); /* no row gets lost after it */
	void *self;
};

/* Returns the sink that puts rows into a store. */
struct sweep_sink sweep_store(struct store *s);

/*
 * Does the work, and counts its rows on top of `counts`. On SIGINT, SIGTERM and SIGHUP it
 * stops, keeps what is finished and says so in counts->signal. E_IO when the sink or a
 * system call fails; rows that are `failed` are no error.
 */
enum status sweep_run(struct sweep_counts *counts, const struct sweep *s,
                      const struct sweep_work *work, int64_t n,
                      const struct sweep_sink *sink, struct error *e);

/* --- shared with worker.c ------------------------------------------------ */

/* What a worker is told: run these units of a scenario, lowest first. */
struct sweep_order {
	int32_t scenario;
	uint64_t units;
};

/*
 * Lives as a worker, which reads orders from `in` and writes rows to `out`; what it leaves
 * on stderr is evidence when it dies. Before its first row, when it has loaded the
 * platform and when it has started SimGrid, it says so by a row of length 0.
 */
_Noreturn void worker_run(const struct sweep *s, int platform, int in, int out);

#endif
