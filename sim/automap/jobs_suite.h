/*
 * Suites of jobs that arrive at a machine (automap/jobs/jobs.h, scenarios/README.md, "Jobs"): how
 * many are blocked, by load, by requirement and by the policy that chooses their degrees,
 * each simulated in SimGrid (clock/jobs.h). How long a step takes on so many devices is what
 * the search over meshes, places and shardings finds (automap/run.h).
 */
#ifndef SHARDSIM_SIM_AUTOMAP_JOBS_SUITE_H
#define SHARDSIM_SIM_AUTOMAP_JOBS_SUITE_H

#include "automap/jobs/jobs.h"
#include "automap/load.h"

#include <stdio.h>

/* One kind as it is read; texts are the arena's. */
struct jobs_file_kind {
	const char *file;
	struct where file_at;
	struct automap_train train;
};

struct jobs_requirement {
	const char *name;
	int n;
	const double *accept;
};

struct jobs_suite {
	const char *platform;
	struct where platform_at;
	int32_t count, seed, ndevices;
	int nkinds, nrequirements, nloads;
	struct job_kind *kind;
	struct jobs_file_kind *file; /* [nkinds] */
	struct jobs_requirement *requirement;
	const double *load; /* shares of the machine that jobs on one device would take */
};

/* A policy under a load and a requirement. */
struct jobs_row {
	const struct jobs_requirement *requirement;
	double load;
	enum job_policy policy;
	int64_t done, blocked[JOB_REASONS]; /* by -1 - reason */
	double devices, share; /* sums over jobs that are done: devices; time / alone */
};

struct jobs_rows {
	LIST(struct jobs_row) list;
};

/* Returns whether the file is such a suite: YAML that begins with the key `jobs`. */
bool jobs_suite_is(const char *path);

/* Reads a suite; errors have their place. */
enum status jobs_suite_read(struct jobs_suite *out, struct arena *a, const char *path,
                            struct error *e);

/* Searches the steps of all kinds on 1, 2, 4, ... devices, and runs all rows. */
enum status jobs_suite_run(struct jobs_rows *out, struct arena *a, struct jobs_suite *s,
                           struct error *e);

/* Writes tables as Markdown, or all rows as CSV. */
void jobs_suite_write(FILE *out, struct arena *a, const struct jobs_suite *s,
                      const struct jobs_rows *rows, bool csv);

#endif
