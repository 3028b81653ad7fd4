/*
 * Jobs that arrive at a machine and how many devices each gets (PAC-ML, arXiv 2301.13799).
 *
 * A job trains one program for a number of steps. It may run on 1, 2, 4, ... devices, its
 * degree, and takes there as long as the step that was found for so many devices. It asks to
 * be done within a share of what it takes on the fewest devices that it fits on (its
 * requirement). On arrival a policy says its degree; it gets a block of so many neighbouring
 * devices at a multiple of that number, the first that is free, until it is done. There is no
 * queue: a job is blocked where no degree has a free block, and where the degree that was
 * chosen does not meet the requirement. Policies choose among degrees with a free block.
 *
 *   random      any of them
 *   min, max    the fewest devices, the most
 *   acceptable  the fewest that would meet the requirement if n devices took 1 / n of the
 *               time, else the most (the paper's baseline)
 *   simulated   the fewest whose step meets the requirement, else it is blocked
 *   look-ahead  of those that meet it, and of none, that after which the fewest jobs are
 *               blocked in futures drawn from the same arrivals, in which `simulated` decides
 *               (a rollout: Bertsekas, Tsitsiklis and Wu, Journal of Heuristics 3, 1997)
 */
#ifndef SHARDSIM_AUTOMAP_JOBS_H
#define SHARDSIM_AUTOMAP_JOBS_H

#include "base/arena.h"
#include "base/rng.h"

#include <stdbool.h>

enum { JOB_DEGREES = 11, JOB_DEVICES_MAX = 1 << (JOB_DEGREES - 1) };

struct job_kind {
	const char *name;
	int64_t steps;
	double step_s[JOB_DEGREES]; /* of degree 2^i; 0: it does not fit into the memory */
};

/* What jobs are drawn from: kinds and requirements alike, arrivals as a Poisson process. */
struct job_mix {
	int nkinds, naccepts;
	const struct job_kind *kind;
	const double *accept; /* shares of the time on the fewest devices */
	double gap_s;         /* mean time between arrivals */
};

struct job {
	int kind;
	double at_s, accept;
};

enum job_policy {
	JOBS_RANDOM,
	JOBS_MIN,
	JOBS_MAX,
	JOBS_ACCEPTABLE,
	JOBS_SIMULATED,
	JOBS_AHEAD,
	JOB_POLICIES
};

extern const char *const job_policy_name[JOB_POLICIES];

/*
 * Why a job is blocked: no block is free, no free one meets the requirement (or the chosen one
 * does not), or the look-ahead keeps the devices for others.
 */
enum { JOB_FULL = -1, JOB_SLOW = -2, JOB_DECLINED = -3, JOB_REASONS = 3 };

struct job_running {
	double end_s;
	int32_t first;
	int degree; /* log2 */
};

struct job_devices {
	int32_t n; /* at most JOB_DEVICES_MAX */
	bool *busy;
	int32_t nrunning;
	struct job_running *running; /* [n] */
};

/* What a job was given. */
struct job_given {
	int degree; /* log2; < 0: it is blocked */
	int32_t first;
	double seconds; /* that it takes; 0: it is blocked */
};

/* A policy at work. */
struct job_desk {
	const struct job_mix *mix;
	enum job_policy policy;
	struct job_devices devices;
	struct rng *rng; /* of random choices and of futures */
	/* Private to jobs*.c. */
	struct job_devices scratch;
	struct job *future;
};

/* Draws n jobs, the first one gap after time 0; equal seeds give equal jobs. */
void jobs_draw(struct job *out, int64_t n, const struct job_mix *m, struct rng *rng);

/* Seconds on 2^degree devices, and on the fewest that it fits on, which jobs require shares of. */
double job_seconds(const struct job_kind *k, int degree);
double job_alone_s(const struct job_kind *k);

/* Opens a desk with all n devices free; all but `rng`, which is borrowed, is the arena's. */
void job_desk_open(struct job_desk *out, struct arena *a, const struct job_mix *m,
                   enum job_policy policy, int32_t n, struct rng *rng);

/* A job arrives: decides, and takes its devices. */
struct job_given job_arrives(struct job_desk *d, const struct job *j);

/* A job ends: frees its devices. */
void job_ends(struct job_desk *d, int32_t first);

/*
 * Lets n jobs pass over a desk, each ending when its seconds are over: what a simulator of
 * events does with job_arrives() and job_ends(), in short.
 */
void jobs_pass(struct job_given *out, struct job_desk *d, const struct job *j,
               int64_t n);

/* Private to jobs*.c. */
enum { JOBS_FUTURES = 64, JOBS_FUTURE = 32 }; /* futures, and arrivals in each */
int32_t job_block(const struct job_devices *d, int degree); /* -1: none is free */
void job_take(struct job_devices *d, double now_s, const struct job_given *g);
void job_end_running(struct job_devices *d, int32_t i);
void job_free_until(struct job_devices *d, double now_s);
bool job_meets(const struct job_mix *m, const struct job *j, int degree);
/* Degrees with a free block on which the job fits, the least first; returns how many. */
int job_degrees(int *out, const struct job_mix *m, const struct job_devices *d,
                const struct job *j);
/* The fewest devices with a free block that meet the requirement; -1: there are none. */
int job_fewest(const struct job_mix *m, const struct job_devices *d,
               const struct job *j, int32_t *first);
int job_simulated(const struct job_mix *m, const struct job_devices *d,
                  const struct job *j);
int job_ahead(struct job_desk *d, const struct job *j);

#endif
