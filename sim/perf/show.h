/* The table of `perf`, with measurements beside it where there are some. */
#ifndef SHARDSIM_SIM_PERF_SHOW_H
#define SHARDSIM_SIM_PERF_SHOW_H

#include "perf/perf.h"

struct perf_table {
	const char *platform, *collective, *clock;
	const struct machine *machine;
	int32_t devices, ngroups;
	int n;
	const struct perf_row *row;
	const double *measured_s; /* [n], NaN where there is none; NULL: no column */
};

/*
 * Append the table as nccl-tests prints it, as CSV, or as JSON (sim/README.md, JSON).
 */
void perf_show_text(struct text *out, const struct perf_table *t);
void perf_show_csv(struct text *out, const struct perf_table *t);
void perf_show_json(struct text *out, const struct perf_table *t);

#endif
