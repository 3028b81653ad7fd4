/* Which rows a report is about. Private to sim/report. */
#ifndef SHARDSIM_SIM_REPORT_SELECT_H
#define SHARDSIM_SIM_REPORT_SELECT_H

#include "report/report.h"

/* Does the row's family match the pattern: a glob as in a shell, also `@(a|b*)`? */
bool report_family(const struct report_options *o, const struct row *r);

/* Is the row's scenario the one asked for by name or pattern? */
bool report_scenario(const struct report_options *o, const struct row *r);

/* Is the row of a clock and a family asked for? */
bool report_wanted(const struct report_options *o, const struct row *r);

/* Has the row a time, or even one above zero? */
bool report_timed(const struct row *r);
bool report_moves(const struct row *r);

#endif
