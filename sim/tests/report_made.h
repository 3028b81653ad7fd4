/*
 * A small sweep made by hand, its report in Markdown computed by hand, and functions
 * that all tests of reports need.
 */
#ifndef SHARDSIM_SIM_TESTS_REPORT_MADE_H
#define SHARDSIM_SIM_TESTS_REPORT_MADE_H

#include "report/report.h"

/* One hand-made row: what a report looks at. */
struct made {
	const char *scenario, *family, *platform, *planner, *clock;
	enum outcome status;
	const char *message;
	double time_s;
	int64_t peak_live_bytes;
	bool full_remat;
	double planning_s;
	double bound_s; /* 0 if unknown */
};

/*
 * The sweep, of planners xla-2021, synth and gather on clock model, with one row on
 * fluid; and the report of clock model alone.
 */
enum { MIXED = 28 };
extern const struct made mixed[MIXED];
extern const char mixed_md[];

struct row *made_rows(struct arena *a, const struct made *made, size_t n);

/*
 * Returns the report, with all details or as the options say, as a string of the arena;
 * fails the test unless it is written.
 */
char *made_report(struct arena *a, const struct row *rows, size_t n,
                  struct report_options o);

char *made_summary(struct arena *a, const struct row *rows, size_t n,
                   struct report_options o);

/* Fails the test with the first line that differs. */
void made_same(const char *got, const char *expected);

#endif
