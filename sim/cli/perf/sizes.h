/* The sizes of a table of times: a range, or those that were measured. */
#ifndef SHARDSIM_SIM_CLI_PERF_SIZES_H
#define SHARDSIM_SIM_CLI_PERF_SIZES_H

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

/* What the user says of them; NULL: nothing. */
struct perf_sizes_text {
	const char *collective; /* never NULL */
	const char *begin, *end, *factor, *step;
	const char *measured, *system; /* a file, and which of its systems */
};

struct perf_sizes {
	int n;
	int64_t *bytes;
	/* Of measured ones, else NULL: their seconds, and how the first run was launched, "": as usual. */
	double *measured_s;
	const char *launch;
};

/* Lists sizes from -b to -e, by a factor or a step; those rounded alike only once. */
enum status perf_sizes_range(struct perf_sizes *out, struct arena *a,
                             const struct perf_sizes_text *o, const struct groups *g,
                             struct error *e);

/*
 * Lists the sizes of the file between -b and -e, of one machine; out of place where both were
 * measured.
 */
enum status perf_sizes_measured(struct perf_sizes *out, struct arena *a,
                                const struct perf_sizes_text *o, const struct groups *g,
                                struct error *e);

#endif
