/*
 * A sweep (sim/README.md, Sweeps) measures every scenario of its suites on every
 * platform with every planner and clock, in worker processes, and makes one row for
 * each.
 *
 * A worker loads one platform once and runs scenario after scenario on it. A replay in
 * SimGrid runs in a child of the worker, so that it starts from the same state
 * whichever rows came before it. So rows do not depend on `jobs`, on the order of the
 * work or on what was done before. A process that dies costs one row with status
 * `failed`; the rest of its scenario goes to another worker.
 *
 * A case is what one row is about: a scenario, a platform, a planner and a clock. The
 * cases of a scenario on a platform are its units, which are numbered planner by
 * planner, with the clock changing fastest.
 */
#ifndef SHARDSIM_SIM_SWEEP_SWEEP_H
#define SHARDSIM_SIM_SWEEP_SWEEP_H

#include "measure/library.h"
#include "measure/measure.h"
#include "store/store.h"
#include "suite/suite.h"
#include "system/digest.h"
#include "text/progress.h"

enum { SWEEP_UNITS_MAX = 64 };

/*
 * A machine that a suite asks for or, where it asks for a size, one of the machines that
 * its scenarios need: each is loaded once.
 */
struct sweep_platform {
	const struct suite_platform *asked;
	const char *name, *base; /* those of `asked`, of a size with its shape */
	int nset; /* its settings: of a size, those of the network where there is one */
	const char *const *set;
	int64_t least, most; /* it has the scenarios that need so many devices */
};

/* What is known of a machine before anything runs. */
struct sweep_known {
	const char *note;    /* what is assumed of it, or NULL */
	const char *unread;  /* library_unread() */
	const char *refusal; /* why a machine of a size cannot be made, or NULL */
	const char *caller;  /* who calls its collectives; "" where nobody does */
};

struct sweep {
	const struct suite *suite;
	struct library_text library; /* who calls, of all platforms; else library_of_plans()'s */
	/* Made by sweep_identify(), in the arena, from the platforms of the suite. */
	const struct sweep_platform *platform;
	int nplatforms;
	const struct planner *const *planner;
	int nplanners;
	const int *clock; /* indices into clock_kinds */
	int nclocks;
	int jobs;             /* how many worker processes, >= 1 */
	double timeout_s;     /* the limit of one case; 0 for none */
	int64_t worker_bytes; /* most resident memory of a process; 0: no limit */
	double progress_s;    /* between two lines of progress; 0 for one per row */
	struct progress *progress; /* NULL where it is not shown */
	/* sweep_identify() makes these, in the arena: [suite->n], [nplatforms]. */
	const struct digest *scenario_digest, *platform_digest;
	const struct sweep_known *known; /* [nplatforms] */
};

/* --- cases -------------------------------------------------------------------------- */

/*
 * Finds the machines of all scenarios and reads them, so that a bad one is found before
 * anything runs, and makes the digests of what cases are made of. What is wrong with one
 * machine of a size, but not with the largest of its family, is no error: its cases are
 * not-applicable. It is an E_RANGE if there are more than
 * SWEEP_UNITS_MAX units. Errors of platforms are at their place in the suite, or at
 * --platform.
 */
enum status sweep_identify(struct sweep *s, struct arena *a, struct error *e);

/* Returns how many units a scenario has on a platform. */
int sweep_units(const struct sweep *s);

/*
 * sweep_machines() finds the machines of all scenarios, and sweep_platform_digest() reads
 * one as a platform and makes the digest of its names, its file and its caller, or of why
 * there is none (machines.c). sweep_launch() sets who calls, on a machine of the sweep.
 */
enum status sweep_machines(struct sweep *s, struct arena *a, struct error *e);
enum status sweep_platform_digest(struct digest *d, struct sweep_known *known,
                                  const struct sweep *s, const struct sweep_platform *p,
                                  struct arena *notes, struct error *e);
enum status sweep_launch(struct machine *m, const struct sweep *s, struct error *e);

/* Returns the number in the suite of the platform that this one was asked for as. */
int sweep_asked(const struct sweep *s, int platform);

/* Returns a digest of the machines that a platform of the suite has here. */
struct digest sweep_asked_digest(const struct sweep *s,
                                 const struct suite_platform *asked);

/* Returns whether the scenario is to run on the platform. */
bool sweep_has(const struct sweep *s, int platform, int32_t scenario);

/* Return the number of all cases, and of those on one platform. */
int64_t sweep_cases(const struct sweep *s);
int64_t sweep_platform_cases(const struct sweep *s, int platform);

/*
 * Returns the key of a case: a digest of the scenario's texts, the platform's name and
 * file, the planner, the clock and the program (system/version.h). Cases with equal
 * keys have equal rows, except for planning times.
 */
struct digest sweep_key(const struct sweep *s, int platform, int32_t scenario, int unit);

/*
 * Return a digest of the set of all cases, which does not depend on the order of suites
 * and options. sweep_cases_digest() is about what is measured, sweep_digest() about
 * that and the program.
 */
struct digest sweep_cases_digest(const struct sweep *s);
struct digest sweep_digest(const struct sweep *s);

/*
 * Returns the row of one case in which nothing is measured yet; texts are borrowed or
 * the arena's.
 */
struct row sweep_row(const struct sweep *s, int platform, int32_t scenario, int unit,
                     struct arena *a);

/* --- work --------------------------------------------------------------------------- */

/*
 * Units of a scenario on a platform, with a bit for each, and a cost that grows with
 * the time they take.
 */
struct sweep_work {
	int32_t scenario, platform;
	uint64_t units;
	double cost;
};

/*
 * Returns the cases of shard number `shard` of `nshards` that are not `done`, by
 * falling cost, and stores their number in *n; the list is the arena's. Shard 0 of 1
 * has all cases. Shards are dealt like cards from all cases by falling cost, whatever
 * is done, so that every case is in one shard.
 */
struct sweep_work *sweep_work(int64_t *n, const struct sweep *s,
                              const struct digests *done, int shard, int nshards,
                              struct arena *a);

/* --- running ------------------------------------------------------------------------ */

/* How many rows came out with each outcome. */
struct sweep_counts {
	int64_t rows, outcome[OUTCOMES];
	int signal; /* the signal that ended the sweep early, 0 if none did */
};

/* Counts one more row of that outcome. */
void sweep_count(struct sweep_counts *c, enum outcome o);

/* What goes with a row: the key of its case, and the row_sum() of both. */
struct sweep_mark {
	struct digest key;
	int64_t sum;
};

/*
 * Where rows go. `put` also gets what the row's process left on stderr, or NULL; no row
 * is lost after `commit`.
 */
struct sweep_sink {
	enum status (*put)(void *self, const struct row *r, struct sweep_mark mark,
	                   const char *log, struct error *e);
	enum status (*commit)(void *self, struct error *e);
	void *self;
};

/* Returns the mark of a row of that case. */
struct sweep_mark sweep_mark(const struct sweep *s, int platform, int32_t scenario,
                             int unit, const struct row *r);

/* Returns the sink that puts rows into a store. */
struct sweep_sink sweep_store(struct store *s);

/*
 * Does the work, and adds its rows to `counts`. On SIGINT, SIGTERM and SIGHUP it stops,
 * keeps what is finished and stores the signal in counts->signal. It is an E_IO if the
 * sink or a system call fails; rows with status `failed` are no error.
 */
enum status sweep_run(struct sweep_counts *counts, const struct sweep *s,
                      const struct sweep_work *work, int64_t n,
                      const struct sweep_sink *sink, struct error *e);

/* --- shared with worker.c ------------------------------------------------ */

/* An order to a worker to run these units of a scenario, the lowest first. */
struct sweep_order {
	int32_t scenario;
	uint64_t units;
};

/*
 * Stands before each row of a worker. `said` is how many bytes the worker had left on
 * stderr by then: what follows them is about its next unit, and may be there before the
 * row is read. The worker makes the mark, so that the parent, of which there is only one,
 * need not.
 */
struct sweep_news {
	uint64_t said, length; /* `length` bytes of row_pack() follow */
	struct sweep_mark mark;
};

/*
 * Is a worker, which reads orders from `in` and writes rows to `out`; what it leaves on
 * stderr is evidence when it dies. It writes a row of length 0 when it has loaded the
 * platform and when it has started SimGrid.
 */
_Noreturn void worker_run(const struct sweep *s, int platform, int in, int out);

#endif
